"""The plain layout and BEIR folders as formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats import beir, conversational
from mtrlib.data.formats.conversational import read_conversational
from mtrlib.errors import InputError

FORMATS = (*conversational.FORMATS, *beir.FORMATS)


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return path


def recognised(path: Path) -> list[str]:
    return [f.name for f in FORMATS if f.recognises(path)]


TASK = {
    "task_id": "h<::>2",
    "turn": "2",
    "history": [{"speaker": "user", "content": " Hi "}, {"role": "assistant", "text": "Yes."}],
    "query": " and?",
    "gold": ["b", "a", "b"],
    "gold_by_annotator": [["b"], ["a", "b"]],
    "reference_answer": " No. ",
    "answerability": ["PARTIAL"],
    "question_type": ["Keyword"],
    "multi_turn": ["N/A"],
    "labels": [["kind", "text"], "verbose"],
}


def test_plain_records_with_tags_annotators_and_no_conversation(tmp_path: Path):
    path = lines(tmp_path / "tasks.jsonl", TASK)
    (found,) = conversational.conversations(path)
    (turn,) = found.turns
    assert (turn.query_id, turn.conversation_id, turn.turn_number) == ("h<::>2", "h<::>2", 2)
    assert (turn.raw_utterance, turn.answer) == (" and?", " No. ")
    assert [(u.role, u.text) for u in turn.history] == [("user", " Hi "), ("agent", "Yes.")]
    assert (turn.gold, turn.gold_by_annotator) == (("b", "a"), (("b",), ("a", "b")))
    assert turn.labels == ("verbose", "PARTIAL", "Keyword")
    assert turn.source == "tasks.jsonl:1"
    assert recognised(path) == ["plain-queries"]


def test_plain_single_questions(tmp_path: Path):
    path = lines(
        tmp_path / "closed_queries.jsonl",
        {"id": "-12", "query": "Q", "gold": [], "answers": ["x", "y"], "scope": "doc 1"},
        {"id": 7, "query": "R", "gold": ["p"], "history": ["a", "b"], "answers": []},
    )
    first, second = (c.turns[0] for c in conversational.conversations(path))
    assert (first.query_id, first.answer, first.scope, first.turn_number) == (
        "-12",
        "x",
        "doc 1",
        1,
    )
    assert (second.query_id, second.answer, second.turn_number) == ("7", None, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task_id": None}, ":1: no field id"),
        ({"gold_by_annotator": ["b"]}, "gold_by_annotator is no list"),
        ({"history": ["a", {"role": "user", "text": "x"}]}, "role None"),
        ({"history": [{"text": "x"}]}, "role None"),
        ({"history": [{"role": "user"}]}, "history text is None"),
        ({"gold": [1.5]}, "which is no id"),
    ],
)
def test_wrong_plain_records(tmp_path: Path, change: dict[str, Any], message: str):
    path = lines(tmp_path / "q.jsonl", TASK | change)
    with pytest.raises(InputError, match=message):
        list(conversational.conversations(path))


def test_plain_folder_keeps_one_text_under_two_ids(tmp_path: Path):
    rows = [{"id": "a", "text": "same"}, {"_id": "b", "text": "same", "title": None}]
    corpus = lines(tmp_path / "corpus.jsonl", *rows)
    lines(tmp_path / "queries.jsonl", TASK)
    benchmark = read_conversational(tmp_path)
    assert [p.passage_id for p in benchmark.passages] == ["a", "b"]
    assert not benchmark.dangling
    assert [(p.passage_id, p.source) for p in conversational.passages(tmp_path)] == [
        ("a", "corpus.jsonl:1"),
        ("b", "corpus.jsonl:2"),
    ]
    assert (recognised(tmp_path), recognised(corpus)) == (["plain"], ["plain-corpus"])


@pytest.mark.parametrize(
    ("row", "message"),
    [({"text": "x"}, "id is None"), ({"id": "a", "text": None}, ":1: passage a has no text")],
)
def test_wrong_plain_passages(tmp_path: Path, row: dict[str, Any], message: str):
    with pytest.raises(InputError, match=message):
        list(conversational.passages(lines(tmp_path / "corpus.jsonl", row)))


def test_files_of_no_such_layout_are_not_claimed(tmp_path: Path):
    (tmp_path / "corpus.jsonl").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe\x00{")
    (tmp_path / "deep.jsonl").write_text("[" * 100_000)
    lines(tmp_path / "queries.jsonl", {"_id": "1", "text": "x"})
    for path in (tmp_path, *tmp_path.iterdir(), tmp_path / "missing.jsonl"):
        assert recognised(path) == []


def beir_folder(folder: Path) -> Path:
    lines(folder / "corpus.jsonl", {"_id": "Ann Lee", "title": "", "text": "Ann likes tea."})
    rows = [{"_id": "q1", "text": "Who likes tea?"}, {"_id": "q2", "text": "Who?"}]
    lines(folder / "queries.jsonl", *rows)
    return folder


ROW = {"query-id": "q1", "corpus-id": "Ann Lee", "score": 1}


def test_beir_with_judgements_as_json_lines(tmp_path: Path):
    lines(beir_folder(tmp_path) / "qrels.jsonl", ROW)
    benchmark = beir.read_beir(tmp_path)
    assert [(t.query_id, t.gold, t.source) for t in benchmark.turns()] == [
        ("q1", ("Ann Lee",), "queries.jsonl:1")
    ]
    assert benchmark.qrels.grades("q1") == {"Ann Lee": 1}
    assert recognised(tmp_path) == ["beir"]


def test_beir_splits_lie_in_their_folder(tmp_path: Path):
    lines(beir_folder(tmp_path) / "qrels.jsonl", ROW)
    (tmp_path / "qrels").mkdir()
    lines(tmp_path / "qrels" / "dev.jsonl", ROW | {"query-id": "q2"})
    assert [c.conversation_id for c in beir.conversations(tmp_path, "dev")] == ["q2"]
    with pytest.raises(InputError, match="splits found here: dev"):
        beir.read_beir(tmp_path)


def test_beir_judgements_of_an_unknown_query(tmp_path: Path):
    lines(beir_folder(tmp_path) / "qrels.jsonl", ROW | {"query-id": "q9"})
    with pytest.raises(InputError, match=r"qrels\.jsonl: query q9 is not in queries\.jsonl"):
        beir.read_beir(tmp_path)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"_id": "q1", "text": None}, ":3: query q1 has no text"),
        ({"_id": "q1", "text": "x"}, "again"),
    ],
)
def test_wrong_beir_queries(tmp_path: Path, row: dict[str, Any], message: str):
    lines(beir_folder(tmp_path) / "qrels.jsonl", ROW)
    with (tmp_path / "queries.jsonl").open("a") as out:
        out.write(json.dumps(row) + "\n")
    with pytest.raises(InputError, match=message):
        list(beir.conversations(tmp_path))
