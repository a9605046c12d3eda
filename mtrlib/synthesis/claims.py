"""Strict reading of what a query agent wrote: one claim, or the reason why there is none."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mtrlib.llm.reply_text import split_reply
from mtrlib.synthesis.candidates import Problem

# the paper's form, a question behind the number of its passage: "[2] Who built it?"
_NUMBERED = re.compile(r"\s*[\[【]\s*(\d+)\s*[\]】]\s*[:：]?\s*(\S.*)")
# a question alone on its line, with or without a label ('The user asks, "…"') and quotes
_LABEL = (
    r"(?:[^?？]{0,200}(?:\b(?:q|question|user|student|asks?)(?:\s+is)?|问题|用户|提问)\W{0,3}"
    r"(?:[:：]|,?\s*(?=[\"“]))\s*)?"
)
_QUESTION = re.compile(rf"\W*{_LABEL}(\S.*[?？])\W*", re.IGNORECASE)
_QUOTES = "\"'“”‘’「」『』*_` "


def read_claim(text: str, shown: int) -> tuple[int, str] | Problem:
    """Read a passage number and a question.

    Parameters
    ----------
    text : the reply without reasoning.
    shown : how many passages were shown; they count from 1.

    Returns
    -------
    tuple or Problem
        From the JSON object ``{"passage": n, "question": "…"}`` or a line ``[n] question``.
        Problems: ``no_claim``; ``ambiguous`` for several that differ; ``out_of_range``;
        ``no_question``.

    Examples
    --------
    >>> read_claim("[2] Who built the bridge?", shown=5)
    (2, 'Who built the bridge?')
    >>> read_claim("[7] Who built the bridge?", shown=5).reason
    'out_of_range'
    """
    found: set[tuple[str, str]] = set()
    for values in _objects(text):
        if "passage" in values and "question" in values:
            found.add((_number(values["passage"]), str(values["question"] or "").strip()))
    if not found:
        lines = map(_NUMBERED.fullmatch, text.splitlines())
        found = {(line[1], line[2].strip(_QUOTES)) for line in lines if line}
    if len(found) != 1:
        return Problem("ambiguous" if found else "no_claim")
    number, question = found.pop()
    if not number:
        return Problem("no_claim")
    if not 1 <= int(number) <= shown:
        return Problem("out_of_range")
    return (int(number), question) if question else Problem("no_question")


def read_question(text: str) -> tuple[int, str] | Problem:
    """Read one question about the one passage that was shown, which has the number 1.

    Returns
    -------
    tuple or Problem
        From the JSON object ``{"question": "…"}``, or from lines that hold a question and
        nothing else but a label; lines without a question are passed over. Problems:
        ``no_question``; ``ambiguous`` for several that differ.

    Examples
    --------
    >>> read_question('The user asks: "Who built the bridge?"')
    (1, 'Who built the bridge?')
    """
    found = {str(values["question"]).strip() for values in _objects(text) if values.get("question")}
    if not found:
        lines = map(_QUESTION.fullmatch, text.splitlines())
        found = {line[1].strip(_QUOTES) for line in lines if line}
    if len(found) != 1:
        return Problem("ambiguous" if found else "no_question")
    return 1, found.pop()


def _objects(text: str) -> list[Mapping[str, object]]:
    objects = split_reply(text).objects
    flat = [o for part in objects for o in (part if isinstance(part, list) else [part])]
    return [{str(k).casefold(): v for k, v in o} for o in flat if isinstance(o, tuple)]


def _number(value: object) -> str:
    """A whole number as digits, "" for anything else (a yes, 2.5, a list)."""
    text = str(value).strip("[] ")
    return text if not isinstance(value, bool) and text.isdecimal() else ""
