"""Figures of notebook 00: the shape of the corpus and of the turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from mtrlib.reporting.plots import PALETTE, house_style, system_styles

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    styles = system_styles(list(dict.fromkeys(turns["benchmark"])))
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
