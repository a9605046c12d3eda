"""Figures of notebook 04: training curves, and how close later results are to their context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from mtrlib.reporting.plots import (
    MARKERS,
    PALETTE,
    house_style,
    nth_style,
    reach,
)
from mtrlib.reporting.rvr_training_tables import tidy_curves

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def training_curves(
    curves: Mapping[str, pd.DataFrame], best: Mapping[str, int]
) -> tuple[Figure, pd.DataFrame]:
    """Loss of the batches, and loss and recall on dev at each look; a column per recipe.

    Parameters
    ----------
    curves : recipe -> ``step, loss`` and ``<dev set>_loss, <dev set>_recall`` at looks.
    best : recipe -> step of the state that is kept, 0 = the base.
    """
    from matplotlib import pyplot as plt

    house_style()
    figure, panels = plt.subplots(
        2, len(curves), figsize=(1.5 + 4.2 * len(curves), 5.6), sharex="col", sharey="row",
        squeeze=False,
    )  # fmt: skip
    for column, (recipe, curve) in enumerate(curves.items()):
        above, below = panels[0][column], panels[1][column]
        above.plot(curve["step"], curve["loss"], color="grey", linewidth=1, label="batch")
        sets = [c.removesuffix("_recall") for c in map(str, curve) if c.endswith("_recall")]
        for i, name in enumerate(sets):
            looks = curve.dropna(subset=[f"{name}_recall"])
            style = {"color": PALETTE[i], "marker": MARKERS[i], "label": f"dev, {name}"}
            above.plot(looks["step"], looks[f"{name}_loss"], **style)
            below.plot(looks["step"], 100 * looks[f"{name}_recall"], **style)
        for axes in (above, below):
            axes.axvline(best[recipe], color="black", linestyle=":", linewidth=1, label="kept")
        above.set_title(recipe, fontsize=10)
        below.set_xlabel("step")
    panels[0][0].set_ylabel("InfoNCE loss")
    panels[1][0].set_ylabel("Recall@20 in the dev pool (%)")
    panels[0][-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.tight_layout()
    return figure, tidy_curves(curves, best)[["step", "series", "value", "recipe"]]


def similarity_figure(similar: pd.DataFrame, confidence: float) -> tuple[Figure, pd.DataFrame]:
    """How close second-round results are to the context, by rank, before and after training.

    Parameters
    ----------
    similar : ``retriever, rank, value, ci_low, ci_high, n``: cosine of the passage at a rank to
        its nearest passage of the context.
    """
    from matplotlib import pyplot as plt

    house_style()
    figure, axes = plt.subplots(figsize=(6.6, 4))
    for i, (name, part) in enumerate(similar.groupby("retriever", sort=False)):
        axes.errorbar(
            part["rank"] + 0.1 * i, part["value"],
            yerr=reach(part["value"], part), capsize=2,
            **nth_style(i), markersize=4,
            label=str(name),
        )  # fmt: skip
    axes.set_xlabel("rank in the second round, context passed over")
    axes.set_ylabel("cosine to the nearest context passage")
    axes.legend(title="later retriever")
    n = int(similar["n"].max())
    axes.set_title(f"n = {n} questions; bars: {confidence:.0%} intervals", fontsize=9)
    return figure, similar
