"""QUEST and its edition in LOFT."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats import loft, quest
from mtrlib.data.tasks import Answer, ListQuestion
from mtrlib.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:the reader of:UserWarning")

QUERY = {
    "query": " moths of Fen or of Moor ",
    "docs": ["Grey moth", "Moth (insect): a list", "Grey moth"],
    "original_query": "<mark>Moths of Fen</mark> or <mark>Moths of Moor</mark>",
    "scores": None,
    "metadata": {"template": "_ or _", "domain": "animals", "fluency": [True]},
}


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return path


def test_queries_have_gold_titles(tmp_path: Path):
    bare = {"query": "stones", "docs": [], "original_query": None, "scores": None, "metadata": None}
    path = lines(tmp_path / "train_aug.jsonl", QUERY, bare)
    assert quest.FORMAT.recognises(path)
    first, second = quest.read_questions(path)
    assert first == ListQuestion(
        "train_aug_1",
        "moths of Fen or of Moor",
        (
            Answer("Grey moth", (), ("Grey moth",)),
            Answer("Moth (insect): a list", (), ("Moth (insect): a list",)),
        ),
        ("Grey moth", "Moth (insect): a list"),
        split="train_aug",
        kind="_ or _",
        source="train_aug.jsonl:1",
    )
    assert (second.question_id, second.gold, second.kind) == ("train_aug_2", (), "")


def test_documents_keep_titles_as_ids(tmp_path: Path):
    path = lines(
        tmp_path / "documents.jsonl",
        {"title": 'The "Grey" moth', "text": "It is grey."},
        {"title": "None", "text": ""},
    )
    assert quest.FORMAT_DOCUMENTS.recognises(path)
    assert not quest.FORMAT.recognises(path)
    first, second = quest.read_documents(path)
    assert (first.passage_id, first.title, first.source) == (
        'The "Grey" moth',
        'The "Grey" moth',
        "documents.jsonl:1",
    )
    assert (second.passage_id, second.text) == ("None", "")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"query": ""}, "question is ''"),
        ({"docs": "Grey moth"}, "docs is no list of str"),
        ({"docs": [3]}, "docs is no list of str"),
        ({"docs": [""]}, "docs is '', which is no id"),
    ],
)
def test_query_errors(tmp_path: Path, change: dict[str, Any], message: str):
    with pytest.raises(InputError, match=rf"val\.jsonl:1: {message}"):
        list(quest.read_questions(lines(tmp_path / "val.jsonl", QUERY | change)))


@pytest.mark.parametrize("row", [{"text": "x"}, {"title": "", "text": "x"}, {"title": "A"}])
def test_document_errors(tmp_path: Path, row: dict[str, Any]):
    with pytest.raises(InputError, match=r"documents\.jsonl:1: (title is|no field 'text')"):
        list(quest.read_documents(lines(tmp_path / "documents.jsonl", row)))


RETRIEVAL = {
    "qid": "0012",
    "query_text": "moths of Fen",
    "metadata": {"qrels": [["quest_1_0", 1], ["quest_2_0", 0]]},
    "answers": [["quest_1_0", 1], ["quest_2_0", 0]],
}


def test_loft_of_both_tasks(tmp_path: Path):
    path = lines(
        tmp_path / "few_shot_queries.jsonl",
        RETRIEVAL,
        RETRIEVAL | {"qid": "1", "answers": ["Grey moth", "Moth, a list"]},
        RETRIEVAL | {"qid": "2", "metadata": {}},
        RETRIEVAL | {"qid": "3", "metadata": {}, "answers": []},
    )
    assert loft.FORMAT.recognises(path)
    first, second, third, fourth = loft.read_questions(path)
    assert (first.question_id, first.split, first.gold) == ("0012", "few_shot", ("quest_1_0",))
    assert first.answers == ()
    assert second.answers == (Answer("Grey moth"), Answer("Moth, a list"))
    assert second.gold == third.gold == ("quest_1_0",)
    assert (fourth.gold, fourth.source) == ((), "few_shot_queries.jsonl:4")


def test_loft_corpus(tmp_path: Path):
    row = {"pid": "quest_1_0", "title_text": "Grey moth", "passage_text": "Grey.", "metadata": {}}
    path = lines(tmp_path / "corpus.jsonl", row)
    assert loft.FORMAT_CORPUS.recognises(path)
    (passage,) = loft.read_corpus(path)
    assert (passage.passage_id, passage.title, passage.text) == ("quest_1_0", "Grey moth", "Grey.")
    with pytest.raises(InputError, match="no field 'passage_text'"):
        list(loft.read_corpus(lines(path, {"pid": "a", "title_text": "b"})))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"query_text": ["one", "two"]}, "question is"),
        ({"metadata": {"qrels": [["quest_1_0"]]}}, "is no pair of id and grade"),
        ({"metadata": {"qrels": [["quest_1_0", "1"]]}}, "is no pair of id and grade"),
        ({"answers": "Grey moth"}, "answers is str, expected list"),
        ({"qid": 7.0}, "qid is 7.0, which is no id"),
    ],
)
def test_loft_errors(tmp_path: Path, change: dict[str, Any], message: str):
    with pytest.raises(InputError, match=rf"dev_queries\.jsonl:1: .*{message}"):
        list(loft.read_questions(lines(tmp_path / "dev_queries.jsonl", RETRIEVAL | change)))
