"""What a run may cost: a token range before the call, prices from a table the user can edit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import yaml

from mtrlib.data.own_tables import table_texts
from mtrlib.errors import InputError
from mtrlib.llm.requests import Request

Range = tuple[int, int]

# characters per token of alphabetic text, and tokens per character of scripts without spaces,
# from long common words to rare ones and to old tokenizers
_LETTERS_PER_TOKEN = (5.0, 2.5)
_TOKENS_PER_WIDE = (0.6, 2.0)
_FRAME = 10  # tokens of roles and markers around one request, at most
_OPEN_END = 1024  # tokens of a reply whose length the request does not limit


@dataclass(frozen=True)
class Price:
    """Price of a model, in ``currency`` per million tokens, as it was on ``date``."""

    pattern: str
    input: float
    output: float
    date: str
    currency: str = "USD"


def prices() -> tuple[Price, ...]:
    """The table: the user's own (``MTR_PRICES``) first, then the built-in examples.

    Raises
    ------
    InputError
        No such file, or an entry without input, output and date.
    """
    table: tuple[Price, ...] = ()
    for text, where in table_texts("mtrlib.llm", "prices.yaml", "MTR_PRICES"):
        table = _parsed(text, where) + table
    return table


def find_price(name: str) -> Price | None:
    """The first entry whose pattern (``*`` and ``?`` as in file names) fits; None = unknown."""
    return next((p for p in prices() if fnmatchcase(name.lower(), p.pattern.lower())), None)


def price_range(
    tokens_in: Range, tokens_out: Range, price: Price | None
) -> tuple[float, float] | None:
    """Lowest and highest cost of so many tokens; None where the price is unknown, never 0.

    Parameters
    ----------
    tokens_in, tokens_out : lowest and highest number of tokens.
    """
    if price is None:
        return None
    low, high = ((tokens_in[i] * price.input + tokens_out[i] * price.output) / 1e6 for i in (0, 1))
    return low, high


def token_range(text: str) -> Range:
    """How many tokens a text may have: a range, since no tokenizer is asked.

    Alphabetic text has 2.5 to 5 characters a token, Chinese, Japanese and Korean 0.6 to 2
    tokens a character.

    >>> token_range("Which rivers flow through Vienna?"), token_range("多瑙河")
    ((6, 14), (1, 7))
    """
    wide = sum(ord(c) >= 0x1100 for c in text if not c.isspace())
    letters = len(text) - wide
    low = letters / _LETTERS_PER_TOKEN[0] + wide * _TOKENS_PER_WIDE[0]
    high = letters / _LETTERS_PER_TOKEN[1] + wide * _TOKENS_PER_WIDE[1]
    return int(low), int(high) + 1


def request_tokens(request: Request) -> tuple[Range, Range]:
    """Token ranges of a request and of its reply, before it is sent.

    Where a request holds several questions a server may read the text once for each.
    """
    low, high = token_range(_text(request.body))
    questions = request.body.get("questions")
    if questions is not None:
        return (low, high * max(1, len(questions)) + _FRAME), (0, 16 * len(questions))
    body = request.body
    most = body.get("max_completion_tokens") or body.get("max_tokens") or _OPEN_END
    return (low, high + _FRAME), (1, int(most))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return " ".join(_text(v) for pair in value.items() for v in pair)
    if isinstance(value, list | tuple):
        return " ".join(_text(v) for v in value)
    return ""


def _parsed(text: str, where: str) -> tuple[Price, ...]:
    table = []
    for pattern, entry in (yaml.safe_load(text) or {}).items():
        try:
            price = Price(
                pattern=str(pattern),
                input=float(entry["input"]),
                output=float(entry["output"]),
                date=str(entry["date"]),
                currency=str(entry.get("currency", "USD")),
            )
        except (AttributeError, KeyError, TypeError, ValueError):
            raise InputError.at(
                where,
                None,
                f"{pattern}: no price can be read",
                "give input and output per million tokens, and date",
            ) from None
        table.append(price)
    return tuple(table)
