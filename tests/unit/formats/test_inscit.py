"""INSCIT: two annotators, evidence of earlier turns, odd ids."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats.inscit import FORMAT, conversations, passages
from mtrlib.errors import InputError


def evidence(name: str, text: str, *titles: str) -> dict[str, Any]:
    return {"passage_id": name, "passage_text": text, "passage_titles": list(titles)}


IGLOO = evidence("Iñu house – 1950s:0", "A house of snow &amp; ice.", "Iñu house", "Walls")
TENT = evidence("Tent:3", "A house of cloth.")
TURNS = [
    {
        "context": ["Which houses melt?"],
        "prevEvidence": [],
        "labels": [
            {"responseType": "directAnswer", "response": "Those of snow.", "evidence": [IGLOO]},
            {"responseType": "clarification", "response": "Where?", "evidence": [TENT, IGLOO]},
        ],
    },
    {
        "context": ["Which houses melt?", "Those of snow.", "And burn?"],
        "prevEvidence": [[IGLOO]],
        "labels": [{"responseType": "noAnswer", "response": "", "evidence": []}],
    },
]


def write(path: Path, turns: list[dict[str, Any]]) -> Path:
    record = {"houses_1": {"seedArticle": {"title": "House"}, "turns": turns}}
    path.write_text(json.dumps(record), encoding="utf-8")
    return path


def test_annotators_stay_apart_and_their_union_is_gold(tmp_path: Path):
    path = write(tmp_path / "dev.json", TURNS)
    (conversation,) = conversations(path)
    first, second = conversation.turns
    assert (first.query_id, second.query_id) == ("houses_1_1", "houses_1_2")
    assert first.gold == ("Iñu house – 1950s:0", "Tent:3")
    assert first.gold_by_annotator == (
        ("Iñu house – 1950s:0",),
        ("Tent:3", "Iñu house – 1950s:0"),
    )
    assert first.labels == ("directAnswer", "clarification")
    assert (second.gold, second.gold_by_annotator, second.turn_number) == ((), ((),), 2)
    assert [(u.role, u.text) for u in second.history] == [
        ("user", "Which houses melt?"),
        ("agent", "Those of snow."),
    ]
    assert second.source == "dev.json#houses_1/1"
    assert FORMAT.recognises(path)


def test_passages_come_once_with_their_headings(tmp_path: Path):
    igloo, tent = passages(write(tmp_path / "dev.json", TURNS))
    assert (igloo.title, igloo.section, igloo.document) == ("Iñu house", ("Walls",), "Iñu house")
    assert igloo.text == "A house of snow &amp; ice."
    assert (tent.title, tent.section) == ("", ())


def test_passages_of_earlier_turns_alone_are_in_the_corpus(tmp_path: Path):
    turn = TURNS[1] | {"prevEvidence": [[TENT]]}
    assert [p.passage_id for p in passages(write(tmp_path / "dev.json", [turn]))] == ["Tent:3"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"context": ["Q", "A"]}, r"dev\.json#houses_1/0: context has 2 texts"),
        ({"labels": {}}, "labels is dict, expected list"),
        ({"labels": ["x"]}, "not a list of objects"),
        ({"labels": [{"evidence": [{"id": "p"}]}]}, "no field 'passage_id'"),
    ],
)
def test_wrong_shapes(tmp_path: Path, change: dict[str, Any], message: str):
    path = write(tmp_path / "dev.json", [TURNS[0] | change])
    with pytest.raises(InputError, match=message):
        list(conversations(path))


def test_two_texts_under_one_id(tmp_path: Path):
    other = TURNS[1] | {"prevEvidence": [[IGLOO | {"passage_text": "Changed."}]]}
    with pytest.raises(InputError, match=r"houses_1/1: passage Iñu house .* has two texts"):
        list(passages(write(tmp_path / "dev.json", [TURNS[0], other])))
