"""iKAT: three years, three layouts, one result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats import base
from mtrlib.data.formats.ikat import FORMAT, FORMAT_PASSAGES, conversations, passages
from mtrlib.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:the reader of ikat")


def topic(year: int) -> dict[str, Any]:
    words, gold = ("utterance", "response_provenance")
    if year == 2025:
        words, gold = ("user_utterance", "citations")
    turns = [
        {
            "turn_id": 1,
            words: "Which shoes?",
            "resolved_utterance": "Which running shoes for me?",
            "response": "For roads?",
            "ptkb_provenance": [1],
            gold: [],
        },
        {
            "turn_id": 2,
            words: "Yes.",
            "resolved_utterance": "Yes, for roads.",
            "response": "Light ones.",
            "ptkb_provenance": [],
            gold: ["cw22-en00:1", "cw22-en00:1", "cw22-en01:0"],
        },
    ]
    number: dict[int, Any] = {2023: "9-1", 2024: 0, 2025: "1-1"}
    return {
        "number": number[year],
        "title": "Shoes",
        "ptkb": ["I run."] if year == 2025 else {"1": "I run."},
        "responses" if year == 2025 else "turns": turns,
    }


def write(path: Path, *topics: dict[str, Any]) -> Path:
    path.write_text(json.dumps(topics))
    return path


@pytest.mark.parametrize(("year", "name"), [(2023, "9-1"), (2024, "0"), (2025, "1-1")])
def test_layouts(tmp_path: Path, year: int, name: str):
    path = write(tmp_path / "topics.json", topic(year))
    (conversation,) = conversations(path)
    first, second = conversation.turns
    assert conversation.conversation_id == name
    assert [first.query_id, second.query_id] == [f"{name}_1", f"{name}_2"]
    assert (first.gold, second.gold) == ((), ("cw22-en00:1", "cw22-en01:0"))
    assert second.rewrite == "Yes, for roads."
    assert [u.text for u in second.history] == ["Which shoes?", "For roads?"]
    assert FORMAT.recognises(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"number": 1.5}, "which is no id"),
        ({"extra": 1}, "unknown field 'extra'"),
        ({"responses": []}, "not one list of turns"),
        ({"ptkb": None, "turns": [{"turn_id": 1}]}, "0 of the fields utterance"),
        ({"turns": [{"turn_id": "1"}]}, "turn_id is str"),
        ({"turns": [1]}, "not a list of objects"),
    ],
)
def test_unknown_shapes_are_refused(tmp_path: Path, change: dict[str, Any], message: str):
    with pytest.raises(InputError, match=message):
        list(conversations(write(tmp_path / "t.json", topic(2023) | change)))


def test_turns_out_of_order(tmp_path: Path):
    record = topic(2023)
    record["turns"].reverse()
    with pytest.raises(InputError, match="turn_id 1 is out of order"):
        list(conversations(write(tmp_path / "t.json", record)))


def test_passage_texts(tmp_path: Path):
    path = tmp_path / "x_psg_text.jsonl"
    row = {"doc_id": "cw22-en00", "passage_id": "1", "passage_text": "http://example.org"}
    path.write_text(json.dumps(row) + "\n")
    (passage,) = passages(path)
    assert (passage.passage_id, passage.document) == ("cw22-en00:1", "cw22-en00")
    assert FORMAT_PASSAGES.recognises(path)


@pytest.mark.filterwarnings("default")
def test_first_use_says_that_it_follows_a_description(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(base, "_NOTICED", set())
    path = write(tmp_path / "t.json", topic(2023))
    with pytest.warns(UserWarning, match="ikat follows a description"):
        list(conversations(path))
