"""Query views and the token budget: case 10."""

from __future__ import annotations

import re

import pytest

from mtrlib.data.schema import Turn, Utterance
from mtrlib.errors import InputError
from mtrlib.retrieval.query_text import query_text, truncation_summary

HISTORY = (
    Utterance("user", "想了解一下企业版网关"),
    Utterance(
        "agent", "企业版网关支持多租户、审计日志、灰度发布和按接口限流，适合有多条业务线的团队。"
    ),
    Utterance("user", "它的限流怎么配"),
    Utterance("agent", "在控制台的流量页面设置阈值"),
)
TURN = Turn("c_3", "c", 3, "那超过阈值会返回什么错误码", HISTORY, rewrite="网关限流超阈值的错误码")


def count(text: str) -> int:
    """The toy rule of the case: a CJK character or a run of Latin letters or digits is a token."""
    return len(re.findall(r"[\u4e00-\u9fff]|[A-Za-z0-9]+", text))


def test_case_10_question_whole_and_within_budget():
    assert count(TURN.raw_utterance) == 13
    assert count(query_text(TURN, "full_history").text) == 78
    built = query_text(TURN, "full_history", budget=24, count_tokens=count)
    assert TURN.raw_utterance in built.text
    assert count(built.text) <= 24
    assert built.truncated
    assert built.dropped_utterances == 4
    assert built.dropped_tokens == 78 - 13
    assert truncation_summary([built])["truncated"] == 1


def test_the_newest_history_is_kept():
    built = query_text(TURN, "full_history", budget=33, count_tokens=count)
    assert built.text.split("\n") == [*(u.text for u in HISTORY[2:]), TURN.raw_utterance]
    assert built.dropped_utterances == 2


@pytest.mark.parametrize("budget", range(13, 90))
def test_kept_history_is_always_a_suffix(budget: int):
    built = query_text(TURN, "full_history", budget=budget, count_tokens=count)
    kept = built.text.split("\n")[:-1]
    assert kept == [u.text for u in HISTORY[len(HISTORY) - len(kept) :]]
    assert count(built.text) <= budget
    assert built.dropped_tokens + count(built.text) == 78


def test_views():
    assert query_text(TURN, "last_turn").text == TURN.raw_utterance
    assert query_text(TURN, "user_turns").text.split("\n") == [
        HISTORY[0].text,
        HISTORY[2].text,
        TURN.raw_utterance,
    ]
    assert query_text(TURN, "rewrite").text == TURN.rewrite
    bare = Turn("q", "c", 1, "x")
    assert query_text(bare, "rewrite").fell_back
    assert not query_text(TURN, "rewrite").fell_back
    with pytest.raises(InputError, match="Known: last_turn"):
        query_text(TURN, "everything")


def test_a_question_longer_than_the_budget_is_flagged_not_changed():
    built = query_text(TURN, "full_history", budget=5, count_tokens=count)
    assert built.question_exceeds
    assert built.truncated
    assert built.text == TURN.raw_utterance
