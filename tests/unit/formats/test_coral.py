"""CORAL: array or lines, pids that count from 1."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats.coral import FORMAT, FORMAT_CORPUS, conversations, passages
from mtrlib.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:the reader of coral")


def turn(number: int, question: str, pids: list[Any], **more: Any) -> dict[str, Any]:
    return {
        "turn_id": number,
        "question": question,
        "response": f"On {question}",
        "golden_rewrite": "",
        "golden_docs_pids": pids,
        "golden_docs_text": [],
    } | more


RECORDS = [
    {
        "conv_id": "Test_LDS_0",
        "turns": [turn(1, "tea", [2, 1, 2]), turn(2, "it", [], golden_docs_text=["A leaf."])],
    },
    {"conv_id": 7, "turns": [turn(1, "milk", [3], golden_rewrite="cow's milk")]},
]


@pytest.mark.parametrize("layout", ["array", "lines"])
def test_both_layouts_read_alike(tmp_path: Path, layout: str):
    path = tmp_path / "test_conversation.json"
    lines = "\n".join(map(json.dumps, RECORDS))
    path.write_text(json.dumps(RECORDS) if layout == "array" else lines + "\n")
    first, second = conversations(tmp_path)  # the folder's only such file
    assert [t.query_id for t in first.turns] == ["Test_LDS_0_1", "Test_LDS_0_2"]
    assert [t.gold for t in first.turns] == [("2", "1"), ()]
    assert first.turns[1].gold_texts == ("A leaf.",)
    assert [(u.role, u.text) for u in first.turns[1].history] == [
        ("user", "tea"),
        ("agent", "On tea"),
    ]
    assert (second.conversation_id, second.turns[0].rewrite) == ("7", "cow's milk")
    assert first.turns[0].rewrite is None
    assert FORMAT.recognises(path) and not FORMAT_CORPUS.recognises(path)


def corpus(path: Path, *numbers: Any) -> Path:
    rows = [{"ref_id": n, "ref_string": f"text {n}"} for n in numbers]
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    return path


def test_corpus_ids_meet_the_pids_also_in_a_cut_corpus(tmp_path: Path):
    path = corpus(tmp_path / "passage_corpus.json", 1, "2", 5)
    assert [(p.passage_id, p.text) for p in passages(path)] == [
        ("1", "text 1"),
        ("2", "text 2"),
        ("5", "text 5"),
    ]
    assert FORMAT_CORPUS.recognises(path)


@pytest.mark.parametrize("numbers", [(0, 1), (2, 1), (1, 1)])
def test_corpus_that_would_shift_the_gold(tmp_path: Path, numbers: tuple[int, ...]):
    with pytest.raises(InputError, match="gold pids count passages from 1"):
        list(passages(corpus(tmp_path / "passage_corpus.json", *numbers)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"golden_docs_pids": [0]}, "pid 0 is below 1"),
        ({"golden_docs_pids": [1.0]}, "golden_docs_pids 1.0 is no whole number"),
        ({"golden_docs_pids": 1}, "golden_docs_pids is no list"),
        ({"question": None}, "question is NoneType"),
        ({"turn_id": "a"}, "turn_id 'a' is no whole number"),
    ],
)
def test_wrong_turns(tmp_path: Path, change: dict[str, Any], message: str):
    path = tmp_path / "c.json"
    path.write_text(json.dumps([{"conv_id": "c", "turns": [turn(1, "tea", []) | change]}]))
    with pytest.raises(InputError, match=message):
        list(conversations(path))


def test_a_folder_with_two_conversation_files(tmp_path: Path):
    for name in ("train_conversation.json", "test_conversation.json"):
        (tmp_path / name).write_text("[]")
    with pytest.raises(InputError, match=r"test_conversation\.json, train_conversation\.json"):
        list(conversations(tmp_path))
