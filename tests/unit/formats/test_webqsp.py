"""WebQuestionsSP: parses, entities and values, questions without answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats import webqsp
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:the reader of:UserWarning")


def entity(mid: str, name: str | None) -> dict[str, Any]:
    return {"AnswerType": "Entity", "AnswerArgument": mid, "EntityName": name}


VALUE = {"AnswerType": "Value", "AnswerArgument": "1931-05-02", "EntityName": None}


def question(number: int, *parses: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "QuestionId": f"WebQTest-{number}",
        "RawQuestion": "who sails the blue boat?",
        "ProcessedQuestion": "who sails the blue boat",
        "Parses": [{"ParseId": f"{number}.P{i}", "Answers": a} for i, a in enumerate(parses)],
    }


QUESTIONS = [
    question(
        0, [entity("m.01", "Ida Holm"), VALUE], [entity("m.01", "Ida Holm"), entity("m.02", "Jon")]
    ),
    question(1, []),
    question(2),
]


def write(path: Path, questions: list[dict[str, Any]], indent: int | None = None) -> Path:
    whole = {"Version": "1.0", "FreebaseVersion": "2015", "Questions": questions}
    path.write_text("\ufeff" + json.dumps(whole, indent=indent), encoding="utf-8")
    return path


@pytest.mark.parametrize("indent", [None, 2])
def test_parses_are_joined_and_questions_without_answers_kept(tmp_path: Path, indent: int | None):
    path = write(tmp_path / "WebQSP.test.json", QUESTIONS, indent)
    assert webqsp.FORMAT.recognises(path)
    first, second, third = webqsp.read_questions(path)
    assert (first.question_id, first.question) == ("WebQTest-0", "who sails the blue boat?")
    assert [a.text for a in first.answers] == ["Ida Holm", "1931-05-02", "Jon"]
    assert (first.split, first.source, first.gold) == ("test", "WebQSP.test.json#0", ())
    assert second.answers == third.answers == ()


def test_the_first_parse_alone(tmp_path: Path):
    first, _, _ = webqsp.read_questions(write(tmp_path / "WebQSP.train.json", QUESTIONS), "first")
    assert [a.text for a in first.answers] == ["Ida Holm", "1931-05-02"]


def test_entities_of_one_name_stay_two(tmp_path: Path):
    path = write(
        tmp_path / "WebQSP.test.json", [question(0, [entity("m.1", "Jon"), entity("m.2", "Jon")])]
    )
    assert [a.text for q in webqsp.read_questions(path) for a in q.answers] == ["Jon", "Jon"]


def test_entities_without_a_name_are_counted(tmp_path: Path):
    path = write(tmp_path / "WebQSP.test.partial.json", [question(0, [entity("m.1", None)])])
    with pytest.warns(UserWarning, match="1 answers are entities without a name"):
        (found,) = webqsp.read_questions(path)
    assert isinstance(found, ListQuestion)
    assert (found.answers[0].text, found.split) == ("m.1", "test.partial")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"RawQuestion": ""}, "question is ''"),
        ({"QuestionId": None}, "QuestionId is None, which is no id"),
        ({"Parses": {"Answers": []}}, "Parses is no list of dict"),
        ({"Parses": [{"Answers": [VALUE | {"AnswerType": "Text"}]}]}, "AnswerType 'Text'"),
        ({"Parses": [{"Answers": [VALUE | {"AnswerArgument": 3}]}]}, "AnswerArgument is int"),
    ],
)
def test_errors(tmp_path: Path, change: dict[str, Any], message: str):
    path = write(tmp_path / "WebQSP.test.json", [QUESTIONS[0] | change])
    with pytest.raises(InputError, match=rf"WebQSP\.test\.json#0: {message}"):
        list(webqsp.read_questions(path))


def test_a_file_without_questions(tmp_path: Path):
    path = tmp_path / "WebQSP.test.json"
    path.write_text('{"Version": "1.0"}')
    assert not webqsp.FORMAT.recognises(path)
    with pytest.raises(InputError, match="no Questions"):
        list(webqsp.read_questions(path))
