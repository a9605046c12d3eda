"""What a rule may reject unread, and that readings survive a new pool."""

from __future__ import annotations

import pytest

from mtrlib.data.authored.records import Authored, load_authored
from mtrlib.data.corpus import wikipedia_passages
from mtrlib.data.schema import Passage
from mtrlib.retrieval import pool
from mtrlib.retrieval.pool import Need, Rule

PASSAGES = [
    Passage("1__0", "It melts at 28 degrees.", "Caesium"),
    Passage("1__1", "It burns.", "Caesium"),
    Passage("2__0", "Iron rusts slowly.", "Iron"),
    Passage("2__1", "Caesium is softer than iron.", "Iron"),
    Passage("2__2", "It was 28 degrees in the shade.", "Iron"),
]


def _need(gold: tuple[str, ...] = ("1__0",)) -> Need:
    return Need("mtr-mini", "c_1", {}, gold, ("28 degrees",), ("Caesium",))


@pytest.mark.parametrize(
    ("passage_id", "rejected"),
    [
        ("1__0", False),  # gold
        ("1__1", False),  # the article of the gold
        ("2__0", True),  # another article, nothing that points here
        ("2__1", False),  # names the entity
        ("2__2", False),  # holds the answer string
    ],
)
def test_the_rule(passage_id: str, rejected: bool):
    assert Rule(PASSAGES).rejects(passage_id, _need()) is rejected


def test_without_gold_everything_is_read():
    assert not any(Rule(PASSAGES).rejects(p.passage_id, _need(())) for p in PASSAGES)


def test_earlier_readings_survive_and_new_gold_is_marked(monkeypatch: pytest.MonkeyPatch):
    turn = {
        "turn_number": 1, "raw_utterance": "?", "gold": ["1__0"], "labels": [],
        "answer": "28", "answer_strings": [["28 degrees"]],
    }  # fmt: skip
    found = Authored(
        conversations=[{"conversation_id": "c", "topic_switch_turn": None, "turns": [turn]}],
        rewrites={"c_1": {"standalone": {"query": "When does Caesium melt?", "entities": []},
                          "author_voice": "x"}},
    )  # fmt: skip
    monkeypatch.setattr(pool, "pool", lambda *_: {"c_1": [p.passage_id for p in PASSAGES]})
    read = {"decision": "reject", "by": "read", "reason": "partial"}
    ((name, record),) = pool.candidates(found, PASSAGES, {"c_1": {"2__1": read}})
    rows = {row["passage_id"]: row for row in record["pooled"]}
    assert name == "mtr-mini"
    assert rows["1__0"]["decision"] == "gold"
    assert rows["2__1"] == {**read, "passage_id": "2__1"}
    assert rows["2__0"]["by"] == "other_article"
    assert rows["1__1"]["decision"] is None


@pytest.mark.slow
@pytest.mark.models
def test_a_fresh_pool_holds_no_candidate_that_nobody_judged():
    found = load_authored()
    judged = {
        q: {r["passage_id"] for r in rows} for s in found.judged.values() for q, rows in s.items()
    }
    for query_id, fresh in pool.pool(found, wikipedia_passages()).items():
        assert set(fresh) <= judged[query_id], query_id
