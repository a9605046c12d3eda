"""TopiOCQA questions and corpus; the records are made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats import qrecc
from mtrlib.data.formats.topiocqa import FORMAT, FORMAT_CORPUS, conversations, passages
from mtrlib.errors import InputError


def row(number: int, turn: int, topic: str = "Moss", **more: Any) -> dict[str, Any]:
    return {
        "Context": ["a?", "A"] * (turn - 1),
        "Conversation_no": number,
        "Turn_no": turn,
        "Question": f"question {turn}?",
        "is_nq": turn == 1,
        "Answer": f"answer {turn}",
        "Topic": topic,
        "Topic_section": "Introduction",
        "Rationale": "r",
        "Additional_answers": [{"Answer": "other", "Topic": topic}],
        "Gold_passage": {"id": f"wiki:{turn}", "title": f"{topic} [SEP] Introduction", "text": "t"},
    } | more


def write(tmp_path: Path, rows: list[dict[str, Any]]) -> Path:
    path = tmp_path / "topiocqa_dev.json"
    path.write_text(json.dumps(rows))
    return path


def test_turns_and_switches_of_topic(tmp_path: Path):
    rows = [row(3, 1), row(3, 2), row(3, 3, "Fern"), row(3, 4, "Moss"), row(4, 1)]
    path = write(tmp_path, rows)
    assert FORMAT.recognises(path) and not qrecc.FORMAT.recognises(path)
    first, second = conversations(path)
    assert (first.topic_switch_turn, second.topic_switch_turn) == (3, None)
    assert [t.labels for t in first.turns] == [(), (), ("topic_switch",), ("topic_switch",)]
    turn = first.turns[1]
    assert (turn.query_id, turn.gold, turn.answer) == ("3_2", ("wiki:2",), "answer 2")
    assert [u.role for u in turn.history] == ["user", "agent"]
    assert turn.source == "topiocqa_dev.json#1"


def test_turns_out_of_order_switch_in_their_right_order(tmp_path: Path):
    path = write(tmp_path, [row(3, 2, "Fern"), row(3, 1, "Moss")])
    (conversation,) = conversations(path)
    assert [t.labels for t in conversation.turns] == [(), ("topic_switch",)]
    assert conversation.topic_switch_turn == 2


def test_lines_and_one_bare_record_read_too(tmp_path: Path):
    lines = tmp_path / "topiocqa_valid.jsonl"
    lines.write_text("".join(json.dumps(row(3, n)) + "\n" for n in (1, 2)))
    assert [t.source for c in conversations(lines) for t in c.turns] == [
        "topiocqa_valid.jsonl:1",
        "topiocqa_valid.jsonl:2",
    ]
    bare = tmp_path / "bare.json"
    bare.write_text("\ufeff" + json.dumps(row(3, 2), indent=1), encoding="utf-8")
    assert [t.query_id for c in conversations(bare) for t in c.turns] == ["3_2"]


def test_unanswerable_turns_and_turns_without_a_passage(tmp_path: Path):
    rows = [row(3, 1, Answer="UNANSWERABLE", Gold_passage={})]
    rows += [row(3, 2, Gold_passage={"title": "T", "text": "Only text."})]
    (conversation,) = conversations(write(tmp_path, rows))
    first, second = conversation.turns
    assert (first.gold, first.answer, first.labels) == ((), None, ("unanswerable",))
    assert (second.gold, second.gold_texts) == ((), ("Only text.",))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Gold_passage": "wiki:1"}, "Gold_passage is no object"),
        ({"Gold_passage": {"id": 1.5}}, "gold is 1.5, which is no id"),
        ({"Turn_no": None}, "Turn_no is NoneType"),
        ({"Topic": 3}, "Topic is int"),
    ],
)
def test_wrong_fields(tmp_path: Path, change: dict[str, Any], message: str):
    with pytest.raises(InputError, match=message):
        list(conversations(write(tmp_path, [row(3, 1) | change])))


TSV = (
    'id\ttext\ttitle\n1\t"Say ""moss"".\nTwo lines."\tMoss [SEP] Use [SEP] In art\n'
    "0002\tPlain\u2028text.\tFern [SEP] Introduction\nwiki:3\tThird.\tFern\n"
)


def tsv(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "full_wiki_segments.tsv"
    path.write_text(text, encoding="utf-8", newline="")
    return path


@pytest.mark.filterwarnings("ignore:the reader of topiocqa-corpus")
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_corpus(tmp_path: Path, start: str):
    path = tsv(tmp_path, start + TSV)
    assert FORMAT_CORPUS.recognises(path) and not FORMAT.recognises(path)
    first, second, third = passages(path)
    assert (first.passage_id, first.title, first.section) == ("wiki:1", "Moss", ("Use", "In art"))
    assert (first.text, first.document) == ('Say "moss".\nTwo lines.', "Moss")
    assert (second.passage_id, second.text) == ("wiki:0002", "Plain\u2028text.")
    assert (second.source, third.passage_id) == ("full_wiki_segments.tsv:4", "wiki:3")


@pytest.mark.filterwarnings("ignore:the reader of topiocqa-corpus")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\ta\n", ":1: 2 columns, expected 3"),
        ("1\ta\tb\n\ta\tb\n", ":2: id is ''"),
        ('1\t"a" b\tc\n', r":1: .*expected after"),
        ('1\t"a\tc\n2\ta\tb\n', r":2: unexpected end of data"),
    ],
)
def test_broken_corpus(tmp_path: Path, text: str, message: str):
    with pytest.raises(InputError, match=message):
        list(passages(tsv(tmp_path, text)))


def test_a_dpr_file_is_not_claimed(tmp_path: Path):
    path = tmp_path / "psgs_w100.tsv"
    path.write_text("id\ttext\ttitle\n1\tMoss is green.\tMoss\n")
    assert not FORMAT_CORPUS.recognises(path)
