"""The open cases on rewriting (07) and on rank fusion inside a method (08), from their files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from listed_searcher import Lists

from mtrlib.data.jsonl import read_jsonl
from mtrlib.data.schema import Turn
from mtrlib.rewriting.hyde import Hyde
from mtrlib.rewriting.methods import apply_method
from mtrlib.rewriting.multi_query import MultiQuery
from mtrlib.rewriting.rewrites import Rewrite
from mtrlib.rewriting.variant_list import read_variants


class Says:
    name = "says"

    def __init__(self, *texts, wanted=1):
        self.texts = texts
        self.wanted = wanted
        self.asked = []

    def rewrite(self, kind, tasks):
        self.asked += [t.query_id for t in tasks]
        return [Rewrite(t.query_id, self.texts, self.wanted, calls=1) for t in tasks]


def expectation(folder: Path) -> dict[str, Any]:
    text = (folder / "expected.md").read_text(encoding="utf-8")
    return json.loads(re.search(r"```json\n(.*?)```", text, re.DOTALL)[1])


@pytest.fixture
def case_07(shared_cases: Path) -> Path:
    return shared_cases / "07_rewrite_multi_query_and_hyde_gate"


def test_case_07_multi_query(case_07: Path) -> None:
    expected = expectation(case_07)
    given = json.loads((case_07 / "multi_query.json").read_text(encoding="utf-8"))
    found = read_variants(given["reply"], given["query"], given["n_variants_wanted"])
    assert list(found.variants) == expected["variants"]
    search = Lists({})
    method = MultiQuery(Says(*found.variants, wanted=found.wanted), None)
    run = apply_method(method, search, [Turn("q", "c", 1, given["query"])])
    assert sum(map(len, search.calls)) == expected["n_searches"]
    assert given["query"] in search.calls[0].values()
    row = run.cases().loc["q"]
    assert (row["wanted"], row["got"]) == (given["n_variants_wanted"], len(expected["variants"]))


def test_case_07_hyde_gate(case_07: Path) -> None:
    expected = expectation(case_07)
    turns = [
        Turn(record["id"], record["id"], 1, record["query"])
        for _, record in read_jsonl(case_07 / "hyde_gate.jsonl")
    ]
    search, rewriter = Lists({}), Says("一段假设的答案")
    run = apply_method(Hyde(rewriter), search, turns)
    assert {q: bool(p.paths) for q, p in run.plans.items()} == expected["hyde"]
    for query_id, calls in expected["hyde_calls"].items():
        plan = run.plans[query_id]
        assert (plan.calls, bool(plan.off)) == (calls, True)
        assert query_id not in rewriter.asked
    searched = [text for call in search.calls for text in call.values()]
    assert {t.raw_utterance for t in turns} <= set(searched)


def test_case_08_in_a_method(shared_cases: Path) -> None:
    folder = shared_cases / "08_rrf_repeated_document"
    expected = expectation(folder)
    given = json.loads((folder / "lists.json").read_text(encoding="utf-8"))
    turns = [Turn("q", "c", 1, "original")]
    others = [name for name in given["lists"] if name != "original"]
    run = apply_method(MultiQuery(Says(*others), None), Lists(given["lists"]), turns)
    assert run.run.ids("q") == expected["order"]
    orders = set()
    for names in (("A", "B"), ("B", "A")):
        method = MultiQuery(Says(*names), None)
        orders.add(tuple(apply_method(method, Lists(given["tie_lists"]), turns).run.ids("q")))
    assert (len(orders) == 1) is expected["tie_order_independent_of_list_order"]
