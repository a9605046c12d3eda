"""Judge replies: a labelled file without one misread, shared case 04, and what a cut leaves."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.jsonl import read_jsonl
from mtrlib.errors import InputError
from mtrlib.llm.parsing import read_choice, read_predicate, read_score
from mtrlib.llm.questions import REASONS, Verdict
from mtrlib.llm.reply_text import split_reply

FILE = Path(__file__).parents[1] / "data" / "judge_replies.jsonl"
RECORDS = [record for _, record in read_jsonl(FILE)]

# Case 04, on whole numbers 1 to 5: id, finish reason, reply, score or None
CASE_04 = [
    ("r1", "stop", '```json\n{"score": 4, "reason": "证据充分"}\n```', 4),
    (
        "r2",
        "stop",
        '<think>Maybe {"score": 2}? No, the gold passage covers it.</think>\n{"score": 5}',
        5,
    ),
    ("r3", "stop", "There are 3 parts to this answer and all are supported. Score: 4", 4),
    ("r4", "stop", "4/5", 4),
    ("r5", "stop", "8/10", "off_scale"),
    ("r6", "stop", '{"score": 9}', "out_of_range"),
    ("r7", "stop", "", "empty"),
    ("r8", "stop", "I'm sorry, but I can't help with rating this text.", "refusal"),
    (
        "r9",
        "length",
        '{"reason": "the answer covers two of the thr',  # spellchecker:disable-line
        "truncated",
    ),
    ("r10", "stop", "This is not excellent but acceptable.", "no_score"),
]


def read(record: dict[str, Any]) -> Verdict:
    reply, finish = record["reply"], record["finish_reason"]
    if record["kind"] == "score":
        return read_score(reply, low=record["low"], high=record["high"], finish_reason=finish)
    if record["kind"] == "choice":
        return read_choice(reply, labels=record["labels"], finish_reason=finish)
    return read_predicate(reply, finish_reason=finish)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["id"])
def test_labelled_reply(record: dict[str, Any]) -> None:
    verdict = read(record)
    assert (verdict.value, verdict.reason) == (record["value"], record["reason"]), record["why"]


def test_the_file_is_large_varied_and_has_no_record_twice() -> None:
    kinds = Counter(record["kind"] for record in RECORDS)
    assert min(kinds[kind] for kind in ("score", "choice", "predicate")) >= 60
    unread = {"failed", "not_recorded", "not_applicable"}  # no reply was read at all
    assert {record["reason"] for record in RECORDS} - {""} == set(REASONS) - unread
    named = {"id", "why"}
    bodies = {json.dumps({k: v for k, v in r.items() if k not in named}) for r in RECORDS}
    assert len(bodies) == len(RECORDS) == len({record["id"] for record in RECORDS})


@pytest.mark.parametrize(("name", "finish", "reply", "expected"), CASE_04)
def test_case_04(name: str, finish: str, reply: str, expected: int | str) -> None:
    verdict = read_score(reply, low=1, high=5, finish_reason=finish)
    assert (verdict.reason or verdict.value) == expected, name


def test_case_04_mean_of_the_valid_ones() -> None:
    scores = [read_score(t, low=1, high=5, finish_reason=f).value for _, f, t, _ in CASE_04]
    valid = [score for score in scores if score is not None]
    assert len(valid) == 4
    assert sum(valid) / len(valid) == pytest.approx(4.25)


@pytest.mark.parametrize(
    ("finish", "reason"),
    [("length", "truncated"), ("max_tokens", "truncated"), ("content_filter", "refusal")],
)
def test_a_reply_that_was_broken_off_needs_a_complete_object_at_its_start(finish, reason) -> None:
    def of(reply: str) -> Verdict:
        return read_score(reply, low=1, high=5, finish_reason=finish)

    assert of('{"score": 3, "reason": "half"} More of it fol').value == 3
    assert of('<think>{"score": 1}</think>```json\n{"score": 3}\n```').value == 3
    for reply in ("3", "Score: 3", '{"score": 3', 'First {"score": 3}', "", "<think>", "{}"):
        assert of(reply).reason == reason, reply
    assert of('{"score": 7}').reason == "out_of_range"


def test_an_unknown_or_absent_finish_reason_is_no_cut() -> None:
    assert read_score("3", low=1, high=5, finish_reason="").value == 3
    assert read_predicate("no", finish_reason="eos_token").value == 0


def test_the_label_comes_back_as_the_question_wrote_it() -> None:
    assert read_choice("b", labels=["B", "A"]).value == "B"
    assert read_choice("[ａ]", labels=["Ａ", "B"]).value == "Ａ"
    # labels that differ by case alone keep it
    assert read_choice("a", labels=["A", "a"]).value == "a"
    assert read_choice("yes", labels=["YES", "Yes"]).reason == "out_of_range"


@pytest.mark.parametrize("labels", [[], ["A", ""], ["A", "A"], ["A", "[A]"], ["**"]])
def test_labels_that_cannot_be_told_apart_are_refused(labels: list[str]) -> None:
    with pytest.raises(InputError, match="cannot be told apart"):
        read_choice("A", labels=labels)


def test_parts_of_a_reply() -> None:
    parts = split_reply('Ｎｏ. ２ <think>{"a": 1}</think>{"b": [1, {"c": 2}]} end')
    assert parts.objects == ((("b", [1, (("c", 2),)]),),)
    assert parts.text.split() == ["#2", "end"]
    assert not parts.json_first
    assert split_reply('```json\n{"a": 1}\n```').json_first
    assert split_reply('{"a": {"b": 1}, "c": ').broken
    assert split_reply("x <think> y").broken
    assert not split_reply("set {a, b} and {c}").broken


@pytest.mark.parametrize(
    "reply",
    [
        "{" * 20_000,
        '{"a":' * 5_000,
        "[(*" * 10_000,
        "9" * 50_000,
        "Score: " * 3_000,
        "Answer: [1] or " * 2_000,
        "<think>" * 5_000,
        " \n" * 50_000 + "x",
        "{'a': " + "[" * 2_000 + "}",
        '{"score": ' + "9" * 400 + "}",
    ],
    ids=lambda reply: reply[:10],
)
def test_long_odd_replies_are_read_in_no_time_and_raise_nothing(reply: str) -> None:
    assert read_score(reply, low=1, high=5).value is None
    assert read_predicate(reply).value is None
    assert read_choice(reply, labels=["2", "3"]).value is None
