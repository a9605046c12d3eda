"""LIMIT: ids with spaces, JSONL qrels, two gold documents a query."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mtrlib.data.formats import limit
from mtrlib.errors import InputError


def row(query_id: str, name: str, score: object = 1) -> str:
    return json.dumps({"query-id": query_id, "corpus-id": name, "score": score}) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corpus.jsonl").write_text(
        '{"_id": "Ann Lee", "title": "", "text": "Ann Lee likes Tea and Rain."}\n'
        '{"_id": "Bo Ray-Day", "title": "", "text": "Bo Ray-Day likes Tea."}\n'
    )
    (tmp_path / "queries.jsonl").write_text(
        '{"_id": "query_0", "text": "Who likes Tea?"}\n'
        '{"_id": "query_1", "text": "Who likes Fog?"}\n'
    )
    (tmp_path / "qrels.jsonl").write_text(
        row("query_0", "Bo Ray-Day") + row("query_0", "Ann Lee") + row("query_0", "Cy", 0)
    )
    return tmp_path


def test_passages_questions_and_qrels(folder: Path):
    assert limit.FORMAT.recognises(folder)
    passages = list(limit.read_passages(folder))
    assert [p.passage_id for p in passages] == ["Ann Lee", "Bo Ray-Day"]
    assert (passages[1].source, passages[1].title) == ("corpus.jsonl:2", "")
    first, second = limit.read_questions(folder)
    assert (first.question_id, first.question) == ("query_0", "Who likes Tea?")
    assert (first.gold, first.answers) == (("Bo Ray-Day", "Ann Lee"), ())
    assert (second.gold, second.source) == ((), "queries.jsonl:2")
    assert limit.read_judgements(folder).grades("query_0") == {
        "Bo Ray-Day": 1,
        "Ann Lee": 1,
        "Cy": 0,
    }


def test_a_beir_folder_is_not_taken(folder: Path):
    (folder / "qrels.jsonl").unlink()
    assert not limit.FORMAT.recognises(folder)


@pytest.mark.parametrize(
    ("added", "message"),
    [
        (
            row("query_9", "Ann Lee"),
            r"qrels\.jsonl: query query_9 is not in queries\.jsonl \(1 such",
        ),
        (
            row("query_0", "Ann Lee", 2),
            r"qrels\.jsonl:4: query query_0, passage Ann Lee has two grades",
        ),
        (row("query_0", "Ann Lee", 1.5), r"qrels\.jsonl:4: grade 1\.5 is no whole number"),
        (row("", "Ann Lee"), r"qrels\.jsonl:4: query-id is '', which is no id"),
    ],
)
def test_qrels_errors(folder: Path, added: str, message: str):
    path = folder / "qrels.jsonl"
    path.write_text(path.read_text() + added)
    with pytest.raises(InputError, match=message):
        list(limit.read_questions(folder))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("corpus.jsonl", '{"_id": "Ann", "title": ""}\n', "no field 'text'"),
        ("corpus.jsonl", '{"text": "a"}\n', "_id is None"),
        ("queries.jsonl", '{"_id": "q", "text": " "}\n', "question is ' '"),
    ],
)
def test_record_errors(folder: Path, name: str, text: str, message: str):
    (folder / name).write_text(text)
    read = limit.read_passages if name == "corpus.jsonl" else limit.read_questions
    with pytest.raises(InputError, match=message):
        list(read(folder))
