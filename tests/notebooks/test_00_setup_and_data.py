"""What notebook 00 saved: the counts of the cards."""

from __future__ import annotations

import re

from mtrlib import paths
from mtrlib.reporting import results


def test_headings_counts_equal_its_card():
    table = results.load("t00_benchmarks", paths.results())[0].set_index("benchmark")
    row = table.loc["headings"]
    card = (paths.root() / "data" / "cards" / "headings.md").read_text(encoding="utf-8")
    conversations, turns = re.search(r"(\d+) conversations, (\d+) turns", card).groups()
    assert (row["conversations"], row["turns"]) == (int(conversations), int(turns))
    corpus = (paths.root() / "data" / "cards" / "enwiki-2016.md").read_text(encoding="utf-8")
    passages = re.search(r"([\d,]+) passages", corpus)[1].replace(",", "")
    assert row["passages"] == int(passages)


def test_figures_have_their_points():
    for name in ("fig00_corpus_shape", "fig00_turn_shape"):
        assert (paths.figures() / f"{name}.png").is_file()
        assert (paths.figures() / f"{name}.csv").stat().st_size > 100
