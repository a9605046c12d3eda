"""The second annotator hidden: nothing of what is hidden may reach the candidates by itself."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mtrlib.audit.items import audit_items
from mtrlib.audit.judging import Task
from mtrlib.data.schema import Benchmark, Conversation, Passage, Turn
from mtrlib.reporting.real_inscit import Pools, hidden_annotator


def _turn(n: int, first: tuple[str, ...], second: tuple[str, ...]) -> Turn:
    gold = tuple(dict.fromkeys(first + second))
    return Turn(f"t{n}", f"c{n}", 1, "why?", gold=gold, gold_by_annotator=(first, second))


@pytest.fixture
def pools() -> Pools:
    passages = {p: Passage(p, p) for p in "abcdef"}
    turns = (_turn(1, ("a",), ("a", "b", "c")), _turn(2, ("d",), ("e",)), _turn(3, ("a",), ()))
    conversations = tuple(Conversation(t.conversation_id, (t,)) for t in turns)
    benchmark = Benchmark("inscit", tuple(passages.values()), conversations)
    items = audit_items(benchmark)
    # a retriever finds b, e and f, but not c
    rows = [
        ("t1", "c1", "a", True, False, False),
        ("t1", "c1", "b", True, True, False),
        ("t1", "c1", "c", True, False, False),
        ("t1", "c1", "f", False, True, True),
        ("t2", "c2", "d", True, True, False),
        ("t2", "c2", "e", True, True, False),
        ("t3", "c3", "a", True, True, False),
        ("t3", "c3", "b", False, True, True),
    ]
    columns = ["item_id", "conversation_id", "passage_id", "gold", "found", "hard"]
    table = pd.DataFrame(rows, columns=columns)
    table.insert(0, "set", "inscit")
    by_id = {item.item_id: item for item in items.items}
    tasks = tuple(Task("query_evidence", by_id[q], passages[p]) for q, _, p, *_ in rows)
    return Pools(benchmark, items, tasks, table)


def test_hidden_gold_that_no_retriever_finds_stays_out_of_reach(pools: Pools):
    p = np.array([0.9, 0.8, 1.0, 0.1, 0.9, 0.7, 0.9, 0.99])
    said = pd.DataFrame({"score": np.nan, "probability": p})
    found = hidden_annotator(pools, {"judge": said}, 0.95)
    whole = found.iloc[-1]
    assert whole["n_turns"] == 2  # the third has one annotator who marked nothing
    assert whole["n_hidden"] == 3  # b, c and e
    assert whole["n_hidden_found"] == 2
    assert whole["n"] == 3  # b, e and f; c would lead the list
    assert whole["n_found"] == 2
    assert whole["recall"] == pytest.approx(2 / 3)
    assert whole["base_rate"] == pytest.approx(2 / 3)


def test_hard_pairs_are_gold_and_the_first_unmarked_one(pools: Pools):
    hard = pools.rated(hard=True)
    assert len(hard.tasks) == len(pools.tasks) == 8
    assert hard.people["gold"].tolist() == [1, 1, 1, 0, 1, 1, 1, 0]
    assert [t.passage.passage_id for t in hard.tasks if t.passage] == list("abcfdeab")
    assert hard.people.loc["t3 b", "group"] == "c3"
