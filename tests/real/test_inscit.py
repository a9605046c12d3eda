"""The four retrievers on INSCIT dev (closed set): last turn, queries with gold."""

from __future__ import annotations

from pathlib import Path

import pytest
from needed import fetched, pack

from mtrlib import profiles
from mtrlib.data.benchmarks import load_benchmark
from mtrlib.data.schema import Benchmark
from mtrlib.evaluation.evaluate import evaluate
from mtrlib.retrieval.search import search_view, searcher


@pytest.fixture(scope="module")
def inscit(real_data: Path) -> Benchmark:
    return load_benchmark(str(pack(real_data, "inscit")), profiles.load("default"))


def test_counts_as_the_pack_says(inscit: Benchmark):
    turns = list(inscit.turns())
    assert len(inscit.passages) == 996
    assert len(inscit.conversations) == 86
    assert len(turns) == 502
    assert sum(bool(t.gold) for t in turns) == 485
    assert sum(len(t.gold) for t in turns) == 1118
    assert not inscit.dangling


@pytest.mark.models
@pytest.mark.parametrize(
    ("retriever", "least"),
    [("bm25", 0.84), ("static-256", 0.90), ("splade-tiny", 0.92), ("minilm", 0.93)],
)
def test_recall_at_20_of_the_last_turn(inscit: Benchmark, retriever: str, least: float):
    with fetched(retriever):
        found = searcher(retriever, inscit.passages)
    run, _ = search_view(found, list(inscit.turns()), "last_turn", 100)
    scores = evaluate(inscit.qrels, run, ["Recall@20"])
    assert scores.n_queries == 485
    assert scores.n_without_gold == 17
    assert scores.means["Recall@20"] >= least


def test_whole_history_pulls_old_passages_up(inscit: Benchmark):
    bm25 = searcher("bm25", inscit.passages)
    turns = list(inscit.turns())
    recall = {
        view: evaluate(inscit.qrels, search_view(bm25, turns, view, 100)[0], ["Recall@5"]).means
        for view in ("last_turn", "user_turns", "full_history")
    }
    last_turn, user_turns, full_history = (means["Recall@5"] for means in recall.values())
    assert last_turn > user_turns + 0.08
    assert user_turns > full_history + 0.05
