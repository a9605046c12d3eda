"""Figures of notebook 08: net benefit, and the interaction of methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pandas as pd

from mtrlib.reporting.bound_plots import BEFORE
from mtrlib.reporting.plots import MARKERS, PALETTE, house_style, legend_beside
from mtrlib.rewriting.decisions import LAUNCH, UNDECIDED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Fill = Literal["full", "left", "none"]
_FILLS: dict[str, Fill] = {LAUNCH: "full", UNDECIDED: "left"}  # any other verdict: hollow


def net_figure(decided: pd.DataFrame, confidence: float) -> tuple[Figure, pd.DataFrame]:
    """Net benefit with interval per method and retriever; the fill of a mark is the verdict.

    Parameters
    ----------
    decided : of :func:`mtrlib.reporting.rewriting_tables.decisions`.
    """
    from matplotlib import pyplot as plt
    from matplotlib.lines import Line2D

    house_style()
    shown = decided[decided["net"].notna()]
    bases, systems = list(dict.fromkeys(shown["before_it"])), list(dict.fromkeys(shown["system"]))
    methods = list(dict.fromkeys(shown["method"]))
    figure, panels = plt.subplots(
        1, len(bases), figsize=(2.6 + 4.4 * len(bases), 1.6 + 0.75 * len(methods)), sharey=True,
        squeeze=False,
    )  # fmt: skip
    for axes, base in zip(panels[0], bases, strict=True):
        for i, system in enumerate(systems):
            part = shown[(shown["before_it"] == base) & (shown["system"] == system)]
            for row in part.to_dict("records"):
                y = methods.index(row["method"]) + 0.17 * (i - (len(systems) - 1) / 2)
                axes.plot([row["ci_low"], row["ci_high"]], [y, y], color=PALETTE[i], linewidth=1.5)
                axes.plot(
                    row["net"], y, marker=MARKERS[i], color=PALETTE[i], markersize=7,
                    fillstyle=_FILLS.get(row["verdict"], "none"), markerfacecoloralt="white",
                )  # fmt: skip
                end = max(row["net"], row["ci_high"])
                axes.annotate(f"{row['used']}", (end, y), xytext=(6, 0), fontsize=7, va="center",
                              textcoords="offset points", color=PALETTE[i])  # fmt: skip
        axes.axvline(0, color="grey", linewidth=1)
        axes.set_title(BEFORE.get(base, base), fontsize=10)
        axes.set_xlabel("net benefit (points)", fontsize=9)
        axes.grid(visible=False, axis="y")
        axes.grid(visible=True, axis="x", alpha=0.3)
    panels[0][0].set_yticks(range(len(methods)), methods)
    panels[0][0].set_ylim(len(methods) - 0.5, -0.5)
    keys = [
        Line2D([], [], color=PALETTE[i], marker=MARKERS[i], label=system)
        for i, system in enumerate(systems)
    ]
    fills: tuple[tuple[str, Fill], ...] = (
        ("launch", "full"),
        ("undecided", "left"),
        ("hold", "none"),
    )
    keys += [
        Line2D([], [], color="black", marker="o", linestyle="none", fillstyle=fill,
               markerfacecoloralt="white", label=verdict)
        for verdict, fill in fills
    ]  # fmt: skip
    legend_beside(panels[0][-1], handles=keys)
    low, high = int(shown["used"].min()), int(shown["used"].max())
    figure.suptitle(
        f"numbers: n, the queries that the method was used for ({low} to {high}); bars: "
        f"{confidence:.0%} intervals, conversations resampled",
        fontsize=9,
    )
    figure.tight_layout()
    return figure, shown


def interaction_figure(table: pd.DataFrame, confidence: float) -> tuple[Figure, pd.DataFrame]:
    """What each pair gains beyond the sum of its parts, by retriever, for both measures.

    Parameters
    ----------
    table : of :func:`mtrlib.reporting.rewriting_trials.interactions`.
    """
    from matplotlib import pyplot as plt

    house_style()
    titles = {"recall": "Recall@20", "ndcg": "nDCG@5"}
    named = table.assign(pair=table["first"] + " + " + table["second"])
    pairs, systems = list(dict.fromkeys(named["pair"])), list(dict.fromkeys(named["system"]))
    figure, panels = plt.subplots(
        1, len(titles), figsize=(3.2 + 1.35 * len(systems) * len(titles), 1.6 + 0.45 * len(pairs)),
        sharey=True, squeeze=False,
    )  # fmt: skip
    most = max(1.0, float(table["interaction"].abs().max()))
    for axes, (measure, title) in zip(panels[0], titles.items(), strict=True):
        part = named[named["measure"] == measure]
        grid = part.pivot(index="pair", columns="system", values="interaction")
        apart = part.pivot(index="pair", columns="system", values="reading")
        values = grid.loc[pairs, systems].to_numpy(dtype=float)
        shown = axes.imshow(values, cmap="RdBu", vmin=-most, vmax=most, aspect="auto")
        for y, pair in enumerate(pairs):
            for x, system in enumerate(systems):
                mark = "" if apart.loc[pair, system] == "within noise" else "*"
                pale = abs(values[y, x]) < 0.6 * most
                axes.annotate(f"{values[y, x]:+.1f}{mark}", (x, y), ha="center", va="center",
                              fontsize=8, color="black" if pale else "white")  # fmt: skip
        axes.set_xticks(range(len(systems)), systems, fontsize=8)
        axes.set_title(title, fontsize=10)
        axes.grid(visible=False)
    panels[0][0].set_yticks(range(len(pairs)), pairs, fontsize=8)
    figure.colorbar(shown, ax=panels[0].tolist(), label="points beyond the sum", shrink=0.9)
    n = int(table["n"].max())
    figure.suptitle(
        f"n = {n} queries with gold; *: the {confidence:.0%} interval does not hold 0, "
        "conversations resampled",
        fontsize=9,
    )
    return figure, table
