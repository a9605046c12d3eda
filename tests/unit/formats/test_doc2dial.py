"""Doc2Dial and MultiDoc2Dial; the records are made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats.doc2dial import FORMAT, FORMAT_DOCUMENTS, conversations, passages
from mtrlib.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:the reader of doc2dial")
DOCUMENT = "Keeping moss: basics#1_0"


def span(number: int, section: str, text: str, parents: Any = "[]") -> dict[str, Any]:
    return {
        "id_sp": str(number),
        "id_sec": section,
        "text_sp": text,
        "text_sec": f"All of {section}. ",
        "title": "Watering",
        "parent_titles": parents,
    }


SPANS = [
    span(1, "t_0", "\n\nKeeping moss\n", None),
    span(2, "1", "Rain water is best. ", "[{'id_sp': '1', 'text': 'Moss', 'level': 'h2'}]"),
    span(3, "1", "Tap water will do. ", [{"id_sp": "1", "text": "Moss", "level": "h2"}]),
]


def documents(tmp_path: Path, spans: Any = None) -> Path:
    path = tmp_path / "doc.json"
    spans = {s["id_sp"]: s for s in SPANS} if spans is None else spans
    record = {"doc_id": DOCUMENT, "title": "Keeping moss#1", "domain": "garden", "spans": spans}
    path.write_text(json.dumps({"doc_data": {"garden": {DOCUMENT: record}}}))
    return path


def say(number: int, role: str, *spans: str, **more: Any) -> dict[str, Any]:
    references = [{"sp_id": s, "label": "solution"} for s in spans]
    return {
        "turn_id": number,
        "role": role,
        "da": "query_solution" if role == "user" else "respond_solution",
        "references": references,
        "utterance": f"{role} {number}",
    } | more


TURNS = [say(1, "user", "1"), say(2, "agent", "2", "3", "2"), say(3, "user"), say(4, "user"),
         say(5, "agent")]  # fmt: skip


def dialogues(tmp_path: Path, turns: Any = TURNS, multi: bool = False) -> Path:
    path = tmp_path / "dial.json"
    dialogue = {"dial_id": "9f" * 16, "turns": turns}
    held = [dialogue] if multi else {DOCUMENT: [dialogue]}
    path.write_text(json.dumps({"dial_data": {"garden": held}}))
    return path


def test_gold_is_what_the_next_agent_turn_refers_to(tmp_path: Path):
    path = dialogues(tmp_path)
    assert FORMAT.recognises(path) and not FORMAT_DOCUMENTS.recognises(path)
    (conversation,) = conversations(path)
    first, second, third = conversation.turns
    assert (first.query_id, first.turn_number) == ("9f" * 16 + "_1", 1)
    assert first.gold == (f"{DOCUMENT}_2", f"{DOCUMENT}_3")
    assert (first.answer, first.labels, first.scope) == ("agent 2", ("query_solution",), DOCUMENT)
    assert (second.gold, second.answer, second.labels[1]) == ((), None, "no_reply")
    assert (third.query_id[-2:], third.turn_number, third.labels[1]) == ("_4", 3, "unanswerable")
    assert [(u.role, u.text) for u in third.history] == [
        ("user", "user 1"), ("agent", "agent 2"), ("user", "user 3"),
    ]  # fmt: skip
    assert third.source == f"dial.json#dial_data/garden/{DOCUMENT}/0/turns/3"


def test_multidoc2dial_searches_all_documents(tmp_path: Path):
    other = {"id_sp": "7", "label": "solution", "doc_id": "Ferns#2_0"}
    turns = [say(1, "user"), say(2, "agent", references=[other])]
    (conversation,) = conversations(dialogues(tmp_path, turns, multi=True))
    assert (conversation.turns[0].gold, conversation.turns[0].scope) == (("Ferns#2_0_7",), "")


def test_a_file_without_references_has_no_gold(tmp_path: Path):
    turns = [say(1, "user"), say(2, "agent")]
    del turns[1]["references"]
    (conversation,) = conversations(dialogues(tmp_path, turns))
    assert (conversation.turns[0].gold, conversation.turns[0].labels) == ((), ("query_solution",))


def test_spans_are_passages(tmp_path: Path):
    path = documents(tmp_path)
    assert FORMAT_DOCUMENTS.recognises(path) and not FORMAT.recognises(path)
    first, second, third = passages(path)
    assert (first.passage_id, first.text, first.section) == (
        f"{DOCUMENT}_1", "Keeping moss", ("Watering",),
    )  # fmt: skip
    assert second.section == third.section == ("Moss", "Watering")
    assert (third.title, third.document) == ("Keeping moss#1", DOCUMENT)
    assert third.source == f"doc.json#doc_data/garden/{DOCUMENT}/3"
    assert [p.passage_id for p in passages(documents(tmp_path, SPANS))][2] == f"{DOCUMENT}_3"


def test_sections_on_request_on_both_sides(tmp_path: Path):
    path = documents(tmp_path)
    found = {p.passage_id: p.text for p in passages(path, unit="section")}
    assert found == {f"{DOCUMENT}_sec_t_0": "All of t_0.", f"{DOCUMENT}_sec_1": "All of 1."}
    (conversation,) = conversations(dialogues(tmp_path), documents=path)
    assert conversation.turns[0].gold == (f"{DOCUMENT}_sec_1",)


@pytest.mark.parametrize(
    ("turns", "message"),
    [
        ([say(1, "user"), say(2, "agent", references=[{"label": "x"}])], "without sp_id"),
        ([say(1, "robot"), say(2, "user")], "role 'robot' is unknown"),
        ([say(1, "user", utterance=None)], "utterance is NoneType"),
        ([say(None, "user")], "turn_id is None"),
        ("hello", "turns is str, expected list"),
    ],
)
def test_wrong_dialogues(tmp_path: Path, turns: Any, message: str):
    with pytest.raises(InputError, match=message):
        list(conversations(dialogues(tmp_path, turns)))


def test_a_dialogue_that_is_no_object(tmp_path: Path):
    path = tmp_path / "dial.json"
    path.write_text('{"dial_data": {"garden": [null]}}')
    with pytest.raises(InputError, match=r"dial\.json#dial_data/garden/0: no dialogue"):
        list(conversations(path))


def test_a_reference_outside_the_documents(tmp_path: Path):
    turns = [say(1, "user"), say(2, "agent", "99")]
    with pytest.raises(InputError, match=f"span 99 of {DOCUMENT} is not in the documents"):
        list(conversations(dialogues(tmp_path, turns), documents=documents(tmp_path)))


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ("text", "spans is str"),
        ({"1": {"id_sp": "1"}}, "no field 'id_sec'"),
        ([span(1, "1", "t", "not a list")], "parent_titles is no list"),
        ([span(1, "1", "t", 5)], "parent_titles is no list"),
    ],
)
def test_wrong_documents(tmp_path: Path, spans: Any, message: str):
    with pytest.raises(InputError, match=message):
        list(passages(documents(tmp_path, spans)))
