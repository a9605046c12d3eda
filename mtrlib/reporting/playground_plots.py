"""The figure of the playground: where each path ranks the gold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from mtrlib.reporting.plots import MARKERS, PALETTE, house_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def gold_ranks_figure(rows: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Ranks of the gold passages on every path, a marker per passage.

    Parameters
    ----------
    rows : of :func:`mtrlib.reporting.playground_tables.rank_rows`.

    Returns
    -------
    Figure, DataFrame
        The figure, and its points: ``path, passage_id, rank`` of every gold passage that a path
        lists. A path without any keeps its row in the figure.
    """
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

    house_style()
    paths = list(dict.fromkeys(rows["path"]))
    points = rows.loc[rows["gold"], ["path", "passage_id", "rank"]].reset_index(drop=True)
    figure, axes = plt.subplots(figsize=(7, 0.36 * len(paths) + 1.4), layout="constrained")
    for i, (passage_id, own) in enumerate(points.groupby("passage_id", sort=True)):
        axes.scatter(
            own["rank"],
            [paths.index(path) for path in own["path"]],
            color=PALETTE[i % len(PALETTE)],
            marker=MARKERS[i % len(MARKERS)],
            s=40,
            zorder=3,
            label=str(passage_id),
        )
    axes.set_yticks(range(len(paths)), paths)
    axes.set_ylim(len(paths) - 0.5, -0.5)
    axes.set_xlim(0.3, rows["rank"].max() + 0.7)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("rank")
    axes.grid(axis="x", alpha=0.3)
    if len(points):
        axes.legend(title="gold passage", loc="upper left", bbox_to_anchor=(1.01, 1))
    return figure, points
