"""Streaming inside one JSON object, and rows grouped to conversations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mtrlib.data.formats.grouping import Row, by_history, by_number
from mtrlib.data.formats.nested import items_of, members, source_of
from mtrlib.data.schema import Turn
from mtrlib.errors import InputError

PATH = Path("rows.json")


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    return path


def test_lists_come_item_by_item_and_objects_at_their_depth(tmp_path: Path):
    path = write(tmp_path, '\ufeff{"v": 1.5, "a": {"x": [{"k": [1]}, "t"], "y": {"z": null}}}')
    assert list(members(path, 2)) == [
        (("v",), 1.5),
        (("a", "x", "0"), {"k": [1]}),
        (("a", "x", "1"), "t"),
        (("a", "y"), {"z": None}),
    ]
    assert source_of(path, ("a", "x", "1")) == "a.json#a/x/1"


def test_items_come_before_the_file_is_read_to_its_end(tmp_path: Path):
    path = write(tmp_path, '{"data": [{"n": 1}, {"n": 2}, {"n":')
    found = members(path, 1)
    assert [next(found)[1]["n"], next(found)[1]["n"]] == [1, 2]
    with pytest.raises(InputError, match="it may be cut"):
        next(found)


def test_items_of_one_list(tmp_path: Path):
    path = write(tmp_path, '\ufeff{"v": "1", "data": [{"n": 1.5}, {"n": 2}]}')
    assert list(items_of(path, "data")) == [
        ("a.json#data/0", {"n": 1.5}),
        ("a.json#data/1", {"n": 2}),
    ]
    with pytest.raises(InputError, match=r"a\.json: no records under 'rows'"):
        list(items_of(path, "rows"))


@pytest.mark.parametrize(
    ("text", "message"),
    [('{"data": [1]}', "#data/0: no object"), ('{"data": [{"n": 1}, {', "it may be cut")],
)
def test_broken_items(tmp_path: Path, text: str, message: str):
    with pytest.raises(InputError, match=message):
        list(items_of(write(tmp_path, text), "data"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "not one JSON object"),
        ("version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"),
        ('{"a": 1} {"b": 2}', "not valid JSON"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, message: str):
    with pytest.raises(InputError, match=message):
        list(members(write(tmp_path, text), 1))


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(InputError, match=r"none\.json: no such file"):
        list(members(tmp_path / "none.json", 1))


def numbered(*rows: str) -> Iterator[Turn]:
    for row in rows:
        yield Turn(row, row[0], int(row[1:]), "?", source=f"row {row}")


def ids(conversations: Iterator[object]) -> list[list[str]]:
    return [[t.query_id for t in c.turns] for c in conversations]


def test_rows_with_an_id_are_grouped_as_they_pass_and_ordered():
    assert ids(by_number(numbered("a2", "a1", "b1"), PATH)) == [["a1", "a2"], ["b1"]]


def test_only_one_conversation_is_held():
    taken: list[str] = []

    def rows() -> Iterator[Turn]:
        for turn in numbered("a1", "a2", "b1", "c1"):
            taken.append(turn.query_id)
            yield turn

    assert next(by_number(rows(), PATH)).conversation_id == "a"
    assert taken == ["a1", "a2", "b1"]


def test_rows_apart_stop_with_both_places_or_are_grouped_on_request():
    with pytest.raises(InputError, match=r"row a2: continues .* row a1, .*contiguous=False"):
        list(by_number(numbered("a1", "b1", "a2"), PATH))
    apart = by_number(numbered("a2", "b1", "a1"), PATH, contiguous=False)
    assert ids(apart) == [["a1", "a2"], ["b1"]]


def test_a_turn_that_occurs_twice_is_refused():
    with pytest.raises(InputError, match="conversation a has turn 1 twice"):
        list(by_number(numbered("a1", "a1"), PATH))


def told(*rows: str) -> Iterator[Row]:
    """Rows such as ``d:x y z``: document d, messages x (user), y (agent), z (user)."""
    for row in rows:
        document, said = row.split(":")
        messages = tuple((("user", "agent")[i % 2], w) for i, w in enumerate(said.split()))
        turn = Turn("", "", len(messages) // 2 + 1, messages[-1][1], source=f"row {row}")
        yield Row(document, messages, turn)


def questions(conversations: Iterator[object]) -> list[str]:
    return [
        f"{c.conversation_id}: " + " ".join(f"{t.query_id}={t.raw_utterance}" for t in c.turns)
        for c in conversations
    ]


def test_rows_without_an_id_are_grouped_by_what_was_said():
    rows = told("d:a", "d:a x b", "d:a x b y c", "d:a", "d:a z b", "e:a z b")
    assert questions(by_history(rows, PATH)) == [
        "1: 1_1=a 1_2=b 1_3=c",
        "2: 2_1=a 2_2=b",
        "3: 3_2=b",
    ]


def test_turns_may_be_missing_between_and_before():
    rows = told("d:a", "d:a x b y c", "d:m x n", "d:m x n y o")
    assert questions(by_history(rows, PATH)) == ["1: 1_1=a 1_3=c", "2: 2_2=n 2_3=o"]


@pytest.mark.parametrize(
    "rows",
    [
        ("d:a", "d:b", "d:a x c"),
        ("d:a", "d:a x b", "d:m", "d:a x b y c"),
        ("d:a x b y c", "d:a x b"),  # out of order
    ],
)
def test_a_conversation_that_comes_back_stops(rows: tuple[str, ...]):
    with pytest.raises(InputError, match=r"continues the conversation of row d:a.*Mend"):
        list(by_history(told(*rows), PATH))


def test_interleaved_rows_are_grouped_on_request_in_the_order_of_their_first_rows():
    rows = told("d:a", "d:b", "d:b x e", "d:a x c", "d:a", "d:a x c y f")
    assert questions(by_history(rows, PATH, contiguous=False)) == [
        "1: 1_1=a 1_2=c 1_3=f",
        "2: 2_1=b 2_2=e",
        "3: 3_1=a",
    ]


def test_equal_single_questions_are_two_conversations():
    assert questions(by_history(told("d:a", "d:a"), PATH)) == ["1: 1_1=a", "2: 2_1=a"]
    found = by_history(told("d:a", "d:a"), PATH, contiguous=False)
    assert questions(found) == ["1: 1_1=a", "2: 2_1=a"]
