"""ChatRAG-Bench rows and documents; the records are made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats.chatrag_bench import (
    FORMAT,
    FORMAT_DOCUMENTS,
    conversations,
    passages,
)
from mtrlib.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:the reader of chatrag-bench")


def row(said: str, truth: Any, document: str = "http://x.org/a_1", **more: Any) -> dict[str, Any]:
    """Words alternate between user and assistant."""
    roles = ("user", "assistant")
    return {
        "document": document,
        "messages": [
            {"role": roles[i % 2], "content": word} for i, word in enumerate(said.split())
        ],
        "answers": [f"answer to {said.split()[-1]}", "another"],
        "ctxs": [{"title": "", "text": "found"}],
        "ground_truth_ctx": truth,
    } | more


def write(tmp_path: Path, rows: list[dict[str, Any]], name: str = "test.json") -> Path:
    path = tmp_path / name
    path.write_text(json.dumps(rows))
    return path


def chunk(index: int) -> dict[str, Any]:
    return {"index": index, "ctx": f"chunk {index}"}


def test_gold_with_an_index_is_a_chunk_of_the_document_searched(tmp_path: Path):
    path = write(tmp_path, [row("a", chunk(0)), row("a x b", chunk(2)), row("m", chunk(1))])
    first, second = conversations(path)
    turn = first.turns[1]
    assert (turn.query_id, turn.raw_utterance, turn.turn_number) == ("1_2", "b", 2)
    assert (turn.gold, turn.scope, turn.gold_texts) == (
        ("http://x.org/a_1_2",), "http://x.org/a_1", (),
    )  # fmt: skip
    assert [(u.role, u.text) for u in turn.history] == [("user", "a"), ("agent", "x")]
    assert (turn.answer, turn.source) == ("answer to b", "test.json#1")
    assert [t.query_id for t in second.turns] == ["2_1"]


def test_an_index_below_zero_leaves_the_text(tmp_path: Path):
    (conversation,) = conversations(write(tmp_path, [row("a", chunk(-1))]))
    turn = conversation.turns[0]
    assert (turn.gold, turn.gold_texts, turn.scope) == ((), ("chunk -1",), "http://x.org/a_1")


def test_gold_without_an_index_is_a_text(tmp_path: Path):
    rows = [row("a", {"ctx": "Moss grows.", "title": "Moss"}, topic="Moss")]
    (conversation,) = conversations(write(tmp_path, rows, "dev.json"))
    turn = conversation.turns[0]
    assert (turn.gold, turn.gold_texts, turn.scope) == ((), ("Moss grows.",), "")


def test_gold_as_a_list_may_be_empty_and_keeps_ids_whole(tmp_path: Path):
    several = [
        {"ctx": "c", "passage_id": "Types of moss:19"},
        {"ctx": "d", "passage_id": "Iñupiat:15"},
        {"ctx": "e"},
    ]
    path = write(tmp_path, [row("a", several, "w"), row("a x b", [], "w")], "dev.json")
    (conversation,) = conversations(path)
    first, second = conversation.turns
    assert (first.gold, first.gold_texts) == (("Types of moss:19", "Iñupiat:15"), ("e",))
    assert (second.gold, second.gold_texts, second.scope) == ((), (), "")


def test_answer_may_be_one_text(tmp_path: Path):
    single = row("a", chunk(0), answer="only")
    del single["answers"]
    (conversation,) = conversations(write(tmp_path, [single]))
    assert conversation.turns[0].answer == "only"


def test_rows_apart_are_grouped_on_request_only(tmp_path: Path):
    path = write(tmp_path, [row("a", chunk(0)), row("m", chunk(1)), row("a x b", chunk(2))])
    with pytest.raises(InputError, match=r"test\.json#2: continues .*test\.json#0"):
        list(conversations(path))
    found = conversations(path, contiguous=False)
    assert [len(c.turns) for c in found] == [2, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"messages": [{"role": "assistant", "content": "x"}]}, "not a question of the user"),
        ({"messages": [{"role": "user", "text": "x"}]}, "no field 'content'"),
        ({"ground_truth_ctx": "text"}, "ground_truth_ctx is str, expected dict or list"),
        ({"ground_truth_ctx": {"index": "1", "ctx": "c"}}, "index is str"),
        ({"document": None}, "document is NoneType"),
        ({"answers": {"a": 1}}, "answers is no list"),
    ],
)
def test_other_shapes_are_refused(tmp_path: Path, change: dict[str, Any], message: str):
    with pytest.raises(InputError, match=message):
        list(conversations(write(tmp_path, [row("a", chunk(0)) | change])))


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    path = tmp_path / "documents.json"
    path.write_text(json.dumps({"http://x.org/a_1": ["zero", "one", "two"], "b": ["only"]}))
    return path


def test_documents_are_passages_with_their_document(documents: Path):
    found = list(passages(documents))
    assert [(p.passage_id, p.text, p.document) for p in found][2:] == [
        ("http://x.org/a_1_2", "two", "http://x.org/a_1"),
        ("b_0", "only", "b"),
    ]
    assert found[3].source == "documents.json#b/0"


def test_answers_are_appended_on_request_with_a_warning(tmp_path: Path, documents: Path):
    write(tmp_path, [row("a", chunk(2)), row("a x b", chunk(2)), row("m", chunk(0))])
    with pytest.warns(UserWarning, match="leakage"):
        found = {p.passage_id: p.text for p in passages(documents, append_answer=True)}
    assert found == {
        "http://x.org/a_1_0": "zero || answer to m",
        "http://x.org/a_1_1": "one",
        "http://x.org/a_1_2": "two || answer to a || answer to b",
        "b_0": "only",
    }
    assert "||" not in "".join(p.text for p in passages(documents))


def test_append_answer_needs_the_rows_of_the_same_subset(tmp_path: Path, documents: Path):
    with pytest.raises(InputError, match=r"no test\.json or dev\.json beside it"):
        list(passages(documents, append_answer=True))
    write(tmp_path, [row("a", chunk(9))])
    with (
        pytest.warns(UserWarning, match="leakage"),
        pytest.raises(InputError, match=r"no chunk http://x\.org/a_1_9"),
    ):
        list(passages(documents, append_answer=True))


def test_documents_of_another_shape_are_refused(tmp_path: Path):
    path = tmp_path / "documents.json"
    path.write_text('{"a": {"b": 1}}')
    with pytest.raises(InputError, match=r"documents\.json#a: not a list of texts"):
        list(passages(path))


def test_recognition(tmp_path: Path, documents: Path):
    rows = write(tmp_path, [row("a", chunk(0))])
    chat = tmp_path / "chat.json"
    chat.write_text('[{"messages": [{"role": "user", "content": "x"}], "gold": "t"}]')
    assert FORMAT.recognises(rows) and FORMAT_DOCUMENTS.recognises(documents)
    prose = tmp_path / "README.md"
    prose.write_text('Rows look like {"messages": [], "ctxs": [], "answers": []}.')
    others = (documents, chat, prose, tmp_path, tmp_path / "none")
    assert not any(FORMAT.recognises(p) for p in others)
    assert not any(FORMAT_DOCUMENTS.recognises(p) for p in (rows, chat, tmp_path))
