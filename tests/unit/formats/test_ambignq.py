"""AmbigNQ: single answers, several readings, annotators that differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats import ambignq
from mtrlib.data.tasks import Answer
from mtrlib.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:the reader of:UserWarning")


def single(*forms: str) -> dict[str, Any]:
    return {"type": "singleAnswer", "answer": list(forms)}


def several(*answers: list[str]) -> dict[str, Any]:
    pairs = [{"question": f"When, reading {i}?", "answer": a} for i, a in enumerate(answers)]
    return {"type": "multipleQAs", "qaPairs": pairs}


def write(path: Path, *annotations: Any, **change: Any) -> Path:
    row = {"id": "-441", "question": "When did the mill open?", "annotations": list(annotations)}
    path.write_text(json.dumps([row | change]))
    return path


def answers(path: Path) -> tuple[Answer, ...]:
    (found,) = ambignq.read_questions(path)
    return found.answers


def test_a_single_answer_has_forms(tmp_path: Path):
    path = write(tmp_path / "dev_light.json", single("May 1, 1908", "1908", "1908"))
    assert ambignq.FORMAT.recognises(path)
    (found,) = ambignq.read_questions(path)
    assert (found.question_id, found.split, found.kind) == ("-441", "dev", "singleAnswer")
    assert found.answers == (Answer("May 1, 1908", ("1908",)),)
    assert (found.gold, found.source) == ((), "dev_light.json#0")


def test_each_reading_is_an_answer(tmp_path: Path):
    path = write(tmp_path / "train.json", several(["1908"], ["1931", "in 1931"], ["1908"]))
    assert answers(path) == (Answer("1908"), Answer("1931", ("in 1931",)), Answer("1908"))


def test_annotators_are_joined_where_they_agree(tmp_path: Path):
    path = write(tmp_path / "dev.json", single("1908"), several(["In  1931"], ["1908", "May 1908"]))
    (found,) = ambignq.read_questions(path)
    assert found.kind == "multipleQAs+singleAnswer"
    assert found.answers == (Answer("1908", ("May 1908",)), Answer("In  1931"))
    again = write(tmp_path / "dev.json", several(["1908"], ["1931"]), single("in 1931", "1931"))
    assert answers(again) == (Answer("1908"), Answer("1931", ("in 1931",)))


def test_full_files_are_known_by_their_other_fields(tmp_path: Path):
    path = tmp_path / "train.json"
    path.write_text(json.dumps([{"viewed_doc_titles": ["x" * 20000], "annotations": []}]))
    assert ambignq.FORMAT.recognises(path)
    path.write_text(json.dumps([{"id": "1", "question": "q", "annotations": ["other"]}]))
    assert not ambignq.FORMAT.recognises(path)


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        ({"type": "noAnswer"}, "annotation type 'noAnswer'"),
        ({"type": "singleAnswer", "answer": "1908"}, "answer is no list of str"),
        (single(), "an answer without any text"),
        ({"type": "multipleQAs", "qaPairs": [["q", "a"]]}, "qaPairs is no list of dict"),
        ("singleAnswer", "annotations is no list of dict"),
    ],
)
def test_errors(tmp_path: Path, annotation: Any, message: str):
    with pytest.raises(InputError, match=rf"dev\.json#0: {message}"):
        answers(write(tmp_path / "dev.json", annotation))


def test_columns_instead_of_a_list_are_refused(tmp_path: Path):
    path = write(tmp_path / "dev.json", annotations={"type": ["singleAnswer"], "answer": [["a"]]})
    with pytest.raises(InputError, match="annotations is no list of dict"):
        answers(path)
