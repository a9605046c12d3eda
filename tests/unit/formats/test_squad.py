"""SQuAD and its kin, DROP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats.squad import (
    FORMAT,
    FORMAT_DROP,
    read_conversations,
    read_drop_conversations,
    read_drop_passages,
    read_passages,
)
from mtrlib.errors import InputError


def write(folder: Path, value: Any) -> Path:
    path = folder / "s.json"
    path.write_text(json.dumps(value, ensure_ascii=False))
    return path


def squad(**paragraph: Any) -> dict[str, Any]:
    qa = {"id": "q1", "question": "Who?", "answers": [{"text": "A fox", "answer_start": 99}]}
    return {
        "data": [{"title": "Fox", "paragraphs": [{"context": "A fox.", "qas": [qa]} | paragraph]}]
    }


def test_squad(tmp_path: Path):
    path = write(tmp_path, squad())
    (passage,) = read_passages(path)
    assert (passage.passage_id, passage.text, passage.document) == ("Fox#0", "A fox.", "Fox")
    assert passage.source == "s.json#data/0/0"
    ((found,),) = (c.turns for c in read_conversations(path))
    assert (found.query_id, found.gold, found.answer) == ("q1", ("Fox#0",), "A fox")
    assert FORMAT.recognises(path)
    assert not FORMAT_DROP.recognises(path)


@pytest.mark.parametrize("name", ["context_id", "id"])
def test_ids_of_paragraphs(tmp_path: Path, name: str):
    path = write(tmp_path, squad(**{name: 5}))
    assert [p.passage_id for p in read_passages(path)] == ["5"]


def test_unanswerable_questions_have_no_gold(tmp_path: Path):
    qa = {"id": "q", "question": "Why?", "answers": [], "is_impossible": True}
    ((found,),) = (c.turns for c in read_conversations(write(tmp_path, squad(qas=[qa]))))
    assert (found.gold, found.answer, found.labels) == ((), None, ("unanswerable",))


def test_flat_layout_of_cmrc(tmp_path: Path):
    qa = {"query_id": "D_0_Q_0", "query_text": "谁?", "answers": ["狐狸", "狐"]}
    record = {"context_id": "D_0", "context_text": "狐狸在此。", "qas": [qa], "title": "狐"}
    path = write(tmp_path, [record])
    assert [(p.passage_id, p.text) for p in read_passages(path)] == [("D_0", "狐狸在此。")]
    ((found,),) = (c.turns for c in read_conversations(path))
    assert (found.query_id, found.gold, found.answer) == ("D_0_Q_0", ("D_0",), "狐狸")
    path.write_text(json.dumps(record, ensure_ascii=False))
    assert FORMAT.recognises(path)


def test_what_is_no_squad(tmp_path: Path):
    with pytest.raises(InputError, match=r"s\.json#data/0/0: no field 'context_text'"):
        list(read_passages(write(tmp_path, {"data": [{"paragraphs": [{"qas": []}]}]})))
    bare = {"data": [{"paragraphs": [{"context": "x", "qas": []}]}]}
    with pytest.raises(InputError, match="a paragraph without id in an article without title"):
        list(read_passages(write(tmp_path, bare)))
    quac = squad()
    quac["data"][0]["paragraphs"][0]["qas"][0]["followup"] = "y"
    assert not FORMAT.recognises(write(tmp_path, quac))


def drop(answer: dict[str, Any]) -> dict[str, Any]:
    pair = {"query_id": "u-1", "question": "How many?", "answer": answer}
    return {"nfl_1": {"passage": "Two goals.", "qa_pairs": [pair]}}


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"number": "2", "spans": [], "date": {}}, "2"),
        ({"number": "", "spans": ["A", "B"], "date": {"day": ""}}, "A; B"),
        ({"number": "", "spans": [], "date": {"day": "3", "month": "May", "year": ""}}, "3 May"),
        ({}, None),
    ],
)
def test_drop(tmp_path: Path, answer: dict[str, Any], text: str | None):
    path = write(tmp_path, drop(answer))
    assert [(p.passage_id, p.text) for p in read_drop_passages(path)] == [("nfl_1", "Two goals.")]
    ((found,),) = (c.turns for c in read_drop_conversations(path))
    assert (found.query_id, found.gold, found.answer) == ("u-1", ("nfl_1",), text)
    assert FORMAT_DROP.recognises(path)
    assert not FORMAT.recognises(path)


def test_what_is_no_drop(tmp_path: Path):
    with pytest.raises(InputError, match="no field 'qa_pairs'"):
        list(read_drop_passages(write(tmp_path, {"a": {"passage": "x"}})))
