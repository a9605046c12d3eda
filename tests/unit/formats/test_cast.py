"""TREC CAsT: a layout for every year, and the trees of 2022."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats.cast import FORMATS, conversations, passages
from mtrlib.data.formats.cast_rewrites import (
    resolved_utterances,
    rewritten_turns,
    sampled_rewrites,
)
from mtrlib.data.schema import Turn
from mtrlib.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:the reader of cast")


def write(path: Path, *topics: tuple[int, list[dict[str, Any]]]) -> Path:
    path.write_text(json.dumps([{"number": n, "turn": turns} for n, turns in topics]))
    return path


def turns_of(path: Path, **options: Any) -> list[Turn]:
    return [t for c in conversations(path, **options) for t in c.turns]


def recognised(path: Path) -> list[str]:
    return [f.name for f in FORMATS if f.recognises(path)]


Y2019 = (
    31,
    [{"number": 1, "raw_utterance": "Old clocks?"}, {"number": 2, "raw_utterance": "Why?"}],
)
TSV = b"31_1\tOld clocks?\r\n31_2\tWhy are there old clocks?\r\n"


def test_2019_takes_the_rewrites_from_the_tsv_beside(tmp_path: Path):
    path = write(tmp_path / "topics.json", Y2019)
    assert [t.rewrite for t in turns_of(path)] == [None, None]
    (tmp_path / "z_resolved.tsv").write_bytes(b"99_1\twrong\r\n")
    (tmp_path / "x_annotated_resolved_v1.tsv").write_bytes(TSV)
    first, second = turns_of(path)
    assert (second.query_id, second.conversation_id, second.turn_number) == ("31_2", "31", 2)
    assert second.rewrite == "Why are there old clocks?"
    assert [(u.role, u.text) for u in second.history] == [("user", "Old clocks?")]
    assert (first.gold, first.source) == ((), "topics.json#0/0")
    assert recognised(path) == ["cast-2019"]
    assert recognised(tmp_path / "x_annotated_resolved_v1.tsv") == ["cast-2019-resolved"]


def test_2019_turn_without_a_rewrite(tmp_path: Path):
    path = write(tmp_path / "topics.json", Y2019)
    (tmp_path / "other.tsv").write_text("31_1\tOld clocks?\n")
    with pytest.raises(InputError, match="turn 31_2 has no line in the TSV"):
        turns_of(path, resolved=tmp_path / "other.tsv")


@pytest.mark.parametrize(
    ("text", "message"),
    [("31_1 no tab\n", ":1: 1 columns"), ("1_1\ta\n1_1\tb\n", ":2: turn 1_1 again")],
)
def test_wrong_tsv(tmp_path: Path, text: str, message: str):
    (tmp_path / "r.tsv").write_text(text)
    with pytest.raises(InputError, match=message):
        resolved_utterances(tmp_path / "r.tsv")


def test_2020_manual_and_automatic_rewrites(tmp_path: Path):
    turn = {"number": 1, "raw_utterance": "It broke.", "automatic_rewritten_utterance": "a"}
    manual = {"manual_rewritten_utterance": "m", "manual_canonical_result_id": "MARCO_1"}
    path = write(tmp_path / "m.json", (81, [turn | manual]))
    assert [(t.rewrite, t.gold, t.labels) for t in turns_of(path)] == [("m", ("MARCO_1",), ())]
    assert turns_of(path, rewrite="automatic")[0].rewrite == "a"
    path = write(tmp_path / "a.json", (81, [turn | {"automatic_canonical_result_id": "MARCO_2"}]))
    (found,) = turns_of(path)
    assert (found.rewrite, found.gold, found.labels) == ("a", (), ("automatic_rewrite",))
    (tmp_path / "y1_resolved.tsv").write_bytes(TSV)  # of another year, left alone
    assert [t.rewrite for t in turns_of(path, rewrite="manual")] == [None]
    assert recognised(path) == ["cast-2020"]


def canonical(number: int, document: str, part: int, text: str) -> dict[str, Any]:
    return {
        "number": number,
        "raw_utterance": f"q{number}",
        "passage": text,
        "manual_rewritten_utterance": f"m{number}",
        "canonical_result_id": document,
        "passage_id": part,
    }


def test_2021_canonical_passages_and_one_id_with_two_texts(tmp_path: Path):
    rows = [
        canonical(1, "D-1", 2, "One."),
        canonical(2, "D-1", 2, "Two."),
        canonical(3, "E", 0, ""),
    ]
    path = write(tmp_path / "t.json", (106, rows), (107, rows[:1]))
    found = turns_of(path)
    assert [t.gold for t in found] == [("D-1-2",), ("D-1-2@2",), ("E-0",), ("D-1-2",)]
    assert [(p.passage_id, p.text, p.document) for p in passages(path)] == [
        ("D-1-2", "One.", "D-1"),
        ("D-1-2@2", "Two.", "D-1"),
        ("E-0", "", "E"),
    ]
    assert [u.text for u in found[2].history] == ["q1", "One.", "q2", "Two."]
    assert [t.labels for t in found] == [(), ("gold_in_history",), ("gold_in_history",), ()]
    assert recognised(path) == ["cast-2021"]


def user(number: str, parent: str | None, text: str) -> dict[str, Any]:
    node = {"number": number, "participant": "User", "utterance": text}
    return node | ({"parent": parent} if parent else {})


def system(number: str, parent: str, text: str, *gold: str) -> dict[str, Any]:
    return {
        "number": number,
        "parent": parent,
        "participant": "System",
        "response": text,
        "provenance": list(gold),
    }


TREE = [
    user("1-1", None, "Bees?"),
    system("1-2", "1-1", "They fly.", "K_1", "M_2"),
    user("1-3", "1-2", "Far?"),
    system("1-4", "1-3", "Miles.", "M_3"),
    user("2-1", "1-2", "Why?"),
    user("3-1", "1-4", "Thanks."),
    system("3-2", "3-1", "Bye."),
]
FLAT = [
    [("1-1", "Bees?"), ("1-3", "Far?"), ("3-1", "Thanks.")],
    [("1-1", "Bees?"), ("2-1", "Why?")],
]


def flat(path: Path) -> Path:
    said = {"1-1": ("They fly.", ["K_1", "M_2"]), "1-3": ("Miles.", ["M_3"]), "3-1": ("Bye.", [])}
    rows = []
    for way in FLAT:
        turns: list[dict[str, Any]] = []
        for number, text in way:
            turns.append({"number": number, "utterance": text})
            if number in said:
                turns[-1] |= dict(zip(("response", "provenance"), said[number], strict=True))
        rows.append((132, turns))
    return write(path, *rows)


def test_2022_tree_and_flattened_give_the_same_paths(tmp_path: Path):
    tree = write(tmp_path / "tree.json", (132, TREE))
    other = flat(tmp_path / "flat.json")
    ways = list(conversations(tree))
    assert [c.conversation_id for c in ways] == ["132/1", "132/2"]
    assert [[t.query_id for t in c.turns] for c in ways] == [
        ["132_1-1", "132_1-3", "132_3-1"],
        ["132_1-1@2", "132_2-1"],
    ]
    repeated = ways[1].turns[0]
    assert (repeated.labels, repeated.gold) == (("repeated_turn",), ("K_1", "M_2"))
    last = ways[1].turns[1]
    assert (last.gold, last.answer, last.turn_number) == ((), None, 2)
    assert [u.text for u in last.history] == ["Bees?", "They fly."]
    for one, two in zip(turns_of(tree), turns_of(other), strict=True):
        assert (one.query_id, one.conversation_id, one.history, one.gold, one.answer) == (
            two.query_id, two.conversation_id, two.history, two.gold, two.answer,
        )  # fmt: skip
    assert (recognised(tree), recognised(other)) == (["cast-2022-tree"], ["cast-2022"])


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([*TREE, user("1-1", "1-2", "x")], "node 1-1 twice"),
        ([*TREE, user("4-1", "9-9", "x")], "parent '9-9', which is not there"),
        ([*TREE, user("4-1", "4-2", "x"), system("4-2", "4-1", "y")], "2 nodes hang on no root"),
        ([system("1-1", "", "Hello.")], r"node 1-1 \(system\) does not follow"),
        ([TREE[0] | {"participant": "Bot"}], r"node 1-1 \(bot\)"),
    ],
)
def test_2022_broken_trees(tmp_path: Path, nodes: list[dict[str, Any]], message: str):
    with pytest.raises(InputError, match=message):
        turns_of(write(tmp_path / "t.json", (132, nodes)))


@pytest.mark.parametrize(
    ("turn", "message"),
    [
        ({"number": "1-1", "question": "x"}, "no field 'utterance'"),
        ({"number": "1", "raw_utterance": "x"}, "number is str, expected int"),
        ({"number": "1-1", "utterance": "x", "provenance": "M_1"}, "provenance is no list"),
        ({"number": "1-1", "utterance": "x", "system_response": "y"}, "a draft of the topics"),
        ("x", "turn is no list of turns"),
    ],
)
def test_turns_of_no_known_layout(tmp_path: Path, turn: Any, message: str):
    with pytest.raises(InputError, match=message):
        turns_of(write(tmp_path / "t.json", (1, [turn])))


def test_turns_with_rewrites_one_a_line(tmp_path: Path):
    path = tmp_path / "all.jsonl"
    row = {"id": "1_2", "year": 2022, "history": ["Bees?"], "query": "Far?", "manual_rewrite": "m"}
    rows = [
        row | {"provenance": None},
        row | {"gold": ["a"]},
        row | {"id": "2_2", "canonical": "b"},
    ]
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    found = [c.turns[0] for c in rewritten_turns(path)]
    assert [(t.query_id, t.gold, t.labels) for t in found] == [
        ("1_2", (), ("2022",)),
        ("1_2@2", ("a",), ("2022", "repeated_turn")),
        ("2_2", ("b",), ("2022",)),
    ]
    assert (found[0].rewrite, found[0].turn_number) == ("m", 2)
    assert recognised(path) == ["cast-rewrites"]


def test_sampled_rewrites(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_text('{"sample_id": "1_2", "predicted_rewrite": ["a", "b", "a"]}\n')
    assert list(sampled_rewrites(path)) == [("1_2", ("a", "b", "a"))]
    assert recognised(path) == ["llm4cs"]
    path.write_text('{"sample_id": "1_2", "predicted_rewrite": "a"}\n')
    with pytest.raises(InputError, match="predicted_rewrite is str"):
        list(sampled_rewrites(path))
