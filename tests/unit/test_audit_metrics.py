"""Tasks of each metric, and how verdicts become rows."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import pandas as pd
import pytest

from mtrlib.audit.items import AuditItem, ItemSet
from mtrlib.audit.judging import METRICS, SWITCHED_OFF, Task
from mtrlib.audit.metrics import judgements, left_out, tasks
from mtrlib.data.schema import Passage
from mtrlib.errors import InputError
from mtrlib.llm.questions import Verdict

G1, G2 = Passage("g1", "gold one"), Passage("g 2", "黄金二")
N1, N2 = Passage("n1", "other one"), Passage("n2", "别的二")
ITEMS = ItemSet(
    "set",
    (
        AuditItem("i1", "set", "c1", 1, "first?", (), (G1, G2), (N1, N2), "an answer"),
        AuditItem("i2", "set", "c1", 2, "第二个问题？", (), (G1,), (N1,), None),
        AuditItem("i3", "set", "c2", 1, "third?", (), (G2,), (), "  "),
        AuditItem("i4", "set", "c2", 2, "fourth?", (), (G1,), (Passage("x", "Gold ONE"),), "yes"),
    ),
    (G1, G2, N1, N2),
)


class Fake:
    """Says what a function of the task says."""

    def __init__(self, say: Callable[[Task], Verdict], metrics=(*METRICS, *SWITCHED_OFF)) -> None:
        self.name = "fake"
        self.say = say
        self.metrics = frozenset(metrics)
        self.asked: list[str] = []

    def judge(self, tasks: list[Task]) -> list[Verdict]:
        self.asked += [t.metric for t in tasks]
        return [self.say(t) for t in tasks]


def told(value: float | str, metric: str, **probabilities: float) -> pd.DataFrame:
    judge = Fake(lambda task: Verdict(value, probabilities=probabilities))
    return judgements(ITEMS, judge, [metric], seed=1)


def asked(metric: str, **how: int) -> list[tuple[str, str | None]]:
    return [
        (t.item.item_id, t.passage.passage_id if t.passage else None)
        for t in tasks(ITEMS, metric, "fake", seed=1, **how)
    ]


def test_tasks_per_gold_passage_and_per_item() -> None:
    assert asked("query_evidence") == [
        ("i1", "g1"), ("i1", "g 2"), ("i2", "g1"), ("i3", "g 2"), ("i4", "g1"),
    ]  # fmt: skip
    assert asked("faithfulness") == [("i1", "g1"), ("i1", "g 2"), ("i4", "g1")]
    assert asked("quality") == [("i1", "g1"), ("i4", "g1")]
    assert asked("atomicity") == [(f"i{n}", None) for n in range(1, 5)]
    assert asked("completeness") == [("i1", None), ("i2", None)]


def test_rotations_stop_where_they_would_repeat() -> None:
    found = tasks(ITEMS, "completeness", "fake", seed=1, rotations=3)
    assert [(t.item.item_id, t.rotation) for t in found] == [
        ("i1", 0), ("i1", 1), ("i1", 2), ("i2", 0), ("i2", 1),
    ]  # fmt: skip
    assert len({t.options for t in found}) == 5


def test_what_gives_no_task_is_counted() -> None:
    found = left_out(ITEMS).set_index(["metric", "reason"])["n_items"].to_dict()
    assert found == {
        ("completeness", "no hard negative"): 1,
        ("completeness", "every hard negative copies gold"): 1,
        ("faithfulness", "no answer"): 2,
        ("quality", "no answer"): 2,
    }


def test_a_label_is_mapped_back_through_the_order_shown() -> None:
    table = judgements(
        ITEMS, Fake(lambda task: Verdict("2")), ["completeness"], seed=1, rotations=9
    )
    assert len(table) == 4 + 2
    for row in table.itertuples():
        assert json.loads(row.shown)[1] == row.picked
        assert row.position == 2
        assert row.value == (row.picked in ("g1", "g 2"))
        assert row.outcome == ("gold" if row.value else "other")


def test_any_gold_is_gold_and_every_rotation_is_counted() -> None:
    table = judgements(
        ITEMS, Fake(lambda task: Verdict("1")), ["completeness"], seed=1, rotations=9
    )
    by_item = table.groupby("item_id")["value"].agg(["sum", "size"])
    assert by_item.loc["i1"].tolist() == [2, 4]
    assert by_item.loc["i2"].tolist() == [1, 2]
    assert table.loc[table["item_id"].eq("i1"), ["n_options", "n_gold"]].drop_duplicates(
    ).to_numpy().tolist() == [[4, 2]]  # fmt: skip


def test_none_is_a_miss_without_a_position() -> None:
    table = told("none", "completeness")
    assert table["value"].tolist() == [0, 0]
    assert set(table["outcome"]) == {"none"}
    assert table["position"].isna().all()


@pytest.mark.parametrize("label", ["5", "0", "-1", "01", "", "gold"])
def test_a_label_that_was_not_shown_is_missing(label) -> None:
    table = told(label, "completeness")
    assert table["value"].isna().all()
    assert set(table["reason"]) == {"out_of_range"}
    assert set(table["outcome"]) == {""}


@pytest.mark.parametrize("value", [0, 6, math.nan, math.inf, "4"])
def test_a_number_off_the_scale_is_missing(value) -> None:
    table = told(value, "quality")
    assert table["value"].isna().all()
    assert set(table["reason"]) == {"out_of_range"}


def test_scales_of_the_metrics_differ() -> None:
    assert told(5, "quality")["value"].tolist() == [5, 5]
    assert told(0.0, "atomicity")["value"].tolist() == [0] * 4
    assert told(5, "atomicity")["value"].isna().all()


def test_probabilities_are_of_yes_or_of_the_pick() -> None:
    assert told(4, "query_evidence", yes=0.8, no=0.2)["probability"].tolist() == [0.8] * 5
    picked = told("1", "completeness", **{"1": 0.6, "2": 0.4})
    assert picked["probability"].tolist() == [0.6, 0.6]
    assert told(4, "query_evidence")["probability"].isna().all()


def test_missing_verdicts_keep_their_reason() -> None:
    judge = Fake(lambda task: Verdict.missing("failed"))
    table = judgements(ITEMS, judge, seed=1)
    assert table["value"].isna().all()
    assert set(table["reason"]) == {"failed"}
    assert table.loc[table["metric"].eq("completeness"), "shown"].str.startswith("[").all()


def test_metrics_of_no_use_to_a_judge_are_not_asked() -> None:
    judge = Fake(lambda task: Verdict(3), metrics=("query_evidence",))
    table = judgements(ITEMS, judge, ["query_evidence", "quality"], seed=1)
    assert set(judge.asked) == {"query_evidence"}
    reasons = table.groupby("metric")["reason"].agg(set).to_dict()
    assert reasons == {"query_evidence": {""}, "quality": {"not_applicable"}}


def test_the_switched_off_metrics_are_asked_only_by_name() -> None:
    judge = Fake(lambda task: Verdict.missing("empty"))
    judgements(ITEMS, judge, seed=1)
    assert set(judge.asked) == set(METRICS)


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(InputError, match="'truth' is unknown"):
        tasks(ITEMS, "truth", "fake", seed=1)
    with pytest.raises(InputError, match="rotations=0"):
        tasks(ITEMS, "completeness", "fake", seed=1, rotations=0)
    lazy = Fake(lambda task: Verdict(3))
    lazy.judge = lambda tasks: []
    with pytest.raises(InputError, match="judge fake: 0 verdicts for 2 tasks of set"):
        judgements(ITEMS, lazy, ["quality"], seed=1)


def test_nothing_to_ask_gives_an_empty_table() -> None:
    table = judgements(ItemSet("set", (), ()), Fake(lambda task: Verdict(3)), seed=1)
    assert table.empty
    assert "position" in table
