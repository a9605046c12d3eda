"""The shipped slice is frozen: authored data points at these ids and texts."""

from __future__ import annotations

import pytest
from needed import fetched

from mtrlib.data.corpus import articles, whole_articles, wikipedia_passages
from mtrlib.data.headings import headings_benchmark
from mtrlib.data.schema import corpus_digest

# whoever changes the passages moves what authored data points at
SLICE_DIGEST = "a478721a82ab77659a8707b973b693b7cfa52f8f204ae7b136b4a803a1f67f9e"


@pytest.fixture(scope="module")
def passages():
    with fetched("the corpus"):
        return wikipedia_passages()


def test_digest_and_counts(passages):
    assert corpus_digest(passages) == SLICE_DIGEST
    assert len(passages) == 4683
    assert len(list(articles(passages))) == 106


def test_first_middle_last_record(passages):
    picked = [passages[0], passages[2341], passages[-1]]
    assert [(p.passage_id, p.title) for p in picked] == [
        ("12__0", "Anarchism"),
        ("655__7", "Abacus"),
        ("775__91", "Algorithm"),
    ]


def test_lengths_are_about_a_hundred_words(passages):
    words = [len(p.text.split()) for p in passages]
    assert 90 < sum(words) / len(words) < 100
    assert max(words) < 200


def test_no_markup_survives(passages):
    for mark in ("{{", "}}", "[[", "]]", "<ref", "''", "\ue001"):
        assert not [p.passage_id for p in passages if mark in p.text], mark


def test_smoke_slice_holds_whole_articles(passages):
    cut = whole_articles(passages, 300)
    assert 250 <= len(cut) <= 300
    full = dict(articles(passages))
    assert all(full[page_id] == group for page_id, group in articles(cut))


def test_headings_benchmark(passages):
    benchmark = headings_benchmark(passages)
    assert len(benchmark.conversations) == 100
    assert sum(1 for _ in benchmark.turns()) == 742
    assert not benchmark.dangling
    by_id = {p.passage_id: p for p in passages}
    for turn in benchmark.turns():
        assert len({by_id[g].section for g in turn.gold}) == 1
        assert len(turn.history) == 2 * (turn.turn_number - 1)
