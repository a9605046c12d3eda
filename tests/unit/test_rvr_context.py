"""The query with context: one format, the question whole, documents trimmed evenly."""

from __future__ import annotations

import pytest

from mtrlib.data.schema import Passage
from mtrlib.errors import InputError
from mtrlib.rvr.context import ContextQuery, passage_key, query_with_context

ISLE = Passage("1", "one two three four five six", "Isle")
LAKE = Passage("2", "a b\n c", "Lake Como")
QUESTION = "Which waters?"


def count(text: str) -> int:
    return len(text.split())


def cut(text: str, budget: int) -> str:
    return " ".join(text.split()[:budget])


def built(passages: list[Passage], budget: int | None) -> ContextQuery:
    return query_with_context(QUESTION, passages, budget=budget, count_tokens=count, cut=cut)


def test_the_format_to_the_letter():
    """Trap 6: labels and spaces are part of what a retriever learns."""
    assert built([ISLE, LAKE], None).text == (
        "Question: Which waters?\n\nDocuments: Isle one two three four five six\nLake Como a b c"
    )


@pytest.mark.parametrize("budget", [None, 1, 100])
def test_no_context_is_the_bare_question(budget):
    """Trap 5: m = 0 in training, nothing verified, and the first round: one string."""
    found = built([], budget)
    assert (found.text, found.passages) == (QUESTION, 0)


def test_texts_are_cut_to_one_length_and_all_titles_stay():
    """Trap 7: cutting the right end would drop the lake."""
    whole = count(built([ISLE, LAKE], None).text)
    found = built([ISLE, LAKE], whole - 2)
    assert found.text.endswith("Documents: Isle one two three four\nLake Como a b c")
    assert (found.tokens, found.trimmed, found.dropped) == (whole - 2, 1, 0)
    found = built([ISLE, LAKE], whole - 5)
    assert found.text.endswith("Documents: Isle one two\nLake Como a b")
    assert found.trimmed == 2
    titles_only = built([ISLE, LAKE], whole - 9)
    assert titles_only.text.endswith("Documents: Isle\nLake Como")
    assert titles_only.passages == 2


def test_passages_whose_titles_do_not_fit_are_dropped_from_the_end_and_counted():
    whole = count(built([ISLE, LAKE], None).text)
    found = built([ISLE, LAKE], whole - 10)
    assert "Lake" not in found.text
    assert QUESTION in found.text
    assert (found.passages, found.dropped) == (1, 1)
    bare = built([ISLE, LAKE], 2)
    assert (bare.text, bare.dropped, bare.question_exceeds) == (QUESTION, 2, False)
    assert built([ISLE], 1).question_exceeds


def test_order_is_that_of_the_passages():
    """Trap 8: rank order at inference is the caller's; nothing is sorted here."""
    assert built([LAKE, ISLE], None).text.index("Lake") < built([LAKE, ISLE], None).text.index(
        "Isle"
    )


def test_a_budget_needs_the_encoders_own_count():
    with pytest.raises(InputError, match="TokenCounter"):
        query_with_context(QUESTION, [ISLE], budget=10)


def test_the_key_sees_through_case_space_and_width():
    """Trap 4: one text under two ids is one passage."""
    other = Passage("7", "ONE two\tthree four  ﬁve six", "isle")
    assert passage_key(other) == passage_key(ISLE)
    assert passage_key(LAKE) != passage_key(ISLE)
