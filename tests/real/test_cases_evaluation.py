"""The open cases on measures (01) and rank fusion (08), read from their own files."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.jsonl import read_jsonl
from mtrlib.data.schema import Qrels, Run
from mtrlib.evaluation.evaluate import evaluate
from mtrlib.retrieval.fusion import reciprocal_rank_fusion


def expectation(folder: Path) -> dict[str, Any]:
    """The JSON block of a case's expected.md."""
    text = (folder / "expected.md").read_text(encoding="utf-8")
    found = re.search(r"```json\n(.*?)```", text, flags=re.DOTALL)
    assert found, f"{folder.name}: expected.md has no JSON block"
    return json.loads(found[1])


@pytest.fixture
def case_01(shared_cases: Path) -> Path:
    return shared_cases / "01_metrics_duplicates_missing_query"


@pytest.fixture
def case_08(shared_cases: Path) -> Path:
    return shared_cases / "08_rrf_repeated_document"


def test_case_01(case_01: Path) -> None:
    expected = expectation(case_01)
    judged: dict[str, dict[str, int]] = {}
    with (case_01 / "qrels.tsv").open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows, delimiter="\t"):
            judged.setdefault(row["query_id"], {})[row["doc_id"]] = int(row["rel"])
    rankings = {
        record["query_id"]: [(p, -float(rank)) for rank, p in enumerate(record["ranking"])]
        for _, record in read_jsonl(case_01 / "run.jsonl")
    }
    k = expected["k"]
    names = {"recall": f"Recall@{k}", "ndcg": f"nDCG@{k}", "rr": f"MRR@{k}"}
    run = Run.from_rankings("case", rankings)
    scores = evaluate(Qrels(judged), run, list(names.values()))
    assert set(scores.per_query.index) == set(expected["per_query"])
    for short, name in names.items():
        per_query = {q: values[short] for q, values in expected["per_query"].items()}
        assert scores.per_query[name].to_dict() == pytest.approx(per_query, abs=5e-7)
        assert scores.means[name] == pytest.approx(expected["mean"][short], abs=5e-7)
    for count in ("n_queries", "n_missing_from_run", "n_duplicate_rows"):
        assert scores.counts[count] == expected[count]


def test_case_08(case_08: Path) -> None:
    expected = expectation(case_08)
    given = json.loads((case_08 / "lists.json").read_text(encoding="utf-8"))
    fused = reciprocal_rank_fusion(list(given["lists"].values()), k=given["k"])
    assert dict(fused) == pytest.approx(expected["scores"], abs=5e-7)
    assert [p for p, _ in fused] == expected["order"]
    ties = list(given["tie_lists"].values())
    forth = reciprocal_rank_fusion(ties, k=given["k"])
    back = reciprocal_rank_fusion(ties[::-1], k=given["k"])
    assert len({score for _, score in forth}) == 1
    assert (forth == back) is expected["tie_order_independent_of_list_order"]
