"""Figures of the audit: heatmaps, dose and response, estimates against what was planted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mtrlib.reporting.plots import MARKERS, PALETTE, house_style, legend_beside, nth_style, reach

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOW, HIGH = 1.0, 5.0
WEAK = {"smollm2": "smollm2 has 135 million parameters and is a weak judge"}


def audit_heatmap(
    ours: pd.DataFrame,
    paper: pd.DataFrame,
    status: str,
    turns: Mapping[str, int],
    judges: Sequence[str],
) -> tuple[Figure, pd.DataFrame]:
    """Mean score per benchmark and metric, ours beside the paper's (Figure 2a).

    Parameters
    ----------
    ours, paper : index = benchmark, columns = metrics, values from 1 to 5.
    status : how the two may be compared; stands above the paper's panel.
    turns : n of each of our sets.
    judges : those behind our means; weak ones are named as such.
    """
    from matplotlib import pyplot as plt

    house_style()
    heights = [len(ours), len(paper)]
    figure, panels = plt.subplots(
        1, 2, figsize=(11.5, 1.6 + 0.42 * max(heights)), width_ratios=[1, 1]
    )
    titles = ("ours, mean over the judges that apply", f"MTR-Suite, Figure 2a: {status}")
    named = ours.rename(index=lambda name: _with_n(name, turns))
    for axes, table, title in zip(panels, (named, paper), titles, strict=True):
        _heat(axes, table[list(ours.columns)])
        axes.set_title(title, fontsize=10)
    weak = [WEAK[judge] for judge in judges if judge in WEAK]
    figure.suptitle("; ".join(["n = turns; n/a = no judge of ours", *weak]), fontsize=8)
    figure.tight_layout()
    tidy = [
        table.rename_axis("benchmark")
        .reset_index()
        .melt("benchmark", var_name="metric", value_name="value")
        .assign(source=source)
        for source, table in (("ours", ours), ("paper", paper))
    ]
    return figure, pd.concat(tidy, ignore_index=True)


def judge_heatmaps(scores: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Score per benchmark and judge, one panel per metric (Figure A.1).

    Parameters
    ----------
    scores : ``set, judge, metric, value`` (1 to 5; missing = not judged or not shown).
    """
    from matplotlib import pyplot as plt

    house_style()
    metrics = list(dict.fromkeys(scores["metric"]))
    sets = list(dict.fromkeys(scores["set"]))
    judges = list(dict.fromkeys(scores["judge"]))
    turns = scores.groupby("set")["n_items"].max().to_dict()
    figure, panels = plt.subplots(
        1, len(metrics), figsize=(1.8 + 3.1 * len(metrics), 1.9 + 0.34 * len(sets)), squeeze=False
    )
    for i, (axes, metric) in enumerate(zip(panels[0], metrics, strict=True)):
        part = scores[scores["metric"] == metric]
        table = part.pivot(index="set", columns="judge", values="value").reindex(
            index=sets, columns=judges
        )
        _heat(axes, table.rename(index=lambda name: _with_n(name, turns)), names=i == 0)
        axes.set_title(metric, fontsize=10)
    notes = ["n = turns judged at most; n/a = not judged, or less than half of it"]
    notes += [WEAK[judge] for judge in judges if judge in WEAK]
    figure.suptitle("; ".join(notes), fontsize=8)
    figure.tight_layout()
    columns = ["set", "judge", "metric", "value", "ci_low", "ci_high", "coverage", "note"]
    return figure, scores[columns]


def dose_response(
    table: pd.DataFrame, own: Mapping[str, str], confidence: float, turns: int
) -> tuple[Figure, pd.DataFrame]:
    """Score along the doses: a row per metric, a column per damage, a line per judge.

    The panel of a metric's own damage has a frame: there the lines must fall, and nowhere
    else as far.

    Parameters
    ----------
    table : of :func:`mtrlib.audit.dose_response.dose_table`.
    own : metric -> the damage it is there to feel.
    turns : n of the sound set.
    """
    from matplotlib import pyplot as plt

    house_style()
    shown = table[table["value"].notna()]
    metrics = [m for m in own if m in set(shown["metric"])]
    kinds = list(dict.fromkeys(shown["kind"]))
    judges = list(dict.fromkeys(shown["judge"]))
    figure, panels = plt.subplots(
        len(metrics),
        len(kinds),
        figsize=(1.5 + 2.5 * len(kinds), 0.8 + 2.0 * len(metrics)),
        sharex=True,
        sharey="row",
        squeeze=False,
    )
    for row, metric in enumerate(metrics):
        for column, kind in enumerate(kinds):
            axes = panels[row][column]
            part = shown[(shown["metric"] == metric) & (shown["kind"] == kind)]
            _dose_lines(axes, part, judges)
            if own[metric] == kind:
                for spine in axes.spines.values():
                    spine.set(visible=True, linewidth=2)
            if row == 0:
                axes.set_title(kind, fontsize=10)
        panels[row][0].set_ylabel(metric, fontsize=9)
    for axes in panels[-1]:
        axes.set_xlabel("damaged (%)")
    panels[0][-1].legend(title="judge", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    note = f"n = {turns} turns, score from 1 to 5, bars: {confidence:.0%} intervals"
    figure.suptitle(f"{note}, conversations resampled. Framed: the metric's own damage", fontsize=9)
    figure.tight_layout()
    return figure, shown


def estimates_figure(estimates: pd.DataFrame, confidence: float) -> tuple[Figure, pd.DataFrame]:
    """Noise, sparsity and credibility per set, with what was planted where that is known.

    Parameters
    ----------
    estimates : ``set, quantity, value, ci_low, ci_high, planted`` (fractions; planted may be
        missing).
    """
    from matplotlib import pyplot as plt

    house_style()
    sets = list(dict.fromkeys(estimates["set"]))
    quantities = list(dict.fromkeys(estimates["quantity"]))
    figure, panels = plt.subplots(
        1, len(quantities), figsize=(1.8 + 3.2 * len(quantities), 1.2 + 0.34 * len(sets)),
        sharey=True, squeeze=False,
    )  # fmt: skip
    at = np.arange(len(sets))
    for axes, quantity in zip(panels[0], quantities, strict=True):
        rows = estimates[estimates["quantity"] == quantity].set_index("set").reindex(sets)
        value = 100 * rows["value"]
        arms = reach(value, rows, 100)
        axes.errorbar(
            value, at, xerr=arms, fmt=MARKERS[0], color=PALETTE[1], capsize=3, label="estimated"
        )
        # above the dot, which would hide an estimate that hits
        axes.plot(
            100 * rows["planted"], at, MARKERS[6], color=PALETTE[0], markersize=5, zorder=3,
            label="planted",
        )  # fmt: skip
        axes.set_title(quantity, fontsize=10)
        axes.set_xlabel("%")
        axes.set_xlim(-3, 103)
        axes.grid(axis="x", alpha=0.3)
    turns = estimates[estimates["quantity"] == "sparsity"].set_index("set")["n"].to_dict()
    panels[0][0].set_yticks(at, [_with_n(name, turns) for name in sets])
    panels[0][0].invert_yaxis()
    legend_beside(panels[0][-1])
    note = f"n = turns; bars: {confidence:.0%} intervals, conversations resampled"
    figure.suptitle(note, fontsize=9)
    figure.tight_layout()
    return figure, estimates


def calibration_figure(curves: pd.DataFrame, confidence: float) -> tuple[Figure, pd.DataFrame]:
    """Observed share of supporting pairs against the judge's probability, one line per judge.

    Parameters
    ----------
    curves : ``judge, n, predicted, observed, ci_low, ci_high`` per bin (fractions).
    """
    from matplotlib import pyplot as plt

    house_style()
    figure, axes = plt.subplots(figsize=(5.2, 4.4))
    axes.plot([0, 100], [0, 100], color="grey", linewidth=1, linestyle="--")
    for i, (judge, rows) in enumerate(curves.groupby("judge", sort=False)):
        observed = 100 * rows["observed"]
        arms = reach(observed, rows, 100)
        axes.errorbar(
            100 * rows["predicted"], observed, yerr=arms, capsize=3,
            label=f"{judge} (n = {int(rows['n'].sum()):,} pairs)",
            **nth_style(i), markersize=4,
        )  # fmt: skip
    axes.set_xlabel("judge's probability of support (%)")
    axes.set_ylabel("observed (%)")
    axes.legend(title="judge")
    axes.set_title(f"Bars: {confidence:.0%} Wilson intervals of the bins", fontsize=9)
    return figure, curves


def _with_n(name: str, turns: Mapping[Any, int]) -> str:
    return f"{name} (n = {turns[name]})" if name in turns else name


def _dose_lines(axes: Axes, part: pd.DataFrame, judges: Sequence[str]) -> None:
    for i, judge in enumerate(judges):
        line = part[part["judge"] == judge].sort_values("rate")
        if line.empty:
            continue
        value = line["value"]
        style: dict[str, Any] = {"color": PALETTE[i % len(PALETTE)], "marker": MARKERS[i]}
        arms = reach(value, line)
        axes.errorbar(
            100 * line["rate"], value, yerr=arms, label=judge, markersize=4, capsize=2, **style
        )


def _heat(axes: Axes, table: pd.DataFrame, *, names: bool = True) -> None:
    """One heatmap on the scale of 1 to 5; a missing cell stays empty and says n/a."""
    values = table.to_numpy(dtype=float)
    axes.imshow(values, vmin=LOW, vmax=HIGH, cmap="cividis", aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        dark = value < (LOW + HIGH) / 2
        text = "n/a" if np.isnan(value) else f"{value:.1f}"
        axes.text(j, i, text, ha="center", va="center", fontsize=8,
                  color="white" if dark else "black")  # fmt: skip
    axes.set_xticks(range(len(table.columns)), table.columns, rotation=25, ha="right", fontsize=8)
    axes.set_yticks(range(len(table)), table.index if names else [""] * len(table), fontsize=8)
    axes.grid(visible=False)
