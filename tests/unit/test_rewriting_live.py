"""Coreference and multi-query over the real local server: five turns, whatever it answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtrlib.data.schema import Passage, Qrels, Turn, Utterance
from mtrlib.llm.client import Client
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.store import ReplyStore
from mtrlib.retrieval.search import searcher
from mtrlib.rewriting.chain import Chain
from mtrlib.rewriting.coreference import Coreference
from mtrlib.rewriting.costs import cost_table
from mtrlib.rewriting.diversity import token_vectors
from mtrlib.rewriting.harness import measured
from mtrlib.rewriting.llm_rewriter import LlmRewriter
from mtrlib.rewriting.methods import apply_method
from mtrlib.rewriting.multi_query import MultiQuery
from mtrlib.rewriting.truth import Truth

pytestmark = [pytest.mark.models, pytest.mark.slow]

FACTS = {
    "bridge": ("Arlen Bridge", "The stone bridge of Arlen was opened in 1932 by Otto Brandt."),
    "mill": ("Arlen Mill", "The mill of Arlen ground rye until the great flood of 1954."),
    "ferry": ("Arlen Ferry", "The ferry of Arlen crosses the river Orl every hour in summer."),
    "saffron": ("Saffron", "Saffron is picked by hand in autumn; 150 flowers give one gram."),
    "gateway": ("网关手册", "网关的流量控制阈值在策略页面设置，默认每秒一百次。"),
}
CORPUS = [Passage(name, text, title) for name, (title, text) in FACTS.items()]
BRIDGE = (Utterance("user", "Tell me about Arlen Bridge."), Utterance("agent", "It is of stone."))
GATEWAY = (Utterance("user", "网关支持限流吗"), Utterance("agent", "支持。"))
TURNS = [
    Turn("c1_2", "c1", 2, "When was it opened?", BRIDGE, ("bridge",)),
    Turn("c1_3", "c1", 3, "And who opened it?", BRIDGE, ("bridge",)),
    Turn("c2_1", "c2", 1, "How long did the mill of Arlen work?", (), ("mill",)),
    Turn("c3_1", "c3", 1, "How is saffron harvested?", (), ("saffron",)),
    Turn("c4_2", "c4", 2, "它的默认值是多少", GATEWAY, ("gateway",)),
]
QRELS = Qrels({t.query_id: dict.fromkeys(t.gold, 1) for t in TURNS})


def run(url: str, store: Path, *, replay_only: bool = False):
    endpoint = Endpoint("live", model="smollm2", model_alias="smollm2", base_url=url,
                        dialect="chat", concurrency=2, timeout_s=180, max_tokens=24)  # fmt: skip
    client = Client(endpoint, ReplyStore(store), replay_only=replay_only)
    rewriter = LlmRewriter(client)
    chain = Chain((Coreference(rewriter), MultiQuery(rewriter, token_vectors)))
    return apply_method(chain, searcher("bm25", CORPUS), TURNS), client


def test_five_turns_run_end_to_end_and_failures_fall_back(llm_url: str, tmp_path: Path):
    store = tmp_path / "replies.jsonl"
    applied, client = run(llm_url, store)
    assert client.usage.calls >= 3 + 5 and client.usage.failed == 0
    for turn in TURNS:
        plan = applied.plans[turn.query_id]
        reference, variants = (plan.notes["parts"][n] for n in ("coreference", "multi_query"))
        assert bool(turn.history) == (reference.off != "no history")
        assert variants.calls >= 1 and variants.wanted == 3
        assert all(path.text.strip() for path in plan.paths)
        if not plan.paths:  # nothing usable: the original alone, and the reason
            assert plan.failed or plan.off
            assert applied.run.ids(turn.query_id) == applied.before.ids(turn.query_id)
    costs = cost_table({"chain": applied}).iloc[0]
    failed = sum(bool(p.failed) for p in applied.plans.values())
    assert (costs["queries"], costs["fell_back"]) == (5, failed)
    assert costs["calls"] >= 8 / 5 and costs["rewrite_seconds"] > 0
    table = measured(applied, Truth(TURNS, QRELS, {p.passage_id: p for p in CORPUS}))
    assert len(table) == 5 and table["recall_after"].between(0, 1).all()

    again, replayed = run("http://127.0.0.1:9/v1", store, replay_only=True)
    assert replayed.usage.calls == 0
    assert again.run == applied.run
