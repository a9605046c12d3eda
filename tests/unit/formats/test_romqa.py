"""RoMQA: packed lists, clusters, unlabelled test files."""

from __future__ import annotations

import bz2
import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats import romqa
from mtrlib.data.tasks import Answer
from mtrlib.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:the reader of:UserWarning")

RECORD = {
    "id": 11,
    "cluster_id": 4,
    "question": "Which wells lie in Oran county?",
    "constraints": [["P1", "Q2"]],
    "candidates": [{"text": "Low Well", "is_answer": True}, {"text": "Hill", "is_answer": False}],
    "complete_answer": [
        {
            "text": "Low Well",
            "aliases": ["The Low Well", "Low Well"],
            "uri": "Q1",
            "desc": "a well",
        },
        {"text": "Far Well", "aliases": None, "uri": "Q2", "desc": None},
    ],
}


def write(path: Path, *rows: dict[str, Any]) -> Path:
    data = json.dumps(rows).encode()
    path.write_bytes(bz2.compress(data) if path.suffix == ".bz2" else data)
    return path


@pytest.mark.parametrize("name", ["top_20.dev.json.bz2", "top_20.dev.json"])
def test_complete_answers_and_clusters(tmp_path: Path, name: str):
    path = write(tmp_path / name, RECORD, RECORD | {"id": "0012", "complete_answer": []})
    assert romqa.FORMAT.recognises(path)
    first, second = romqa.read_questions(path)
    assert (first.question_id, first.kind, first.split) == ("11", "4", "dev")
    assert first.answers == (Answer("Low Well", ("The Low Well",)), Answer("Far Well"))
    assert (first.gold, first.source) == ((), f"{name}#0")
    assert (second.question_id, second.answers) == ("0012", ())


def test_unlabelled_questions_have_no_answers(tmp_path: Path):
    row = {k: v for k, v in RECORD.items() if k != "complete_answer"}
    row["candidates"] = [{"text": "Low Well"}]
    (found,) = romqa.read_questions(write(tmp_path / "top_20.test.noanswer.json.bz2", row))
    assert (found.answers, found.split) == ((), "test")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"question": None}, "question is None"),
        ({"cluster_id": None}, "cluster_id is None, which is no id"),
        ({"candidates": "Low Well"}, "candidates is str, expected list"),
        ({"complete_answer": ["Low Well"]}, "complete_answer is no list of dict"),
        ({"complete_answer": [{"uri": "Q1"}]}, "an answer without any text"),
    ],
)
def test_errors(tmp_path: Path, change: dict[str, Any], message: str):
    path = write(tmp_path / "dev.json.bz2", RECORD | change)
    with pytest.raises(InputError, match=rf"dev\.json\.bz2: dev\.json\.bz2#0: {message}"):
        list(romqa.read_questions(path))


def test_a_cut_file(tmp_path: Path):
    path = write(tmp_path / "dev.json.bz2", RECORD)
    path.write_bytes(path.read_bytes()[:-20])
    assert not romqa.FORMAT.recognises(path)
    with pytest.raises(InputError, match=r"dev\.json\.bz2: cannot be unpacked"):
        list(romqa.read_questions(path))
