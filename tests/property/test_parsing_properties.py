"""What must hold for every reply, searched by Hypothesis."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtrlib.llm.parsing import read_choice, read_predicate, read_score
from mtrlib.llm.questions import Verdict
from mtrlib.llm.verdict_words import PREDICATE_WORDS

LABELS = ["1", "2", "3", "none"]
# what verdicts are made of, so that random texts come close to them
SCRAPS = (
    'Score: |score|"score"|Rating |评分：|Answer: |Verdict: |{|}|[|]|(|)|"|\'|**|`|```json\n|```|'
    "<think>|</think>|yes|no|是|不是|否|none|None of them|or |and |/|out of |of |,|.|:|?|%|-|"
    "1|2|3|4|5|9|10|85|0.8|3.5|½|４|null|true|NaN|\n|\r\n|\ufeff| |because |I cannot |scale 1-5|"
    "(1-10)|final |maximum |A|the passage "
).split("|")

fast = settings(max_examples=200, deadline=None)
texts = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(SCRAPS), max_size=14).map("".join))
finishes = st.sampled_from(["stop", "length", ""])
prose = st.text("abcdefgh ijklmn,.\n我你他", max_size=60)
reasoning = st.text('abc {}":0123456789score yes no是', max_size=40)


def every_verdict(text: str, finish: str = "stop") -> list[Verdict]:
    return [
        read_score(text, low=1, high=5, finish_reason=finish),
        read_choice(text, labels=LABELS, finish_reason=finish),
        read_predicate(text, finish_reason=finish),
    ]


@fast
@given(texts, finishes)
def test_a_verdict_is_on_its_scale_or_missing_with_a_reason(text, finish) -> None:
    score, choice, predicate = every_verdict(text, finish)
    assert score.value in {None, 1, 2, 3, 4, 5}
    assert choice.value in {None, *LABELS}
    assert predicate.value in {None, 0, 1}
    for verdict in (score, choice, predicate):
        assert (verdict.value is None) == bool(verdict.reason)


@fast
@given(texts, st.integers(-2, 2), st.integers(1, 8))
def test_a_score_stays_on_any_scale(text, low, steps) -> None:
    value = read_score(text, low=low, high=low + steps).value
    assert value is None or (low <= value <= low + steps and value == int(value))


def test_random_texts_reach_verdicts_at_all() -> None:
    """Else the two properties above would hold for a reader that never reads."""
    joined = ["".join(SCRAPS[i : i + 2]) for i in range(len(SCRAPS) - 1)] + [
        "Score: 4",
        "[2]",
        "不是",
    ]
    seen = {verdict.value for text in joined for verdict in every_verdict(text)}
    assert {0, 1, 4, "2"} <= seen


@fast
@given(
    st.sampled_from(
        [("score", value, value) for value in range(1, 6)]
        + [("choice", label, label) for label in LABELS]
        + [("answer", "yes", 1), ("answer", False, 0), ("answer", "不是", 0)]
    ),
    prose,
    reasoning,
    prose,
    st.booleans(),
    st.sampled_from([None, 2]),
)
def test_what_stands_around_a_json_verdict_does_not_change_it(
    case, before, thoughts, after, fenced, indent
) -> None:
    key, written, value = case
    body = json.dumps({"reason": f"{thoughts} {{", key: written}, indent=indent)
    body = f"```json\n{body}\n```" if fenced else body
    reply = f"<think>{thoughts}</think>\n{before}\n{body}\n{after}"
    index = ("score", "choice", "answer").index(key)
    for text in (reply, reply.replace("\n", "\r\n"), "\ufeff" + reply):
        assert every_verdict(text)[index].value == value


@fast
@given(st.text(max_size=80))
def test_a_text_without_digits_or_words_of_a_verdict_has_none(text) -> None:
    words = "|".join([*PREDICATE_WORDS, "none", "no", "neither", "都", "なし", "없음", "沒"])
    text = re.sub(words, "", "".join(c for c in text if not c.isnumeric()), flags=re.IGNORECASE)
    if re.search(words, text, flags=re.IGNORECASE):  # joined by the removal
        return
    score, choice, predicate = every_verdict(text)
    assert score.value is choice.value is None
    assert predicate.value is None


@fast
@given(texts)
def test_reasoning_that_never_ends_hides_every_verdict(text) -> None:
    unclosed = "<think>" + text.replace("</think>", "").replace("think", "")
    assert {verdict.value for verdict in every_verdict(unclosed)} == {None}


@fast
@given(st.integers(0, 400), st.integers(0, 400))
def test_a_fraction_counts_on_our_scale_only(number, top) -> None:
    verdict = read_score(f"{number}/{top}", low=1, high=5)
    if top != 5:
        assert verdict.reason == "off_scale"
    elif 1 <= number <= 5:
        assert verdict.value == number
    else:
        assert verdict.reason == "out_of_range"


@pytest.mark.parametrize("form", ["{}", "{}.", "**{}**", "[{}]", "Score: {}", '{{"score": {}}}'])
@given(number=st.integers(-50, 150))
@fast
def test_a_whole_number_is_read_whole(form, number) -> None:
    verdict = read_score(form.format(number), low=1, high=5)
    expected = (number, "") if 1 <= number <= 5 else (None, "out_of_range")
    assert (verdict.value, verdict.reason) == expected
