"""QuAC; the records are made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats.quac import FORMAT, conversations, passages
from mtrlib.errors import InputError

KEY = "C_0a1b_1"


def question(number: int, answer: str, **more: Any) -> dict[str, Any]:
    return {
        "id": f"{KEY}_q#{number}",
        "question": f"question {number}?",
        "orig_answer": {"text": answer, "answer_start": 0},
        "answers": [{"text": "somebody else's", "answer_start": 1}],
        "followup": "y",
        "yesno": "x",
    } | more


def write(tmp_path: Path, *questions: dict[str, Any], indent: int | None = None) -> Path:
    path = tmp_path / "val.json"
    paragraph = {"context": "Moss is green. CANNOTANSWER", "id": KEY, "qas": list(questions)}
    article = {"title": "Moss", "section_title": "Looks", "paragraphs": [paragraph]}
    path.write_text(json.dumps({"data": [article], "version": "0.2"}, indent=indent))
    return path


@pytest.mark.parametrize("indent", [None, 1])
def test_sections_and_dialogues(tmp_path: Path, indent: int | None):
    path = write(tmp_path, question(0, "green"), question(1, "CANNOTANSWER"), indent=indent)
    assert FORMAT.recognises(path)
    (passage,) = passages(path)
    assert (passage.passage_id, passage.text) == (KEY, "Moss is green.")
    assert (passage.title, passage.section, passage.document) == ("Moss", ("Looks",), KEY)
    (conversation,) = conversations(path)
    first, second = conversation.turns
    assert (first.query_id, first.turn_number, first.gold) == (f"{KEY}_q#0", 1, (KEY,))
    assert (first.answer, first.labels, first.scope) == ("green", ("followup:y", "yesno:x"), "")
    assert (second.gold, second.answer, second.labels[0]) == ((), None, "unanswerable")
    assert [(u.role, u.text) for u in second.history] == [
        ("user", "question 0?"),
        ("agent", "green"),
    ]
    assert second.source == "val.json#data/0/0/1"


def test_without_an_original_answer_the_first_counts(tmp_path: Path):
    record = question(0, "green")
    del record["orig_answer"]
    (conversation,) = conversations(write(tmp_path, record))
    assert conversation.turns[0].answer == "somebody else's"


@pytest.mark.parametrize(
    ("change", "message"),
    [({"question": None}, "question is NoneType"), ({"id": ""}, "which is no id")],
)
def test_wrong_fields(tmp_path: Path, change: dict[str, Any], message: str):
    with pytest.raises(InputError, match=f"data/0/0/0.*{message}"):
        list(conversations(write(tmp_path, question(0, "green") | change)))


def test_squad_is_not_claimed(tmp_path: Path):
    path = tmp_path / "squad.json"
    qas = [{"id": "1", "question": "q", "answers": [{"text": "a", "answer_start": 0}]}]
    path.write_text(json.dumps({"data": [{"paragraphs": [{"context": "a", "qas": qas}]}]}))
    assert not FORMAT.recognises(path)
