"""Figures: one function each, returns the figure and the points it shows.

One palette and one set of markers throughout: colours that colour-blind readers tell apart,
and shapes that survive a greyscale print.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mtrlib.retrieval.query_text import NAIVE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito 2008, darkest first so that the order also reads in grey
PALETTE = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
CJK_FONTS = (
    "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Micro Hei",
    "Microsoft YaHei", "PingFang SC", "Hiragino Sans GB", "SimHei",
)  # fmt: skip


def house_style() -> None:
    """Set matplotlib's defaults for this project; called by every figure below."""
    import matplotlib
    from matplotlib import font_manager

    installed = {font.name for font in font_manager.fontManager.ttflist}
    cjk = [name for name in CJK_FONTS if name in installed]
    matplotlib.rcParams.update(
        {
            "font.family": ["DejaVu Sans", *cjk],
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.grid.axis": "y",
            "grid.alpha": 0.3,
            "legend.frameon": False,
            "svg.hashsalt": "mtrlib",
        }
    )


def _styles(systems: Sequence[str]) -> dict[str, dict[str, Any]]:
    return {
        system: {"color": PALETTE[i % len(PALETTE)], "marker": MARKERS[i % len(MARKERS)]}
        for i, system in enumerate(systems)
    }


def _percent_axis(axes: Axes, label: str) -> None:
    axes.set_ylabel(f"{label} (%)")
    axes.set_ylim(0, 100)


def recall_by_view(means: pd.DataFrame, k: int, confidence: float) -> tuple[Figure, pd.DataFrame]:
    """Recall@k per query view, one mark per retriever, one panel per benchmark (Figure 2b).

    Parameters
    ----------
    means : ``benchmark, view, system, value, ci_low, ci_high, n_queries`` (fractions).
    """
    from matplotlib import pyplot as plt

    house_style()
    benchmarks = list(dict.fromkeys(means["benchmark"]))
    views = list(dict.fromkeys(means["view"]))
    systems = list(dict.fromkeys(means["system"]))
    figure, panels = plt.subplots(
        1, len(benchmarks), figsize=(2.2 + 4.6 * len(benchmarks), 4), sharey=True, squeeze=False
    )
    for axes, benchmark in zip(panels[0], benchmarks, strict=True):
        part = means[means["benchmark"] == benchmark]
        for i, (system, style) in enumerate(_styles(systems).items()):
            row = part[part["system"] == system].set_index("view").reindex(views)
            at = np.arange(len(views)) + (i - (len(systems) - 1) / 2) * 0.16
            value = 100 * row["value"].to_numpy()
            reach = [value - 100 * row["ci_low"], 100 * row["ci_high"] - value]
            axes.errorbar(at, value, yerr=reach, linestyle="none", capsize=3, label=system, **style)
        queries = int(part["n_queries"].max())
        axes.set_title(f"{benchmark} (n = {queries} queries)", fontsize=10)
        axes.set_xticks(range(len(views)), views)
        axes.set_xlabel("query view")
    _percent_axis(panels[0][0], f"Recall@{k}")
    panels[0][-1].legend(title="retriever", loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.suptitle(
        f"Bars: {confidence:.0%} intervals, conversations resampled", fontsize=9, y=0.99
    )
    return figure, means


def recall_by_turn(
    means: pd.DataFrame, k: int, confidence: float, *, fewest: int = 10
) -> tuple[Figure, pd.DataFrame]:
    """Recall@k per turn number, one line per retriever, one panel per query view.

    Turns with fewer than ``fewest`` queries are left out of figure and points.
    """
    from matplotlib import pyplot as plt

    house_style()
    shown = means[means["n_queries"] >= fewest]
    if shown.empty:
        shown = means
    views = list(dict.fromkeys(shown["view"]))
    systems = list(dict.fromkeys(shown["system"]))
    figure, panels = plt.subplots(
        1, len(views), figsize=(2.2 + 3.6 * len(views), 3.8), sharey=True, squeeze=False
    )
    for axes, view in zip(panels[0], views, strict=True):
        for system, style in _styles(systems).items():
            line = shown[(shown["view"] == view) & (shown["system"] == system)]
            line = line.sort_values("turn_number")
            turn, value = line["turn_number"].to_numpy(), 100 * line["value"].to_numpy()
            axes.plot(turn, value, label=system, markersize=4, **style)
            low, high = 100 * line["ci_low"].to_numpy(), 100 * line["ci_high"].to_numpy()
            axes.fill_between(turn, low, high, color=style["color"], alpha=0.12, linewidth=0)
        axes.set_title(view, fontsize=10)
        axes.set_xlabel("turn number")
        axes.set_xticks(sorted(set(shown["turn_number"])))
    _percent_axis(panels[0][0], f"Recall@{k}")
    panels[0][-1].legend(title="retriever", loc="center left", bbox_to_anchor=(1.0, 0.5))
    counts = shown["n_queries"]
    note = (
        f"n = {counts.min()} to {counts.max()} queries per turn, bands: {confidence:.0%} intervals"
    )
    figure.suptitle(note, fontsize=9, y=1.0)
    return figure, shown


def recall_by_slice(means: pd.DataFrame, k: int, confidence: float) -> tuple[Figure, pd.DataFrame]:
    """Recall@k per slice of the turns, one mark per retriever, one panel per query view.

    Parameters
    ----------
    means : ``view, system, slice, value, ci_low, ci_high, n_queries`` of one benchmark.
    """
    from matplotlib import pyplot as plt

    house_style()
    views = list(dict.fromkeys(means["view"]))
    slices = list(dict.fromkeys(means["slice"]))
    systems = list(dict.fromkeys(means["system"]))
    sizes = means.groupby("slice")["n_queries"].max()
    figure, panels = plt.subplots(
        1, len(views), figsize=(2.2 + 4.4 * len(views), 4.4), sharey=True, squeeze=False
    )
    for axes, view in zip(panels[0], views, strict=True):
        for i, (system, style) in enumerate(_styles(systems).items()):
            part = means[(means["view"] == view) & (means["system"] == system)]
            row = part.set_index("slice").reindex(slices)
            at = np.arange(len(slices)) + (i - (len(systems) - 1) / 2) * 0.16
            value = 100 * row["value"].to_numpy()
            reach = [value - 100 * row["ci_low"], 100 * row["ci_high"] - value]
            axes.errorbar(
                at,
                value,
                yerr=reach,
                linestyle="none",
                capsize=2,
                markersize=4,
                label=system,
                **style,
            )
        axes.set_title(view, fontsize=10)
        labels = [f"{name}\n(n = {sizes[name]})" for name in slices]
        axes.set_xticks(range(len(slices)), labels, rotation=40, ha="right", fontsize=8)
    _percent_axis(panels[0][0], f"Recall@{k}")
    panels[0][-1].legend(title="retriever", loc="center left", bbox_to_anchor=(1.0, 0.5))
    note = (
        f"{means['benchmark'].iloc[0]}, bars: {confidence:.0%} intervals, conversations resampled"
    )
    figure.suptitle(note, fontsize=9, y=1.0)
    return figure, means


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
        for benchmark, style in _styles(benchmarks).items():
            line = curve[(curve["view"] == view) & (curve["benchmark"] == benchmark)]
            label = f"{benchmark} ({len(line)} pairs)"
            dashes = ("-", "--", ":", "-.")[benchmarks.index(benchmark) % 4]  # lines may coincide
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
    panels[0][-1].legend(title="benchmark", loc="center left", bbox_to_anchor=(1.0, 0.5))
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
    ``fewest`` queries are left out, as in :func:`recall_by_turn`.

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
        for (view, label), style in zip(lines.items(), _styles(list(lines)).values(), strict=True):
            line = shown[(shown["view"] == view) & (shown["system"] == system)]
            line = line.sort_values("turn_number")
            turn, value = line["turn_number"].to_numpy(), 100 * line["value"].to_numpy()
            color = style["color"]
            upper.plot(turn, value, label=label, markersize=4, **style)
            low, high = 100 * line["ci_low"].to_numpy(), 100 * line["ci_high"].to_numpy()
            upper.fill_between(turn, low, high, color=color, alpha=0.12, linewidth=0)
        # the naive view came last; both cut the same queries
        lower.bar(turn, 100 * line["truncated"], color="#BBBBBB", label="something cut")
        lost = 100 * line["question_lost"]
        lower.bar(turn, lost, width=0.5, color=PALETTE[2], hatch="//", edgecolor="white",
                  label="question lost (naive)")  # fmt: skip
        upper.set_title(system, fontsize=10)
        lower.set_xlabel("turn number")
        lower.set_xticks(turn)
    _percent_axis(panels[0][0], f"Recall@{k}")
    _percent_axis(panels[1][0], "queries")
    for axes in panels[:, -1]:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
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
    left.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
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
    right.set_xticks(range(len(systems)), systems)
    if "n_queries" in recall:
        right.set_xlabel(f"retriever (n = {recall['n_queries'].max()} queries)")
    _percent_axis(right, f"Recall@{k}, rewrite")
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


def corpus_shape(lengths: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Histogram of passage lengths, and passages per article as a sorted curve.

    Parameters
    ----------
    lengths : one row per passage: ``article`` and ``words``.
    """
    from matplotlib import pyplot as plt

    house_style()
    edges = np.arange(0, lengths["words"].max() + 11, 10)
    counts, _ = np.histogram(lengths["words"], bins=edges)
    per_article = lengths["article"].value_counts()
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4))
    left.bar(edges[:-1], counts, width=9, align="edge", color=PALETTE[1])
    left.axvline(lengths["words"].median(), color=PALETTE[0], linestyle="--", linewidth=1)
    left.set_xlabel(f"words per passage (n = {len(lengths):,}; dashed: median)")
    left.set_ylabel("passages")
    right.plot(np.arange(1, len(per_article) + 1), per_article.to_numpy(), color=PALETTE[2])
    right.set_xlabel(f"articles, largest first (n = {len(per_article)})")
    right.set_ylabel("passages")
    figure.tight_layout()
    points = pd.concat(
        [
            pd.DataFrame({"panel": "passage_length", "x": edges[:-1], "y": counts}),
            pd.DataFrame(
                {
                    "panel": "article_size",
                    "x": np.arange(1, len(per_article) + 1),
                    "y": per_article.to_numpy(),
                }
            ),
        ],
        ignore_index=True,
    )
    return figure, points


def turn_shape(turns: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Words of questions and of histories by turn number, and gold passages per turn.

    Parameters
    ----------
    turns : of :func:`mtrlib.data.describe.turn_table`.
    """
    from matplotlib import pyplot as plt

    house_style()
    grouped = turns.groupby(["benchmark", "turn_number"], sort=False)
    words = grouped[["question_words", "history_words"]].median().reset_index()
    words = words.melt(["benchmark", "turn_number"], var_name="what", value_name="y")
    gold = turns.groupby("benchmark", sort=False)["gold"].value_counts().rename("y").reset_index()
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4))
    styles = _styles(list(dict.fromkeys(turns["benchmark"])))
    for benchmark, style in styles.items():
        for what, line in words[words["benchmark"] == benchmark].groupby("what", sort=False):
            dashes = "--" if what == "question_words" else "-"
            label = f"{benchmark}, {str(what).removesuffix('_words')}"
            left.plot(
                line["turn_number"], line["y"], linestyle=dashes, label=label, markersize=4, **style
            )
        part = gold[gold["benchmark"] == benchmark].sort_values("gold")
        share = 100 * part["y"] / part["y"].sum()
        label = f"{benchmark} (n = {part['y'].sum()})"
        right.plot(part["gold"], share, label=label, markersize=4, **style)
    left.set_xlabel("turn number")
    left.set_ylabel("words (median)")
    left.legend()
    right.set_xlabel("gold passages per turn")
    right.set_ylabel("share of turns (%)")
    right.legend()
    figure.tight_layout()
    columns = {"turn_number": "x"}
    points = pd.concat(
        [
            words.rename(columns=columns),
            gold.rename(columns={"gold": "x"}).assign(what="turns_with_gold"),
        ],
        ignore_index=True,
    )
    return figure, points[["benchmark", "what", "x", "y"]]
