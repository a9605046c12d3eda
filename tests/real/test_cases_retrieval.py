"""Shared cases 02, 03, 10 and 11 (points 1 and 2), read from their own files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from mtrlib.data.formats.corpus_jsonl import read_corpus
from mtrlib.data.formats.trec import read_qrels, read_run
from mtrlib.data.jsonl import read_jsonl
from mtrlib.data.schema import Benchmark, Conversation, Passage, Turn, Utterance
from mtrlib.errors import InputError
from mtrlib.evaluation.evaluate import evaluate
from mtrlib.retrieval.index import DenseIndex
from mtrlib.retrieval.lexical import Bm25
from mtrlib.retrieval.query_text import query_text


def _case(cases: Path, number: str) -> tuple[Path, dict]:
    (folder,) = cases.glob(f"{number}_*")
    text = (folder / "expected.md").read_text(encoding="utf-8")
    return folder, json.loads(re.search(r"```json\n(.*?)```", text, re.DOTALL)[1])


def test_case_02(shared_cases: Path):
    folder, expected = _case(shared_cases, "02")
    passages = read_corpus(folder / "corpus.jsonl")
    qrels = read_qrels(folder / "qrels.tsv")
    run = read_run(folder / "run.tsv")
    assert [p.passage_id for p in passages] == expected["corpus_ids"]
    assert list(qrels) == expected["query_ids"]
    turns = tuple(Conversation(q, (Turn(q, q, 1, "?"),)) for q in qrels)
    with pytest.warns(UserWarning, match="query 02: passage 0999"):
        benchmark = Benchmark("case", passages, turns, qrels)
    assert [list(pair) for pair in benchmark.dangling] == expected["dangling"]
    scores = evaluate(qrels, run, ["Recall@1", "Recall@20"]).per_query
    assert scores.loc["01", "Recall@1"] == expected["recall_at_1"]["01"]
    assert scores.loc["02", "Recall@20"] == expected["recall_at_20_if_kept"]["02"]


@pytest.mark.parametrize("backend", ["numpy", "faiss"])
def test_case_03(shared_cases: Path, backend: str):
    folder, expected = _case(shared_cases, "03")
    given = json.loads((folder / "vectors.json").read_text(encoding="utf-8"))
    vectors = np.array(list(given["docs"].values()), dtype=np.float32)
    index = DenseIndex(given["docs"], vectors, similarity=given["similarity"], backend=backend)
    queries = given["queries"]
    found = index.search({"q1": queries["q1"]}, given["k"]).rankings["q1"]
    assert [p for p, _ in found] == [p for p, _ in expected["q1"]]
    assert [s for _, s in found] == pytest.approx([s for _, s in expected["q1"]], abs=1e-6)
    with pytest.raises(InputError, match=r"q2 has 3 .* 2"):
        index.search({"q2": queries["q2"]}, given["k"])
    with pytest.warns(UserWarning, match="q3"):
        assert index.search({"q3": queries["q3"]}, given["k"]).rankings["q3"] == ()


def test_case_10(shared_cases: Path):
    folder, expected = _case(shared_cases, "10")
    given = json.loads((folder / "conversation.json").read_text(encoding="utf-8"))

    def count(text: str) -> int:
        return len(re.findall(r"[\u4e00-\u9fff]|[A-Za-z0-9]+", text))

    roles = {"user": "user", "assistant": "agent"}
    history = tuple(Utterance(roles[u["role"]], u["text"]) for u in given["history"])
    turn = Turn("q", "c", 3, given["current"], history)
    assert count(turn.raw_utterance) == expected["current_tokens"]
    assert count(query_text(turn, "full_history").text) == expected["total_tokens_untruncated"]
    built = query_text(turn, "full_history", budget=given["budget"], count_tokens=count)
    assert expected["must_contain"] in built.text
    assert count(built.text) <= expected["budget"]
    assert built.truncated is expected["truncated"]


def test_case_11_search(shared_cases: Path):
    folder, expected = _case(shared_cases, "11")
    passages = [Passage(r["id"], r["text"]) for _, r in read_jsonl(folder / "docs.jsonl")]
    queries = {r["id"]: r["text"] for _, r in read_jsonl(folder / "queries.jsonl")}
    run = Bm25(passages).search(queries, depth=20)
    for query_id, top in expected["top"].items():
        assert set(run.ids(query_id, len(top))) == set(top)
        assert not set(run.ids(query_id)) & set(expected["never"])
        assert all(score > 0 for _, score in run.rankings[query_id])
