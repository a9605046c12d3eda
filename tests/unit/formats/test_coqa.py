"""CoQA; the records are made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats.coqa import FORMAT, conversations, passages
from mtrlib.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:the reader of coqa")


def story(**more: Any) -> dict[str, Any]:
    return {
        "source": "wikipedia",
        "id": "3zot-09",
        "filename": "Moss.txt",
        "story": "Moss is green. It likes rain.",
        "questions": [{"input_text": f"question {n}?", "turn_id": n} for n in (1, 2)],
        "answers": [
            {"span_start": 0, "span_end": 14, "span_text": "Moss is green.",
             "input_text": "green", "turn_id": 1},
            {"span_start": -1, "span_end": -1, "span_text": "unknown",
             "input_text": "unknown", "turn_id": 2},
        ],
        "additional_answers": {"0": []},
    } | more  # fmt: skip


def write(tmp_path: Path, *stories: dict[str, Any]) -> Path:
    path = tmp_path / "coqa-dev-v1.0.json"
    path.write_text(json.dumps({"version": "1.0", "data": list(stories)}))
    return path


def test_stories_and_conversations(tmp_path: Path):
    path = write(tmp_path, story(), story(id="other"))
    assert FORMAT.recognises(path)
    assert [(p.passage_id, p.document) for p in passages(path)] == [
        ("3zot-09", "3zot-09"),
        ("other", "other"),
    ]
    conversation, _ = conversations(path)
    first, second = conversation.turns
    assert (first.query_id, first.gold, first.answer) == ("3zot-09_1", ("3zot-09",), "green")
    assert (first.labels, first.history) == (("wikipedia",), ())
    assert (second.gold, second.answer, second.labels) == ((), None, ("wikipedia", "unanswerable"))
    assert [(u.role, u.text) for u in second.history] == [
        ("user", "question 1?"),
        ("agent", "green"),
    ]
    assert second.source == "coqa-dev-v1.0.json#data/0/questions/1"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answers": story()["answers"][::-1]}, "questions and answers have other turn_ids"),
        ({"answers": []}, "questions and answers have other turn_ids"),
        ({"id": 7}, "id is int, expected str"),
        ({"questions": None}, "questions is NoneType"),
    ],
)
def test_wrong_fields(tmp_path: Path, change: dict[str, Any], message: str):
    with pytest.raises(InputError, match=f"data/0.*{message}"):
        list(conversations(write(tmp_path, story() | change)))
