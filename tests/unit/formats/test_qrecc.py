"""QReCC under both namings; the records are made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats.qrecc import FORMAT, conversations
from mtrlib.errors import InputError

PAGE = "http://web.archive.org/web/2019id_/http://moss.example:80/x/_p5"


def row(number: int, turn: int, question: str, context: list[str], **more: Any) -> dict[str, Any]:
    return {
        "Context": context,
        "Question": question,
        "Truth_rewrite": f"{question} (moss)",
        "Truth_answer": "It is green.",
        "Truth_passages": [PAGE, PAGE],
        "Answer_URL": "http://moss.example/x",
        "Conversation_no": number,
        "Turn_no": turn,
        "Conversation_source": "trec",
    } | more


def write(tmp_path: Path, rows: list[dict[str, Any]]) -> Path:
    path = tmp_path / "qrecc_test.json"
    path.write_text(json.dumps(rows, indent=1))
    return path


def test_turns_keep_ids_rewrite_and_gold(tmp_path: Path):
    rows = [row(7, 1, "What is moss?", []), row(7, 2, "And its colour?", ["What is moss?", "A"])]
    path = write(tmp_path, [*rows, row(8, 1, "Hi?", [], Truth_passages=[], Truth_answer="")])
    assert FORMAT.recognises(path)
    first, second = conversations(path)
    turn = first.turns[1]
    assert (turn.query_id, turn.conversation_id, turn.turn_number) == ("7_2", "7", 2)
    assert (turn.rewrite, turn.answer, turn.gold) == (
        "And its colour? (moss)", "It is green.", (PAGE,),
    )  # fmt: skip
    assert [(u.role, u.text) for u in turn.history] == [("user", "What is moss?"), ("agent", "A")]
    assert (turn.labels, turn.source) == (("trec",), "qrecc_test.json#1")
    assert (second.turns[0].gold, second.turns[0].answer) == ((), None)


def test_the_naming_of_the_repository(tmp_path: Path):
    record = row(7, 1, "What is moss?", [])
    for name in ("rewrite", "answer"):
        record[name.capitalize()] = record.pop(f"Truth_{name}")
    del record["Truth_passages"]
    (conversation,) = conversations(write(tmp_path, [record]))
    turn = conversation.turns[0]
    assert (turn.rewrite, turn.answer, turn.gold) == ("What is moss? (moss)", "It is green.", ())


def test_an_empty_answer_leaves_no_utterance_and_sides_stay_right(tmp_path: Path):
    (conversation,) = conversations(write(tmp_path, [row(7, 3, "c?", ["a?", "", "b?", "B"])]))
    history = [(u.role, u.text) for u in conversation.turns[0].history]
    assert history == [("user", "a?"), ("user", "b?"), ("agent", "B")]


def test_rows_apart(tmp_path: Path):
    path = write(tmp_path, [row(7, 1, "a?", []), row(8, 1, "b?", []), row(7, 2, "c?", [])])
    with pytest.raises(InputError, match=r"#2: continues the conversation of qrecc_test\.json#0"):
        list(conversations(path))
    assert [len(c.turns) for c in conversations(path, contiguous=False)] == [2, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Turn_no": "1"}, "Turn_no is str, expected int"),
        ({"Context": "a"}, "Context is str"),
        ({"Conversation_no": 1.0}, "Conversation_no is 1.0, which is no id"),
        ({"Truth_rewrite": None}, "neither Truth_rewrite nor Rewrite is a text"),
        ({"Truth_passages": "p"}, "Truth_passages is no list"),
        ({"Truth_passages": [""]}, "gold is '', which is no id"),
    ],
)
def test_wrong_fields(tmp_path: Path, change: dict[str, Any], message: str):
    with pytest.raises(InputError, match=message):
        list(conversations(write(tmp_path, [row(7, 1, "a?", []) | change])))
