"""Baselines: MMR against four bugs seen in public, RM3 and Rocchio by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from mtrlib.data.schema import Passage
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import InputError
from mtrlib.retrieval.registry import RetrieverSpec
from mtrlib.retrieval.search import LexicalSearcher
from mtrlib.rvr.baselines import mmr_order, single_round
from mtrlib.rvr.feedback import common_terms, rm3, rm3_text, rocchio_vector

BM25 = RetrieverSpec("bm25", "lexical")


def unit(*degrees: float) -> np.ndarray:
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


QUERY = unit(0)[0]
# by falling similarity to the query: two near twins, then one on the other side, then far
CANDIDATES = unit(10, 12, -25, 60)


def test_mmr_lambda_is_not_turned_round():
    """langchain #39052: 1 is relevance, 0 diversity."""
    assert mmr_order(QUERY, CANDIDATES[[3, 1, 0, 2]], 4, 1.0) == [2, 1, 3, 0]
    assert mmr_order(QUERY, CANDIDATES, 2, 0.0) == [0, 3]


def test_mmr_lambda_counts():
    """langchain #4861: it was ignored."""
    orders = {tuple(mmr_order(QUERY, CANDIDATES, 3, x)) for x in (0.2, 0.5, 0.99)}
    assert len(orders) == 3


def test_mmr_keeps_the_order_picked():
    """langchain-azure #813: the picks came back in the order of the candidates."""
    assert mmr_order(QUERY, CANDIDATES, 3, 0.5) == [0, 2, 1]


def test_mmr_looks_at_all_picks_and_not_at_the_last_alone():
    """llama_index #22684: after a pick far away, a twin of the first pick looked new."""
    candidates = unit(10, -60, 11, 40)
    # third pick at 0.3: by the last pick (-60) row 2, a twin of row 0, would be free of penalty
    assert mmr_order(QUERY, candidates, 3, 0.3)[:2] == [0, 1]
    gain = {
        row: 0.3 * np.cos(np.radians(a)) - 0.7 * np.cos(np.radians(a - 10))
        for row, a in ((2, 11), (3, 40))
    }
    assert gain[3] > gain[2]
    assert mmr_order(QUERY, candidates, 3, 0.3)[2] == 3


def test_mmr_bounds_and_ties():
    assert mmr_order(QUERY, CANDIDATES, 99, 0.5).__len__() == 4
    assert mmr_order(QUERY, np.repeat(CANDIDATES[:1], 3, axis=0), 3, 0.5) == [0, 1, 2]
    assert mmr_order(QUERY, np.zeros((2, 2)), 1, 0.5) == [0]
    assert mmr_order(10 * QUERY, 3 * CANDIDATES, 3, 0.5) == mmr_order(QUERY, CANDIDATES, 3, 0.5)
    with pytest.raises(InputError, match=r"relevance=1\.5"):
        mmr_order(QUERY, CANDIDATES, 2, 1.5)


CORPUS = [
    Passage("1", "volcano lava lava crater"),
    Passage("2", "lava flow"),
    Passage("3", "crater lake ferry"),
    Passage("4", "ferry timetable"),
    Passage("5", "volcano"),
    Passage("6", "VOLCANO "),
]


def test_single_round_counts_a_text_under_two_ids_once():
    """As the loop does, so that both are compared on equal terms (trap 4)."""
    q = ListQuestion("q", "volcano")
    run = single_round([q], LexicalSearcher(BM25, CORPUS), {p.passage_id: p for p in CORPUS}, 2)
    assert run.ids("q") == ["6", "1"]
    assert run.system == "single(bm25)"


def test_rm3_adds_the_words_of_the_first_passages_by_weight():
    found = Counter(rm3_text("volcano", [(CORPUS[0], 1.0)], terms=2, original=0.5).split())
    # lava 2/4, crater and volcano 1/4 each: lava and crater are kept, with masses 2/3 and 1/3
    assert found == {"volcano": 50, "lava": 33, "crater": 17}
    with_lava = Counter(rm3_text("lava", [(CORPUS[0], 1.0)], terms=1, original=0.8).split())
    assert with_lava == {"lava": 100}
    stopped = rm3_text("volcano", [(CORPUS[0], 1.0)], terms=1, without=frozenset({"lava"}))
    assert "lava" not in stopped
    # scores weigh passages
    two = Counter(rm3_text("x", [(CORPUS[1], 3.0), (CORPUS[3], 1.0)], terms=4).split())
    assert two["flow"] == pytest.approx(3 * two["ferry"], abs=2)


def test_rm3_without_feedback_is_the_question():
    assert rm3_text("Volcano?", []) == "Volcano?"
    with pytest.raises(InputError, match="original=2"):
        rm3_text("q", [], original=2)


def test_rm3_finds_what_shares_no_word_with_the_question():
    q = ListQuestion("q", "volcano lava")
    searcher = LexicalSearcher(BM25, CORPUS[:4])
    assert "3" not in searcher.search({"q": q.question}, 4).ids("q")
    # in so small a corpus every repeated word is a common one; fillers make it larger
    corpus = [*CORPUS[:4], *(Passage(f"f{i}", f"filler{i}") for i in range(20))]
    found = rm3([q], LexicalSearcher(BM25, corpus), corpus, 4, feedback=1, terms=4)
    assert "3" in found.ids("q")
    assert common_terms(CORPUS, share=0.4) == {"volcano"}


def test_rm3_is_for_lexical_search():
    class Dense:
        spec = RetrieverSpec("d", "dense")

    with pytest.raises(InputError, match="d is dense"):
        rm3([], Dense(), CORPUS, 4)  # type: ignore[arg-type]


def test_rocchio_moves_the_query_and_keeps_its_length():
    query, feedback = np.array([2.0, 0.0]), [np.array([0.0, 1.0]), np.array([0.0, 3.0])]
    moved = rocchio_vector(query, feedback, original=1.0, weight=1.0)
    assert moved == pytest.approx(np.array([1, 1]) * np.sqrt(2))
    assert rocchio_vector(query, []) is query
    assert rocchio_vector(query, feedback, weight=0.0) == pytest.approx(query)
    assert rocchio_vector(query, [-query], original=1.0, weight=1.0) is query
