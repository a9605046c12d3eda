"""Figures of notebooks 05 and 06: systems with intervals, rounds, sweeps, calls saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from mtrlib.reporting.plots import (
    DASHES,
    MARKERS,
    PALETTE,
    house_style,
    legend_beside,
    nth_style,
    reach,
)
from mtrlib.reporting.rvr_tables import label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = {"recall": "Recall", "mrecall": "MRecall"}


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
                value, at, xerr=reach(value, part, 100),
                fmt=MARKERS[i % len(MARKERS)], color=PALETTE[i % len(PALETTE)], markersize=5,
                capsize=2, label="single round" if verifier == "-" else verifier,
            )  # fmt: skip
        axes.set_xlabel(f"{NAMES[measure]}@{k} (%)")
        axes.grid(axis="x", alpha=0.3)
    panels[0][0].set_yticks(range(len(systems)), systems)
    panels[0][0].invert_yaxis()
    legend_beside(panels[0][1], title="verifier")
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
    legend_beside(panels[0][-1])
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
                yerr=reach(value, part, 100),
                **nth_style(i), capsize=2,
                linestyle=DASHES[i % len(DASHES)], markersize=5, label=str(line),
            )  # fmt: skip
        axes.set_xlabel(name)
        axes.set_xticks(sorted(set(table[setting])))
        axes.set_ylabel(f"{NAMES[measure]}@{k} (%)")
    legend_beside(panels[0][-1], title="system, verifier")
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
            **nth_style(i), label=str(way),
            linestyle=DASHES[i % len(DASHES)],
        )  # fmt: skip
    axes.axhline(0, color="grey", linewidth=1)
    axes.axhline(-2, color="black", linewidth=1, linestyle=":")
    axes.axvline(40, color="black", linewidth=1, linestyle=":")
    axes.set_xlabel("verifier calls, % of reading everything")
    axes.set_ylabel("change of Recall (points)")
    legend_beside(axes)
    axes.set_title(
        f"n = {int(table['n'].max())} questions; bars: {confidence:.0%} paired intervals",
        fontsize=9,
    )
    return figure, table
