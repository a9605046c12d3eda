"""Prices from an editable table, and token ranges that need no tokenizer."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtrlib.errors import InputError
from mtrlib.llm.prices import find_price, price_range, prices, request_tokens, token_range
from mtrlib.llm.requests import Request


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MTR_PRICES", raising=False)


def test_the_first_pattern_that_fits_counts() -> None:
    assert find_price("gpt-4.1-mini-2025-04-14").pattern == "gpt-4.1-mini*"
    assert find_price("gpt-4.1").pattern == "gpt-4.1*"
    assert find_price("GPT-4o-mini").input == 0.15
    assert find_price("local").input == find_price("local").output == 0
    assert find_price("no-such-model") is None


def test_every_entry_has_a_date() -> None:
    assert all(len(p.date) == 10 for p in prices())


def test_the_users_own_table_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("gpt-*: {input: 9, output: 9, date: 2026-01-01, currency: EUR}\n", "utf-8")
    monkeypatch.setenv("MTR_PRICES", str(own))
    assert find_price("gpt-4.1").currency == "EUR" and find_price("local") is not None
    own.write_text("gpt-*: {input: 9}\n", "utf-8")
    with pytest.raises(InputError, match=r"own\.yaml: gpt-\*: no price"):
        prices()
    monkeypatch.setenv("MTR_PRICES", str(tmp_path / "absent.yaml"))
    with pytest.raises(InputError, match="check MTR_PRICES"):
        prices()


def test_a_price_that_is_not_known_is_never_zero() -> None:
    assert price_range((1, 2), (1, 2), None) is None
    price = find_price("gpt-4.1")
    low, high = price_range((1_000_000, 2_000_000), (0, 500_000), price)
    assert (low, high) == (2.0, 8.0)
    assert price_range((10, 20), (10, 20), find_price("local")) == (0, 0)


@pytest.mark.parametrize(
    ("text", "fewest", "most"),  # as the tokenizers of the three embedded models count
    [
        ("The quick brown fox jumps over the lazy dog.", 10, 12),
        ("Wie tief ist der See im Norden der Insel?", 11, 14),  # spellchecker:disable-line
        ("深度学习模型的训练需要大量数据", 15, 23),
        ("東京の天気はどうですか", 11, 21),
        ("", 0, 0),
    ],
)
def test_the_token_range_holds_the_count(text: str, fewest: int, most: int) -> None:
    low, high = token_range(text)
    assert low <= fewest <= most <= high <= 2 * most + 1


def test_the_range_of_a_request_covers_all_that_is_sent() -> None:
    words = "a passage of some words " * 20
    chat = Request("e", "m", "chat", {"messages": [{"role": "user", "content": words}]})
    (low, high), out = request_tokens(chat)
    assert low >= token_range(words)[0] and high > token_range(words)[1]
    assert out == (1, 1024)
    limited = Request("e", "m", "chat", {**chat.body, "max_tokens": 7})
    assert request_tokens(limited)[1] == (1, 7)
    questions = {str(i): {"type": "noul", "instructions": "?"} for i in range(3)}
    typed = Request("e", "m", "system_one", {"state": words, "questions": questions})
    (low, high), out = request_tokens(typed)
    assert high > 3 * token_range(words)[1] > low and out[0] == 0
