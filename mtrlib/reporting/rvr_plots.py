"""Figures of RVR: training curves, systems with intervals, rounds, sweeps, calls saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from mtrlib.reporting.plots import MARKERS, PALETTE, house_style
from mtrlib.reporting.rvr_tables import label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = {"recall": "Recall", "mrecall": "MRecall"}


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
    tidy = []
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
        tidy.append(curve.melt("step", var_name="series").dropna().assign(recipe=recipe))
    panels[0][0].set_ylabel("InfoNCE loss")
    panels[1][0].set_ylabel("Recall@20 in the dev pool (%)")
    panels[0][-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.tight_layout()
    return figure, pd.concat(tidy, ignore_index=True)


def systems_figure(means: pd.DataFrame, k: int, confidence: float) -> tuple[Figure, pd.DataFrame]:
    """Recall and MRecall of every system with its interval, a marker per verifier.

    Parameters
    ----------
    means : of :func:`mtrlib.reporting.rvr_tables.means`, one rule and one encoder.
    """
    from matplotlib import pyplot as plt

    house_style()
    systems, verifiers = (
        list(dict.fromkeys(means["system"])),
        list(dict.fromkeys(means["verifier"])),
    )
    figure, panels = plt.subplots(
        1, 2, figsize=(10, 1.6 + 0.5 * len(systems)), sharey=True, squeeze=False
    )
    for axes, measure in zip(panels[0], NAMES, strict=True):
        for i, verifier in enumerate(verifiers):
            part = means[(means["measure"] == measure) & (means["verifier"] == verifier)]
            value = 100 * part["value"]
            at = [systems.index(s) + 0.16 * (i - (len(verifiers) - 1) / 2) for s in part["system"]]
            axes.errorbar(
                value, at, xerr=[value - 100 * part["ci_low"], 100 * part["ci_high"] - value],
                fmt=MARKERS[i % len(MARKERS)], color=PALETTE[i % len(PALETTE)], markersize=5,
                capsize=2, label="single round" if verifier == "-" else verifier,
            )  # fmt: skip
        axes.set_xlabel(f"{NAMES[measure]}@{k} (%)")
        axes.grid(axis="x", alpha=0.3)
    panels[0][0].set_yticks(range(len(systems)), systems)
    panels[0][0].invert_yaxis()
    panels[0][1].legend(title="verifier", loc="center left", bbox_to_anchor=(1.0, 0.5))
    n = int(means["n"].max())
    figure.suptitle(
        f"n = {n} questions; bars: {confidence:.0%} intervals over questions", fontsize=9
    )
    figure.tight_layout()
    return figure, means


def rounds_figure(gains: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """What each round added per question: accepted, new gold passages, new answers.

    Parameters
    ----------
    gains : ``system, verifier, round, accepted, new_gold, new_answers, questions``.
    """
    from matplotlib import pyplot as plt

    house_style()
    shown = {
        "accepted": "accepted passages",
        "new_gold": "new gold passages",
        "new_answers": "new answers",
    }
    runs = list(dict.fromkeys(map(label, gains["system"], gains["verifier"])))
    rounds = sorted(set(gains["round"]))
    figure, panels = plt.subplots(
        1, len(shown), figsize=(3.4 * len(shown) + 2.4, 1.4 + 0.45 * len(runs)), sharey=True,
        squeeze=False,
    )  # fmt: skip
    height = 0.8 / len(rounds)
    for axes, (column, title) in zip(panels[0], shown.items(), strict=True):
        for i, number in enumerate(rounds):
            part = gains[gains["round"] == number]
            at = [
                runs.index(label(s, v))
                for s, v in zip(part["system"], part["verifier"], strict=True)
            ]
            axes.barh(
                np.array(at) + height * (i - (len(rounds) - 1) / 2), part[column], height,
                color=PALETTE[i % len(PALETTE)], label=f"round {number}",
            )  # fmt: skip
        axes.set_xlabel(f"{title} per question", fontsize=9)
    panels[0][0].set_yticks(range(len(runs)), runs, fontsize=8)
    panels[0][0].invert_yaxis()
    panels[0][-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.suptitle(f"n = {int(gains['questions'].max())} questions, means", fontsize=9)
    figure.tight_layout()
    return figure, gains


def sweep_figure(
    table: pd.DataFrame, setting: str, name: str, k: int, confidence: float
) -> tuple[Figure, pd.DataFrame]:
    """Recall and MRecall along one setting, a line per run, with intervals.

    Parameters
    ----------
    table : means with a column ``setting``.
    name : what the setting is called on the axis.
    """
    from matplotlib import pyplot as plt

    house_style()
    figure, panels = plt.subplots(1, 2, figsize=(10.5, 3.8), squeeze=False)
    named = table.assign(line=list(map(label, table["system"], table["verifier"])))
    for axes, measure in zip(panels[0], NAMES, strict=True):
        shown = named[named["measure"] == measure]
        step = 0.02 * np.ptp(table[setting]) / named["line"].nunique()
        for i, (line, part) in enumerate(shown.groupby("line", sort=False)):
            part = part.sort_values(setting)
            value = 100 * part["value"]
            axes.errorbar(
                part[setting] + step * i, value,
                yerr=[value - 100 * part["ci_low"], 100 * part["ci_high"] - value],
                color=PALETTE[i % len(PALETTE)], marker=MARKERS[i % len(MARKERS)], capsize=2,
                markersize=4, label=str(line),
            )  # fmt: skip
        axes.set_xlabel(name)
        axes.set_xticks(sorted(set(table[setting])))
        axes.set_ylabel(f"{NAMES[measure]}@{k} (%)")
    panels[0][-1].legend(title="system, verifier", loc="center left", bbox_to_anchor=(1.0, 0.5))
    n = int(table["n"].max())
    figure.suptitle(
        f"n = {n} questions; bars: {confidence:.0%} intervals over questions", fontsize=9
    )
    figure.tight_layout()
    return figure, table


def trade_off_figure(table: pd.DataFrame, confidence: float) -> tuple[Figure, pd.DataFrame]:
    """Recall lost against the share of verifier calls, a line per way to save them.

    Parameters
    ----------
    table : ``way, share, difference, low, high, n`` (fractions), of one measure.
    """
    from matplotlib import pyplot as plt

    house_style()
    figure, axes = plt.subplots(figsize=(7, 4.2))
    for i, (way, part) in enumerate(table.groupby("way", sort=False)):
        part = part.sort_values("share")
        value = 100 * part["difference"]
        axes.errorbar(
            100 * part["share"], value,
            yerr=[value - 100 * part["low"], 100 * part["high"] - value], capsize=2, markersize=4,
            color=PALETTE[i % len(PALETTE)], marker=MARKERS[i % len(MARKERS)], label=str(way),
        )  # fmt: skip
    axes.axhline(0, color="grey", linewidth=1)
    axes.axhline(-2, color="black", linewidth=1, linestyle=":")
    axes.axvline(40, color="black", linewidth=1, linestyle=":")
    axes.set_xlabel("verifier calls, % of reading everything")
    axes.set_ylabel("change of Recall (points)")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes.set_title(
        f"n = {int(table['n'].max())} questions; bars: {confidence:.0%} paired intervals",
        fontsize=9,
    )
    return figure, table


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
            yerr=[part["value"] - part["ci_low"], part["ci_high"] - part["value"]], capsize=2,
            color=PALETTE[i % len(PALETTE)], marker=MARKERS[i % len(MARKERS)], markersize=4,
            label=str(name),
        )  # fmt: skip
    axes.set_xlabel("rank in the second round, context passed over")
    axes.set_ylabel("cosine to the nearest context passage")
    axes.legend(title="later retriever")
    n = int(similar["n"].max())
    axes.set_title(f"n = {n} questions; bars: {confidence:.0%} intervals", fontsize=9)
    return figure, similar
