"""Figures of notebooks 07 and 08: the bound with its tiers, labels, net benefit, interaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from mtrlib.reporting.plots import MARKERS, PALETTE, house_style
from mtrlib.reporting.rewriting_run import RAW, RESOLVED
from mtrlib.rewriting.decisions import LAUNCH, UNDECIDED
from mtrlib.rewriting.gates import OracleGate
from mtrlib.rewriting.labels import LABELS, UNATTRIBUTED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BEFORE = {RAW: "on the raw turn", RESOLVED: "after coreference"}
HATCHES = ("", "//", "..", "xx", "\\\\", "++")
_FILLS = {LAUNCH: "full", UNDECIDED: "left"}  # any other verdict: hollow


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
            upper.axvspan(low, high, color="#E69F00", alpha=alpha, linewidth=0)
        for i, name in enumerate(dict.fromkeys(table["bound"])):
            part = table[(table["view"] == view) & (table["bound"] == name)]
            rows = part.set_index("system").reindex(systems)
            reach = [rows["points"] - rows["ci_low"], rows["ci_high"] - rows["points"]]
            upper.errorbar(
                rows["points"], at + 0.24 * (i - 0.5), xerr=reach, linestyle="none", capsize=3,
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
    panels[0][-1].legend(title="bound", loc="center left", bbox_to_anchor=(1.0, 0.5))
    panels[1][-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
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
    panels[0][-1].legend(
        handles=keys, title="primary label", loc="center left", bbox_to_anchor=(1.0, 0.5)
    )
    n = int(counts["queries"].max())
    figure.suptitle(
        f"n = {n} queries with gold; counts, no intervals; pale: fewer than {least} examples, too "
        "few to decide on",
        fontsize=9,
    )
    figure.tight_layout()
    return figure, counts


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
    fills = (("launch", "full"), ("undecided", "left"), ("hold", "none"))
    keys += [
        Line2D([], [], color="black", marker="o", linestyle="none", fillstyle=fill,  # type: ignore[arg-type]
               markerfacecoloralt="white", label=verdict)
        for verdict, fill in fills
    ]  # fmt: skip
    panels[0][-1].legend(handles=keys, loc="center left", bbox_to_anchor=(1.0, 0.5))
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
