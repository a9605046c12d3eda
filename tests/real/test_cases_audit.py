"""Shared case 06, read from its own file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mtrlib.audit.items import AuditItem, ItemSet
from mtrlib.audit.judging import Task
from mtrlib.audit.metrics import judgements
from mtrlib.audit.positions import position_statistics
from mtrlib.data.schema import Passage
from mtrlib.llm.questions import Verdict


class Fake:
    """A judge by rule."""

    metrics = frozenset({"completeness"})

    def __init__(self, name: str, pick: Callable[[list[str]], int]) -> None:
        self.name = name
        self.pick = pick

    def judge(self, tasks: list[Task]) -> list[Verdict]:
        return [Verdict(str(1 + self.pick([p.text for p in t.options]))) for t in tasks]


def test_case_06(shared_cases: Path):
    (folder,) = shared_cases.glob("06_*")
    given = json.loads((folder / "item.json").read_text(encoding="utf-8"))
    text = (folder / "expected.md").read_text(encoding="utf-8")
    expected = json.loads(re.search(r"```json\n(.*?)```", text, re.DOTALL)[1])
    passages = {i: Passage(i, body) for i, body in given["candidates"].items()}
    gold = passages.pop(given["gold"])
    item = AuditItem("q", "case", "c", 1, given["query"], (), (gold,), tuple(passages.values()))
    items = ItemSet("case", (item,), (gold, *passages.values()))
    judges = [
        Fake("always_first", lambda texts: 0),
        Fake("honest", lambda texts: texts.index(gold.text)),
    ]
    assert {j.name for j in judges} == set(given["fake_judges"])
    for judge in judges:
        table = judgements(items, judge, ["completeness"], seed=0, rotations=3)
        assert [table["value"].sum(), len(table)] == expected["rotations"][judge.name]
        for row in table.itertuples():
            assert json.loads(row.shown)[row.position - 1] == row.picked
        seeded = [
            judgements(items, judge, ["completeness"], seed=seed)["value"].item()
            for seed in range(300)
        ]
        if judge.name == "honest":
            assert sum(seeded) / 300 == expected["shuffled_300"]["honest"]
        else:
            low, high = expected["shuffled_300"]["always_first_between"]
            assert low <= sum(seeded) / 300 <= high
            assert position_statistics(table)["share"].tolist() == pytest.approx([1, 0, 0])
