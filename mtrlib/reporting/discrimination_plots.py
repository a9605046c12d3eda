"""Figures of notebook 03: pairs told apart, what the naive cut loses, where the gold came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from mtrlib.reporting.plots import (
    DASHES,
    PALETTE,
    banded_line,
    house_style,
    legend_beside,
    percent_axis,
    system_styles,
)
from mtrlib.retrieval.query_text import NAIVE

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def asl_curves(
    curve: pd.DataFrame, confidence: float, resamples: int
) -> tuple[Figure, pd.DataFrame]:
    """Achieved significance levels of all pairs, one line per benchmark, one panel per view.

    A line crosses the dashed level at the share of pairs that the benchmark tells apart.

    Parameters
    ----------
    curve : of :func:`mtrlib.evaluation.power.asl_curve`.
    resamples : random sign patterns behind a p-value; they bound it from below.
    """
    from matplotlib import pyplot as plt

    house_style()
    views = list(dict.fromkeys(curve["view"]))
    benchmarks = list(dict.fromkeys(curve["benchmark"]))
    figure, panels = plt.subplots(
        1, len(views), figsize=(2.2 + 3.6 * len(views), 3.8), sharey=True, squeeze=False
    )
    for axes, view in zip(panels[0], views, strict=True):
        for benchmark, style in system_styles(benchmarks).items():
            line = curve[(curve["view"] == view) & (curve["benchmark"] == benchmark)]
            label = f"{benchmark} ({len(line)} pairs)"
            dashes = DASHES[benchmarks.index(benchmark) % len(DASHES)]
            axes.plot(
                100 * line["share"],
                line["asl"],
                dashes,
                drawstyle="steps-pre",
                label=label,
                markersize=5,
                alpha=0.8,
                **style,
            )
        axes.axhline(1 - confidence, color="#666666", linestyle="--", linewidth=1)
        axes.set_title(view, fontsize=10)
        axes.set_xlabel("share of pairs (%)")
        axes.set_xlim(0, 104)
    panels[0][0].set_yscale("log")
    panels[0][0].set_ylim(0.6 / (resamples + 1), 1.4)
    panels[0][0].set_ylabel("achieved significance level")
    legend_beside(panels[0][-1], title="benchmark")
    note = (
        f"Paired randomisation tests, uncorrected; dashed: {1 - confidence:.2g}; smallest possible "
        f"value: 1/{resamples + 1}"
    )
    figure.suptitle(note, fontsize=9, y=1.0)
    return figure, curve


def protected_against_naive(
    means: pd.DataFrame, k: int, confidence: float, *, fewest: int = 10
) -> tuple[Figure, pd.DataFrame]:
    """Recall@k per turn with the question protected and with the naive cut, and what was cut.

    One column per retriever that cuts anything (all, if none does). Turns with fewer than
    ``fewest`` queries are left out, as in :func:`.recall_by_turn`.

    Parameters
    ----------
    means : of :func:`mtrlib.evaluation.discrimination.mean_intervals` by benchmark, view,
        system, turn_number for one benchmark and the views ``full_history`` and
        ``full_history_naive``, with ``truncated`` and ``question_lost`` (shares of the same
        queries, fractions).
    """
    from matplotlib import pyplot as plt

    house_style()
    cuts = means.groupby("system", sort=False)["truncated"].max() > 0
    systems = list(cuts.index[cuts]) or list(cuts.index)
    own = means[means["system"].isin(systems)]
    shown = own[own["n_queries"] >= fewest]
    if shown.empty:
        shown = own
    figure, panels = plt.subplots(
        2, len(systems), figsize=(2.6 + 3.4 * len(systems), 5), sharex=True, sharey="row",
        squeeze=False, height_ratios=[2.2, 1],
    )  # fmt: skip
    lines = {"full_history": "question protected", NAIVE: "naive cut"}
    for (upper, lower), system in zip(panels.T, systems, strict=True):
        styles = system_styles(list(lines)).values()
        for (view, label), style, dashes in zip(lines.items(), styles, DASHES, strict=False):
            line = shown[(shown["view"] == view) & (shown["system"] == system)]
            line = line.sort_values("turn_number")
            banded_line(upper, line, dashes, label, **style)
        turn = line["turn_number"].to_numpy()
        # the naive view came last; both cut the same queries
        lower.bar(turn, 100 * line["truncated"], color="#BBBBBB", label="something cut")
        lost = 100 * line["question_lost"]
        lower.bar(turn, lost, width=0.5, color=PALETTE[2], hatch="//", edgecolor="white",
                  label="question lost (naive)")  # fmt: skip
        upper.set_title(system, fontsize=10)
        lower.set_xlabel("turn number")
        lower.set_xticks(turn)
    percent_axis(panels[0][0], f"Recall@{k}")
    percent_axis(panels[1][0], "queries")
    for axes in panels[:, -1]:
        legend_beside(axes)
    counts, name = shown["n_queries"], shown["benchmark"].iloc[0]
    note = (
        f"{name}, n = {counts.min()} to {counts.max()} queries per turn, "
        f"bands: {confidence:.0%} intervals"
    )
    figure.suptitle(note, fontsize=9, y=0.97)
    return figure, shown


def gold_by_origin(
    counts: pd.DataFrame, recall: pd.DataFrame, k: int
) -> tuple[Figure, pd.DataFrame]:
    """Where the gold was found, and what the rest of it does to Recall@k.

    Parameters
    ----------
    counts : ``set, origin, gold``: passages per origin (source article or elsewhere, found by
        the author or only in the pool).
    recall : ``system, gold, value``: Recall@k against the gold of the source article alone
        and against all gold.
    """
    from matplotlib import pyplot as plt

    house_style()
    sets = list(dict.fromkeys(counts["set"]))
    origins = list(dict.fromkeys(counts["origin"]))
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8))
    below = np.zeros(len(sets))
    hatches = ("", "//", "..", "xx")
    for origin, color, hatch in zip(origins, PALETTE[1:], hatches, strict=False):
        part = counts[counts["origin"] == origin].set_index("set").reindex(sets)
        height = part["gold"].to_numpy()
        left.bar(
            sets,
            height,
            width=0.8,
            bottom=below,
            color=color,
            hatch=hatch,
            edgecolor="white",
            label=origin,
        )
        for x, (base, size) in enumerate(zip(below, height, strict=True)):
            if size:  # beside the bar, where thin pieces stay legible
                left.annotate(f"{size}", (x + 0.42, base + size / 2), va="center", fontsize=8)
        below += height
    left.set_ylabel("gold passages")
    left.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.08, 1.0))  # past the counts
    kinds = list(dict.fromkeys(recall["gold"]))
    systems = list(dict.fromkeys(recall["system"]))
    for i, (kind, color) in enumerate(zip(kinds, PALETTE[1:], strict=False)):
        part = recall[recall["gold"] == kind].set_index("system").reindex(systems)
        at = np.arange(len(systems)) + (i - 0.5) * 0.36
        hatch = hatches[i]
        right.bar(
            at,
            100 * part["value"],
            width=0.34,
            color=color,
            hatch=hatch,
            edgecolor="white",
            label=kind,
        )
    right.set_xticks(range(len(systems)), systems, fontsize=9)
    if "n_queries" in recall:
        right.set_xlabel(f"retriever (n = {recall['n_queries'].max()} queries)")
    percent_axis(right, f"Recall@{k}, rewrite")
    right.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.tight_layout()
    points = pd.concat(
        [
            counts.rename(columns={"set": "group", "origin": "what", "gold": "y"}),
            recall.rename(columns={"system": "group", "gold": "what", "value": "y"}),
        ],
        ignore_index=True,
    )
    return figure, points[["group", "what", "y"]]
