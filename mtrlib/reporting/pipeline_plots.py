"""Figures of notebook 02: clusters, the funnel, the audit of what came out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from mtrlib.data.schema import Passage
from mtrlib.reporting.plots import DASHES, MARKERS, PALETTE, house_style, legend_beside, reach
from mtrlib.synthesis.clustering import Clusters

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAPPED = 6  # clusters shown in the map, the largest ones


def cluster_figure(
    ways: Mapping[str, Clusters], vectors: np.ndarray, passages: Sequence[Passage]
) -> tuple[Figure, pd.DataFrame]:
    """Sizes of the clusters of each way, and a map of the largest of the last way.

    The map shows the first two principal components of the vectors (most of what separates
    clusters is not in them).
    """
    from matplotlib import pyplot as plt

    house_style()
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
    rows = []
    for i, (name, found) in enumerate(ways.items()):
        sizes, counts = np.unique(found.sizes, return_counts=True)
        style = {"color": PALETTE[i], "marker": MARKERS[i], "markersize": 4}
        left.plot(sizes, counts, DASHES[i % len(DASHES)], label=name, **style)
        rows += [("size", name, int(s), int(n), "") for s, n in zip(sizes, counts, strict=True)]
    left.set_xlabel("passages in a cluster")
    left.set_ylabel("clusters")
    left.legend()
    plane = _plane(vectors)
    last = list(ways.values())[-1]
    right.scatter(plane[:, 0], plane[:, 1], s=3, color="lightgrey", linewidths=0)
    for i, which in enumerate(np.argsort(-last.sizes, kind="stable")[:MAPPED]):
        members = np.asarray(last[int(which)])
        title = passages[int(members[0])].title
        color, marker = PALETTE[i % len(PALETTE)], MARKERS[i % len(MARKERS)]
        right.scatter(*plane[members].T, s=22, color=color, marker=marker, label=title)
        rows += [
            ("map", title, *np.round(plane[m], 4), passages[int(m)].passage_id) for m in members
        ]
    right.set_xlabel("first component")
    right.set_ylabel("second component")
    right.legend(title=f"largest clusters, {list(ways)[-1]}", fontsize=7, title_fontsize=7)
    figure.tight_layout()
    return figure, pd.DataFrame(rows, columns=["panel", "name", "x", "y", "passage_id"])


def funnel_figure(stages: pd.DataFrame, reasons: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """What entered and passed each stage, and the most frequent reasons for rejection.

    Parameters
    ----------
    stages, reasons : of :mod:`mtrlib.synthesis.funnel`.
    """
    from matplotlib import pyplot as plt

    house_style()
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), width_ratios=[1, 1])
    at = np.arange(len(stages))
    left.barh(at, stages["entered"], color="lightgrey", label="entered")
    left.barh(at, stages["passed"], color=PALETTE[1], height=0.5, label="passed")
    left.set_yticks(at, stages["stage"])
    left.invert_yaxis()
    left.set_xlabel("tries at a turn (switch: pairs of conversations)")
    left.legend()
    top = reasons.sort_values("n", ascending=False, kind="stable").head(10)
    names = top["stage"] + ": " + top["reason"]
    right.barh(np.arange(len(top)), top["n"], color=PALETTE[2])
    right.set_yticks(np.arange(len(top)), names)
    right.invert_yaxis()
    right.set_xlabel("rejected")
    for axes in (left, right):
        axes.grid(axis="x", alpha=0.3)
        axes.grid(visible=False, axis="y")
    figure.tight_layout()
    tables = [stages.assign(panel="stages"), top.assign(panel="reasons")]
    return figure, pd.concat(tables, ignore_index=True)


def audit_figure(scores: pd.DataFrame, confidence: float) -> tuple[Figure, pd.DataFrame]:
    """Scores of each set by judge, one panel per metric, with intervals.

    Parameters
    ----------
    scores : of :func:`mtrlib.audit.panel.scores`; what is not shown there stays out.
    """
    from matplotlib import pyplot as plt

    house_style()
    shown = scores[scores["value"].notna()]
    metrics = list(dict.fromkeys(shown["metric"]))
    judges = list(dict.fromkeys(shown["judge"]))
    sets = list(dict.fromkeys(shown["set"]))
    turns = shown.groupby("set")["n_items"].max().to_dict()
    figure, panels = plt.subplots(
        1, len(metrics), figsize=(1.8 + 3 * len(metrics), 3.4), sharey=True, squeeze=False
    )
    for axes, metric in zip(panels[0], metrics, strict=True):
        for i, name in enumerate(sets):
            part = shown[(shown["metric"] == metric) & (shown["set"] == name)]
            rows = part.set_index("judge").reindex(judges)
            at = np.arange(len(judges)) + (i - (len(sets) - 1) / 2) * 0.2
            arms = reach(rows["value"], rows)
            axes.errorbar(
                at, rows["value"], yerr=arms, linestyle="none", capsize=3,
                label=f"{name} (n = {turns[name]} turns)", color=PALETTE[i], marker=MARKERS[i],
            )  # fmt: skip
        axes.set_title(metric, fontsize=10)
        axes.set_xticks(range(len(judges)), judges)
        axes.set_ylim(0.9, 5.1)
    panels[0][0].set_ylabel("score (1 to 5)")
    legend_beside(panels[0][-1])
    figure.suptitle(f"Bars: {confidence:.0%} intervals, conversations resampled", fontsize=9)
    figure.tight_layout()
    return figure, shown


def _plane(vectors: np.ndarray) -> np.ndarray:
    """First two principal components, shape (n, 2), each pointing to its heavier side."""
    centred = vectors - vectors.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)  # ascending
    plane = centred @ axes[:, [-1, -2]]
    return np.asarray(plane * np.where((plane**3).sum(axis=0) < 0, -1.0, 1.0))
