"""Query views and the token budget: case 10."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from mtrlib.data.schema import Turn, Utterance
from mtrlib.errors import InputError
from mtrlib.retrieval.models import TokenCounter
from mtrlib.retrieval.query_text import NAIVE, VIEWS, query_text, query_texts, truncation_summary
from mtrlib.retrieval.registry import RetrieverSpec

HISTORY = (
    Utterance("user", "想了解一下企业版网关"),
    Utterance(
        "agent", "企业版网关支持多租户、审计日志、灰度发布和按接口限流，适合有多条业务线的团队。"
    ),
    Utterance("user", "它的限流怎么配"),
    Utterance("agent", "在控制台的流量页面设置阈值"),
)
TURN = Turn("c_3", "c", 3, "那超过阈值会返回什么错误码", HISTORY, rewrite="网关限流超阈值的错误码")


TOKEN = re.compile(r"[\u4e00-\u9fff]|[A-Za-z0-9]+")


def count(text: str) -> int:
    """The toy rule of the case: a CJK character or a run of Latin letters or digits is a token."""
    return len(TOKEN.findall(text))


def cut(text: str, budget: int) -> str:
    """What an encoder with the toy rule keeps when it truncates on the right."""
    ends = [found.end() for found in TOKEN.finditer(text)]
    return text if len(ends) <= budget else text[: ends[budget - 1]]


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


def naive(budget: int | None):
    return query_text(TURN, NAIVE, budget=budget, count_tokens=count, cut=cut)


def test_the_naive_cut_loses_the_question_that_the_view_protects():
    built = naive(24)
    whole = query_text(TURN, "full_history").text
    assert whole.startswith(built.text)
    assert count(built.text) == 24
    assert built.question_lost
    assert built.truncated
    assert TURN.raw_utterance[0] not in built.text.removeprefix(HISTORY[0].text)
    assert (built.dropped_utterances, built.dropped_tokens) == (2, 78 - 24)
    protected = query_text(TURN, "full_history", budget=24, count_tokens=count)
    assert not protected.question_lost


@pytest.mark.parametrize(
    ("budget", "utterances", "lost"), [(78, 0, False), (77, 0, False), (66, 0, False),
                                       (65, 0, True), (53, 0, True), (52, 1, True)]
)  # fmt: skip
def test_where_the_naive_cut_falls(budget: int, utterances: int, lost: bool):
    """The history has 65 tokens, 13 of them in its last utterance; then comes the question."""
    assert [count(u.text) for u in HISTORY] == [10, 35, 7, 13]
    built = naive(budget)
    assert built.truncated == (budget < 78)
    assert built.dropped_tokens == 78 - budget
    assert (built.dropped_utterances, built.question_lost) == (utterances, lost)


def test_the_naive_view_is_the_full_history_where_nothing_is_cut():
    for built in (naive(None), naive(78), query_text(TURN, NAIVE)):
        assert built == query_text(TURN, "full_history")
    first = query_text(Turn("q", "c", 1, "x"), NAIVE, budget=5, count_tokens=count, cut=cut)
    assert (first.text, first.truncated, first.question_lost) == ("x", False, False)


def test_lost_questions_are_counted():
    limits = {"budget": 40, "count_tokens": count, "cut": cut}
    built = query_texts([TURN, Turn("q", "c", 1, "x")], NAIVE, **limits)
    summary = truncation_summary(built)
    assert (summary["queries"], summary["truncated"], summary["question_lost"]) == (2, 1, 1)
    assert truncation_summary(query_texts([TURN], "full_history", **limits))["question_lost"] == 0


def test_the_naive_view_is_for_demonstration_and_says_what_it_needs():
    assert NAIVE not in VIEWS
    with pytest.raises(InputError, match=r"Mend: pass TokenCounter\.cut"):
        query_text(TURN, NAIVE, budget=24, count_tokens=count)


def test_the_counter_cuts_where_its_tokens_end(tmp_path: Path):
    words = {w: i for i, w in enumerate("[UNK] cafe bridge ##s over 水 库".split())}
    tokenizer = Tokenizer(models.WordPiece(words, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()  # strips the accent, lowers, splits 水库
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    counter = TokenCounter(RetrieverSpec("toy", "dense", str(tmp_path), max_length=5))
    text = " Café  Bridges over水库?!"
    assert counter(text) == 8
    kept = [counter.cut(text, n) for n in range(9)]
    assert kept[:4] == ["", " Café", " Café  Bridge", " Café  Bridges"]
    assert kept[4:] == [text[:19], text[:20], text[:21], text[:22], text]
    assert [counter(part) for part in kept] == list(range(9))
    assert counter.cut("", 3) == ""
    long = query_text(
        Turn("c_2", "c", 2, "水库?", (Utterance("user", "bridges over cafe"),)),
        NAIVE, budget=counter.query_budget, count_tokens=counter, cut=counter.cut,
    )  # fmt: skip
    assert (long.text, long.question_lost) == ("bridges over cafe\n水", False)
    assert (long.truncated, long.dropped_tokens) == (True, 2)
