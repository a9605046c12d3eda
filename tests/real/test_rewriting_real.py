"""Rewriting on real records: LLM rewrites of MTRAG turns, and sampled rewrites of CAsT turns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from needed import fetched, pack

from mtrlib.data.assemble import read_parts
from mtrlib.data.formats import mtrag_retrieval
from mtrlib.data.formats.cast_rewrites import rewritten_turns, sampled_rewrites
from mtrlib.data.schema import Passage, Qrels, Turn
from mtrlib.retrieval.search import searcher
from mtrlib.rewriting.attribution import attribute
from mtrlib.rewriting.bound import oracle_bound
from mtrlib.rewriting.coreference import Coreference
from mtrlib.rewriting.decisions import decide
from mtrlib.rewriting.diversity import diverse, encoder_vectors, token_vectors
from mtrlib.rewriting.gates import Gates
from mtrlib.rewriting.harness import measured
from mtrlib.rewriting.methods import apply_method
from mtrlib.rewriting.net_benefit import net_benefit
from mtrlib.rewriting.next_step import next_step
from mtrlib.rewriting.recorded_rewriter import RecordedRewriter
from mtrlib.rewriting.remembered import remembered
from mtrlib.rewriting.truth import Truth

GATES = Gates.read()


def how(seed: int = 13):
    return {"resamples": 1000, "confidence": 0.95, "rng": np.random.default_rng(seed)}


@pytest.fixture(scope="module")
def mtrag(real_data: Path) -> tuple[list[Passage], list[Turn], Qrels]:
    """The retrieval tasks whose gold lies in the two packs' corpora, over both of them."""
    human, un = pack(real_data, "mtrag_human"), pack(real_data, "mtrag_un")
    parts = [
        *read_parts(human / "corpus.jsonl").passages,
        *read_parts(un / "corpus.jsonl").passages,
    ]
    passages = {p.passage_id: p for p in parts}
    qrels = mtrag_retrieval.qrels(human)
    tasks = [t for c in mtrag_retrieval.conversations(human) for t in c.turns]
    turns = [t for t in tasks if qrels.gold(t.query_id) and qrels.gold(t.query_id) <= set(passages)]
    return list(passages.values()), turns, qrels


def test_the_closed_queries_are_those_of_the_pack(mtrag):
    _, turns, _ = mtrag
    assert len(turns) == 179


def test_llm_rewrites_gain_on_the_last_turn(mtrag):
    passages, turns, qrels = mtrag
    bm25 = remembered(searcher("bm25", passages))
    rewrites = {t.query_id: t.rewrite for t in turns}
    bound = oracle_bound(bm25, turns, qrels, rewrites, gate=GATES.oracle, name="rewrite", **how())
    assert 100 * bound.before.mean() == pytest.approx(71, abs=3)
    assert 100 * bound.after.mean() == pytest.approx(81, abs=3)
    assert bound.points.value > 0 and bound.points.low > 0
    assert bound.tier in ("middle", "above") and bound.verdict
    assert bound.points.n == 179 and bound.n_without_gold == 0
    if bound.undecided:
        assert bound.n_needed is None or bound.n_needed > 179


def test_net_benefit_and_decision_of_the_rewrites_as_coreference(mtrag):
    passages, turns, qrels = mtrag
    records = {
        t.query_id: {"standalone": {"query": t.rewrite, "entities": [], "confidence": 0.9}}
        for t in turns
        if t.rewrite
    }
    truth = Truth(turns, qrels, {p.passage_id: p for p in passages})
    bm25 = remembered(searcher("bm25", passages))
    nets = {}
    for keep in ("always", "low_confidence", "never"):
        method = Coreference(RecordedRewriter(records), keep_original=keep)
        table = measured(apply_method(method, bm25, turns), truth)
        used = table[table["used"]]
        assert 0 < len(used) < len(turns)
        nets[keep] = net_benefit(used, truth.groups, GATES.net_benefit, **how())
        made = decide("coreference", table, truth.groups, GATES, system="bm25", **how())
        assert made.verdict in ("launch", "hold", "undecided")
        assert made.net["points"].n == len(used) and made.why and made.change
        assert (made.n_needed is not None) <= (made.verdict == "undecided")
    assert nets["never"].recall_gain > 0 and nets["always"].recall_gain > 0
    assert nets["low_confidence"] == nets["never"]  # all are confident, so all replace


def test_attribution_of_real_failures(mtrag):
    passages, turns, qrels = mtrag
    bm25 = remembered(searcher("bm25", passages))
    raw = attribute(bm25, passages, turns, qrels)
    after = attribute(bm25, passages, turns, qrels, texts={t.query_id: t.rewrite or t.raw_utterance
                                                          for t in turns})  # fmt: skip
    assert raw.n_queries == 179 and 0 < len(after.failures) < len(raw.failures)
    counts = [found.counts()["primary"] for found in (raw, after)]
    assert counts[0].sum() == len(raw.failures)
    assert counts[0]["missing_context"] > counts[1]["missing_context"]
    rewrites = {t.query_id: t.rewrite for t in turns}
    bound = oracle_bound(bm25, turns, qrels, rewrites, gate=GATES.oracle, **how())
    assert next_step(bound, raw)


@pytest.mark.parametrize("vectors", ["tokens", pytest.param("minilm", marks=pytest.mark.models)])
def test_the_diversity_filter_on_sampled_rewrites(real_data: Path, vectors: str, fresh_cache):
    folder = pack(real_data, "cast")
    raw = {
        c.conversation_id: c.turns[0].raw_utterance
        for c in rewritten_turns(folder / "rewrites_all.jsonl")
    }
    sampled = dict(sampled_rewrites(folder / "llm4cs_cast19_REW_rewrites.jsonl"))
    distinct = {q: list(dict.fromkeys(texts)) for q, texts in sampled.items()}
    own = {
        q: (raw[q], [t for t in texts if t != raw[q]]) for q, texts in distinct.items() if q in raw
    }
    assert len(own) == 479
    with fetched(vectors):
        encode = token_vectors if vectors == "tokens" else encoder_vectors(vectors)
        found = diverse(own, encode, most=GATES.multi_query.similarity_max)
    kept = [len(each.kept) for each in found.values()]
    assert len(kept) == 479
    # five samples of one rewrite are no five angles: most turns keep none or one
    assert sum(n <= 1 for n in kept) > 0.8 * 479
    assert max(kept) <= 5
