"""Figures of notebook 07: the bound with its tiers, and the labels of failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from mtrlib.reporting.plots import MARKERS, PALETTE, house_style, legend_beside, reach
from mtrlib.reporting.rewriting_study import RAW, RESOLVED
from mtrlib.rewriting.gates import OracleGate
from mtrlib.rewriting.labels import LABELS, UNATTRIBUTED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BEFORE = {RAW: "on the raw turn", RESOLVED: "after coreference"}
HATCHES = ("", "//", "..", "xx", "\\\\", "++")


def bound_figure(
    table: pd.DataFrame, gate: OracleGate, k: int, confidence: float
) -> tuple[Figure, pd.DataFrame]:
    """ΔRecall@k of both bounds by retriever and view over the tiers; queries gained and lost.

    Parameters
    ----------
    table : of :func:`mtrlib.reporting.rewriting_tables.bounds_table`.
    """
    from matplotlib import pyplot as plt

    house_style()
    views, systems = list(dict.fromkeys(table["view"])), list(dict.fromkeys(table["system"]))
    figure, panels = plt.subplots(
        2, len(views), figsize=(2.4 + 2.9 * len(views), 5.4), sharex="row", sharey=True,
        squeeze=False,
    )  # fmt: skip
    right = max(table["ci_high"].max(), table["points"].max()) + 3
    left = min(-3.0, table["ci_low"].min() - 2)
    at = np.arange(len(systems))
    for (upper, lower), view in zip(panels.T, views, strict=True):
        bands = ((left, gate.low_points, 0.05), (gate.low_points, gate.high_points, 0.16),
                 (gate.high_points, right, 0.3))  # fmt: skip
        for low, high, alpha in bands:
            upper.axvspan(low, high, color=PALETTE[6], alpha=alpha, linewidth=0)
        for i, name in enumerate(dict.fromkeys(table["bound"])):
            part = table[(table["view"] == view) & (table["bound"] == name)]
            rows = part.set_index("system").reindex(systems)
            arms = reach(rows["points"], rows)
            upper.errorbar(
                rows["points"], at + 0.24 * (i - 0.5), xerr=arms, linestyle="none", capsize=3,
                marker=MARKERS[i], color=PALETTE[i], label=name,
            )  # fmt: skip
        upper.axvline(0, color="grey", linewidth=1)
        upper.set_xlim(left, right)
        upper.set_title(view, fontsize=10)
        upper.set_xlabel(f"ΔRecall@{k} (points)", fontsize=9)
        voice = table[(table["view"] == view) & (table["bound"] == "author_voice")]
        counts = voice.set_index("system").reindex(systems)
        start = np.zeros(len(systems))
        for what, color, hatch in (("gained", PALETTE[3], ""), ("same", "#DDDDDD", ""),
                                   ("lost", PALETTE[2], "//")):  # fmt: skip
            size = counts[what].to_numpy(dtype=float)
            lower.barh(at, size, left=start, height=0.6, color=color, hatch=hatch,
                       edgecolor="white", label=what)  # fmt: skip
            for y, (base, n) in enumerate(zip(start, size, strict=True)):
                if n > 0.08 * counts["n_queries"].max():
                    lower.annotate(f"{n:.0f}", (base + n / 2, y), ha="center", va="center",
                                   fontsize=8)  # fmt: skip
            start += size
        lower.set_xlabel("queries, author_voice", fontsize=9)
        for axes in (upper, lower):
            axes.grid(visible=False)
    panels[0][0].set_yticks(at, systems)
    panels[0][0].invert_yaxis()
    legend_beside(panels[0][-1], title="bound")
    legend_beside(panels[1][-1])
    n = int(table["n_queries"].max())
    figure.suptitle(
        f"n = {n} queries with gold; bars: {confidence:.0%} paired intervals, conversations "
        f"resampled; shades: tiers below {gate.low_points:g}, up to and above "
        f"{gate.high_points:g} points",
        fontsize=9,
    )
    figure.tight_layout()
    return figure, table


def label_figure(counts: pd.DataFrame, k: int, least: int) -> tuple[Figure, pd.DataFrame]:
    """Failures by primary label, per retriever, on the raw turn and after coreference.

    Labels with fewer than ``least`` examples are pale.

    Parameters
    ----------
    counts : of :func:`mtrlib.reporting.rewriting_tables.label_counts`.
    """
    from matplotlib import pyplot as plt
    from matplotlib.patches import Patch

    house_style()
    systems, texts = list(dict.fromkeys(counts["system"])), list(dict.fromkeys(counts["text"]))
    figure, panels = plt.subplots(
        1, len(texts), figsize=(2.6 + 4.2 * len(texts), 1.4 + 0.55 * len(systems)), sharex=True,
        sharey=True, squeeze=False,
    )  # fmt: skip
    names = (*LABELS, UNATTRIBUTED)
    colors = dict(zip(names, (*PALETTE[1:6], "#999999"), strict=True))
    for axes, text in zip(panels[0], texts, strict=True):
        start = np.zeros(len(systems))
        part = counts[counts["text"] == text]
        for label, hatch in zip(names, HATCHES, strict=True):
            rows = part[part["label"] == label].set_index("system").reindex(systems)
            size = rows["primary"].to_numpy(dtype=float)
            bars = axes.barh(systems, size, left=start, height=0.62, color=colors[label],
                             hatch=hatch, edgecolor="white")  # fmt: skip
            for bar, n, base in zip(bars, size, start, strict=True):
                bar.set_alpha(1.0 if n >= least else 0.4)
                if n > 0.03 * counts["failures"].max():
                    axes.annotate(
                        f"{n:.0f}", (base + n / 2, bar.get_y() + 0.31), ha="center", va="center",
                        fontsize=8, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
                    )  # fmt: skip
            start += size
        axes.set_title(BEFORE.get(text, text), fontsize=10)
        axes.set_xlabel(f"queries without gold in the first {k}", fontsize=9)
        axes.grid(visible=False)
    panels[0][0].invert_yaxis()
    keys = [
        Patch(facecolor=colors[label], hatch=hatch, edgecolor="white", label=label)
        for label, hatch in zip(names, HATCHES, strict=True)
    ]
    legend_beside(panels[0][-1], handles=keys, title="primary label")
    n = int(counts["queries"].max())
    figure.suptitle(
        f"n = {n} queries with gold; counts, no intervals; pale: fewer than {least} examples, too "
        "few to decide on",
        fontsize=9,
    )
    figure.tight_layout()
    return figure, counts
