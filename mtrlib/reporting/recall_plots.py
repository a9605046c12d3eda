"""Figures of notebook 03: Recall@k by query view, by turn, and by slice of the turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mtrlib.reporting.plots import (
    DASHES,
    banded_line,
    house_style,
    legend_beside,
    percent_axis,
    reach,
    system_styles,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def recall_by_view(means: pd.DataFrame, k: int, confidence: float) -> tuple[Figure, pd.DataFrame]:
    """Recall@k per query view, one mark per retriever, one panel per benchmark (Figure 2b).

    Parameters
    ----------
    means : ``benchmark, view, system, value, ci_low, ci_high, n_queries`` (fractions).
    """
    from matplotlib import pyplot as plt

    house_style()
    benchmarks = list(dict.fromkeys(means["benchmark"]))
    views = list(dict.fromkeys(means["view"]))
    systems = list(dict.fromkeys(means["system"]))
    figure, panels = plt.subplots(
        1, len(benchmarks), figsize=(2.2 + 4.6 * len(benchmarks), 4), sharey=True, squeeze=False
    )
    for axes, benchmark in zip(panels[0], benchmarks, strict=True):
        part = means[means["benchmark"] == benchmark]
        _marks(axes, part.set_index("view"), views, systems, capsize=3)
        queries = int(part["n_queries"].max())
        axes.set_title(f"{benchmark} (n = {queries} queries)", fontsize=10)
        axes.set_xticks(range(len(views)), views)
        axes.set_xlabel("query view")
    percent_axis(panels[0][0], f"Recall@{k}")
    legend_beside(panels[0][-1], title="retriever")
    figure.suptitle(
        f"Bars: {confidence:.0%} intervals, conversations resampled", fontsize=9, y=0.99
    )
    return figure, means


def recall_by_turn(
    means: pd.DataFrame, k: int, confidence: float, *, fewest: int = 10
) -> tuple[Figure, pd.DataFrame]:
    """Recall@k per turn number, one line per retriever, one panel per query view.

    Turns with fewer than ``fewest`` queries are left out of figure and points.
    """
    from matplotlib import pyplot as plt

    house_style()
    shown = means[means["n_queries"] >= fewest]
    if shown.empty:
        shown = means
    views = list(dict.fromkeys(shown["view"]))
    systems = list(dict.fromkeys(shown["system"]))
    figure, panels = plt.subplots(
        1, len(views), figsize=(2.2 + 3.6 * len(views), 3.8), sharey=True, squeeze=False
    )
    for axes, view in zip(panels[0], views, strict=True):
        for i, (system, style) in enumerate(system_styles(systems).items()):
            line = shown[(shown["view"] == view) & (shown["system"] == system)]
            dashes = DASHES[i % len(DASHES)]
            banded_line(axes, line.sort_values("turn_number"), dashes, system, **style)
        axes.set_title(view, fontsize=10)
        axes.set_xlabel("turn number")
        axes.set_xticks(sorted(set(shown["turn_number"])))
    percent_axis(panels[0][0], f"Recall@{k}")
    legend_beside(panels[0][-1], title="retriever")
    counts = shown["n_queries"]
    note = (
        f"n = {counts.min()} to {counts.max()} queries per turn, bands: {confidence:.0%} intervals"
    )
    figure.suptitle(note, fontsize=9, y=1.0)
    return figure, shown


def recall_by_slice(means: pd.DataFrame, k: int, confidence: float) -> tuple[Figure, pd.DataFrame]:
    """Recall@k per slice of the turns, one mark per retriever, one panel per query view.

    Parameters
    ----------
    means : ``view, system, slice, value, ci_low, ci_high, n_queries`` of one benchmark.
    """
    from matplotlib import pyplot as plt

    house_style()
    views = list(dict.fromkeys(means["view"]))
    slices = list(dict.fromkeys(means["slice"]))
    systems = list(dict.fromkeys(means["system"]))
    sizes = means.groupby("slice")["n_queries"].max()
    figure, panels = plt.subplots(
        1, len(views), figsize=(2.2 + 4.4 * len(views), 4.4), sharey=True, squeeze=False
    )
    for axes, view in zip(panels[0], views, strict=True):
        part = means[means["view"] == view].set_index("slice")
        _marks(axes, part, slices, systems, capsize=2, markersize=4)
        axes.set_title(view, fontsize=10)
        labels = [f"{name}\n(n = {sizes[name]})" for name in slices]
        axes.set_xticks(range(len(slices)), labels, rotation=40, ha="right", fontsize=8)
    percent_axis(panels[0][0], f"Recall@{k}")
    legend_beside(panels[0][-1], title="retriever")
    note = (
        f"{means['benchmark'].iloc[0]}, bars: {confidence:.0%} intervals, conversations resampled"
    )
    figure.suptitle(note, fontsize=9, y=1.0)
    return figure, means


def _marks(
    axes: Axes, means: pd.DataFrame, names: list[str], systems: list[str], **look: Any
) -> None:
    """One mark per system at each name, side by side, with its interval.

    Parameters
    ----------
    means : ``system, value, ci_low, ci_high`` (fractions), indexed by name.
    look : size of the mark and of the caps of its bar.
    """
    for i, (system, style) in enumerate(system_styles(systems).items()):
        row = means[means["system"] == system].reindex(names)
        at = np.arange(len(names)) + (i - (len(systems) - 1) / 2) * 0.16
        value = 100 * row["value"].to_numpy()
        arms = reach(value, row, 100)
        axes.errorbar(at, value, yerr=arms, linestyle="none", label=system, **look, **style)
