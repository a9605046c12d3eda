"""Search restricted to a document."""

from __future__ import annotations

import pytest

from mtrlib.data.schema import Passage, Turn
from mtrlib.errors import InputError
from mtrlib.retrieval.search import search_view, searcher

PASSAGES = [
    Passage("a1", "the river is long", document="a"),
    Passage("a2", "the mill is old", document="a"),
    Passage("b1", "the river river river", document="b"),
]
DOCUMENTS = {p.passage_id: p.document for p in PASSAGES}


def test_a_scoped_turn_finds_passages_of_its_document_only():
    turns = [
        Turn("q1", "c", 1, "river", scope="a"),
        Turn("q2", "c", 2, "river"),
    ]
    bm25 = searcher("bm25", PASSAGES)
    run, _ = search_view(bm25, turns, "last_turn", 1, documents=DOCUMENTS)
    assert run.ids("q1") == ["a1"]
    assert run.ids("q2") == ["b1"]


def test_a_scope_without_documents_is_refused():
    bm25 = searcher("bm25", PASSAGES)
    with pytest.raises(InputError, match="the documents are not given"):
        search_view(bm25, [Turn("q1", "c", 1, "river", scope="a")], "last_turn", 1)
