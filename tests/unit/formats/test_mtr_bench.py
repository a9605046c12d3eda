"""MTR-Bench rows and corpus; the records are made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats import mtr_bench
from mtrlib.data.formats.mtr_bench import FORMAT, FORMAT_CORPUS, conversations, passages
from mtrlib.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:the reader of mtr-bench")


def context(number: int) -> dict[str, Any]:
    return {
        "id": f"art{number // 10}",
        "url": f"https://example.org/{number}",
        "title": f"Lake {number // 10}",
        "text": f"Lake text number {number}.",
        "naive_quality": 0,
        "edu_quality": 2.0,
        "document_idx": number,
    }


def row(questions: str, gold: int, **more: Any) -> dict[str, Any]:
    """One word per question; the reply to ``q`` is ``re q``."""
    messages = []
    for word in questions.split():
        messages.append({"role": "user", "content": word})
        messages.append({"role": "assistant", "content": f"re {word}"})
    return {
        "messages": messages,
        "ctxs": [context(gold), context(gold + 1)],
        "ground_truth_document_idx": gold,
        "ground_truth_ctx": context(gold),
        "cluster_idx": gold // 10,
    } | more


def write(tmp_path: Path, rows: list[dict[str, Any]]) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    return path


def test_eight_turn_rows_switch_where_the_cluster_changes(tmp_path: Path):
    rows = [row("a", 10), row("a b", 11), row("a b c", 25), row("a b c d", 26), row("x", 30)]
    path = write(tmp_path, rows)
    first, second = conversations(path)
    assert (first.conversation_id, first.topic_switch_turn, len(first.turns)) == ("1", 3, 4)
    third = first.turns[2]
    assert (third.query_id, third.raw_utterance, third.gold) == ("1_3", "c", ("25",))
    assert [(u.role, u.text) for u in third.history] == [
        ("user", "a"), ("agent", "re a"), ("user", "b"), ("agent", "re b"),
    ]  # fmt: skip
    assert (third.answer, third.source, third.labels) == ("re c", "rows.jsonl:3", ())
    assert (second.conversation_id, second.topic_switch_turn) == ("2", None)


def test_twelve_turn_rows_say_where_they_switch(tmp_path: Path):
    rows = [row("a", 10, turn=1, switch_turn=2), row("a b", 11, turn=2, switch_turn=2)]
    rows += [row("a b c", 25, turn=3, switch_turn=2), row("x", 30, turn=1, switch_turn=-1)]
    assert [c.topic_switch_turn for c in conversations(write(tmp_path, rows))] == [3, None]


def test_a_row_with_another_history_stays_and_is_labelled(tmp_path: Path):
    rows = [row("a", 10), row("other b", 11), row("other b c", 12)]
    (conversation,) = conversations(write(tmp_path, rows))
    assert [t.labels for t in conversation.turns] == [(), ("history_differs",), ()]


def test_a_lost_turn_is_bridged_by_the_history(tmp_path: Path):
    (conversation,) = conversations(write(tmp_path, [row("a", 10), row("a b c", 12)]))
    assert [t.query_id for t in conversation.turns] == ["1_1", "1_3"]


def test_a_failed_reply_is_no_answer(tmp_path: Path):
    failed = row("a", 10)
    failed["messages"][-1]["content"] = mtr_bench.FAILED
    (conversation,) = conversations(write(tmp_path, [failed]))
    assert (conversation.turns[0].answer, conversation.turns[0].labels) == (
        None,
        ("failed_answer",),
    )


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([row("a", 10), row("x", 30), row("a b c", 12)], r":3: turn 3 comes after turn 1"),
        ([row("a b", 11)], r":1: turn 2 comes after nothing"),
        ([row("a", 10), row("a b", 11), row("a c", 12)], r":3: turn 2 comes after turn 2"),
        ([row("a", 10, turn=2)], r":1: turn is 2 after 1 questions"),
        ([row("a", 10, ground_truth_ctx=context(11))], r"gold is 10 and in its context 11"),
        ([row("a", 10, ground_truth_document_idx=-1)], r"ground_truth_document_idx is -1"),
        ([row("a", 10, messages=[{"role": "user", "content": "a"}])], r"do not alternate"),
        ([row("a", 10, messages=[{"role": "tool", "content": "a"}])], r"role 'tool' is unknown"),
    ],
)
def test_what_cannot_be_grouped_or_trusted_is_refused(
    tmp_path: Path, rows: list[dict[str, Any]], message: str
):
    with pytest.raises(InputError, match=message):
        list(conversations(write(tmp_path, rows)))


def test_passages_of_rows_come_once_and_of_the_corpus_by_position(tmp_path: Path):
    rows = write(tmp_path, [row("a", 10), row("a b", 11)])
    assert [(p.passage_id, p.document) for p in passages(rows)] == [
        ("10", "art1"), ("11", "art1"), ("12", "art1"),
    ]  # fmt: skip
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(
        "".join(
            json.dumps({k: v for k, v in context(n).items() if k != "document_idx"}) + "\n"
            for n in (40, 41)
        )
    )
    found = list(passages(corpus))
    assert [(p.passage_id, p.title, p.source) for p in found] == [
        ("0", "Lake 4", "corpus.jsonl:1"),
        ("1", "Lake 4", "corpus.jsonl:2"),
    ]
    assert FORMAT.recognises(rows) and not FORMAT.recognises(corpus)
    assert FORMAT_CORPUS.recognises(corpus) and not FORMAT_CORPUS.recognises(rows)


def test_two_texts_under_one_document_idx(tmp_path: Path):
    other = row("a b", 11)
    other["ctxs"][0]["text"] = "changed"
    with pytest.raises(InputError, match=r":2: passage 11 has two texts"):
        list(passages(write(tmp_path, [row("a", 10), other])))


def test_first_use_says_that_no_real_record_was_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("mtrlib.data.formats.base._NOTICED", set())
    with pytest.warns(UserWarning, match="never tried on the real files"):
        list(conversations(write(tmp_path, [row("a", 10)])))
