"""The reference judge repeats two raters, and nothing that they did not see."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mtrlib.audit.judging import NONE, Task
from mtrlib.audit.reference import NAME, ReferenceJudge, judged_items
from mtrlib.data.authored.records import Authored, load_authored
from mtrlib.data.schema import Benchmark, Conversation, Passage, Turn, Utterance

PASSAGES = tuple(Passage(f"p{i}", f"text {i}") for i in range(5))
TURNS = (
    Turn("c_1", "c", 1, "First?", gold=("p0",), answer="One."),
    Turn("c_2", "c", 2, "Second?", (Utterance("user", "First?"),), ("p1",), answer="Two."),
)
BENCHMARK = Benchmark("mtr-mini", PASSAGES, (Conversation("c", TURNS),))
AUTHORED = Authored(
    items=[
        {"item_id": "j1", "query_id": "c_1", "damage": None, "passage_id": "p0",
         "pool": ["p2", "p0", "p1"], "answer": "One."},
        {"item_id": "j2", "query_id": "c_2", "damage": "missing_gold", "passage_id": "p1",
         "pool": ["p3", "p2"], "answer": "Two."},
        {"item_id": "j3", "query_id": "c_2", "damage": "wrong_fact", "passage_id": "p1",
         "pool": ["p1", "p9"], "answer": "Three."},
    ],
    ratings=[
        {"item_id": item, "rater": rater, "metric": metric, "rating": rating}
        for item, metric, both in [
            ("j1", "query_evidence", (5, 4)),
            ("j1", "quality", (3, 3)),
            ("j1", "completeness", ("p0", "p0")),
            ("j2", "faithfulness", (1, 2)),
            ("j2", "completeness", ("none", "none")),
            ("j3", "completeness", ("p1", "none")),
        ]
        for rater, rating in zip(("first", "second"), both, strict=True)
    ],
)  # fmt: skip


@pytest.fixture(scope="module")
def made():
    return judged_items(BENCHMARK, AUTHORED)


def told(*tasks: Task) -> list:
    return ReferenceJudge(AUTHORED).judge(tasks)


def test_items_keep_turn_pool_order_and_damage(made):
    items, damage = made
    assert items.name == NAME
    first, second = items.items  # p9 of j3 is not in the corpus
    assert [p.passage_id for p in first.negatives] == ["p2", "p1"]
    assert [p.passage_id for p in second.negatives] == ["p3", "p2"]
    assert (second.question, second.history, second.turn_number) == ("Second?", TURNS[1].history, 2)
    assert (second.conversation_id, second.answer) == ("c", "Two.")
    assert damage == {"j1": "none", "j2": "missing_gold"}
    assert items.turns["j2"] is TURNS[1]


def test_ratings_are_means_of_the_two(made):
    one, two = made[0].items
    verdicts = told(
        Task("query_evidence", one, one.gold[0]),
        Task("quality", one, one.gold[0]),
        Task("faithfulness", two, two.gold[0]),
    )
    assert [v.value for v in verdicts] == [4.5, 3.0, 1.5]


def test_the_pick_is_mapped_to_the_label_shown(made):
    one = made[0].items[0]
    orders = [(PASSAGES[2], PASSAGES[0]), (PASSAGES[0], PASSAGES[1], PASSAGES[2])]
    tasks = [Task("completeness", one, options=o) for o in orders]
    assert [v.value for v in told(*tasks)] == ["2", "1"]
    (hidden,) = told(Task("completeness", one, options=PASSAGES[1:3]))
    assert hidden.reason == "not_applicable"


def test_none_holds_only_for_options_that_the_raters_saw(made):
    two = made[0].items[1]
    seen = Task("completeness", two, options=two.negatives)
    unseen = Task("completeness", two, options=(*two.gold, *two.negatives))
    first, second = told(seen, unseen)
    assert first.value == NONE
    assert second.reason == "not_applicable"


def test_raters_who_differ_are_ambiguous(made):
    item = replace(made[0].items[0], item_id="j3")
    (verdict,) = told(Task("completeness", item, options=PASSAGES[:2]))
    assert verdict.reason == "ambiguous"


def test_everything_else_is_not_applicable(made):
    one = made[0].items[0]
    verdicts = told(
        Task("atomicity", one),
        Task("faithfulness", one, one.gold[0]),  # never rated
        Task("query_evidence", one, PASSAGES[3]),  # another passage than was rated
        Task("query_evidence", replace(one, benchmark="mtr-mini"), one.gold[0]),
    )
    assert {v.reason for v in verdicts} == {"not_applicable"}


def test_the_stored_ratings_are_all_readable():
    judge = ReferenceJudge()
    records = load_authored().items
    passages = {p: Passage(p, "") for r in records for p in (r["passage_id"], *r["pool"])}
    turns = {r["query_id"]: None for r in records}
    benchmark = Benchmark(
        "mtr-mini",
        tuple(passages.values()),
        (Conversation("c", tuple(Turn(q, "c", n, "?") for n, q in enumerate(turns, 1))),),
    )
    items, damage = judged_items(benchmark)
    assert len(items.items) == 160
    assert list(damage.values()).count("none") == 120
    tasks = [Task(m, i, i.gold[0]) for i in items.items for m in
             ("query_evidence", "faithfulness", "quality")]  # fmt: skip
    assert all(1 <= v.value <= 5 for v in judge.judge(tasks))
