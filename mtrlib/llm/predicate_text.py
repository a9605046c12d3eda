"""Yes or no, read from text or from a JSON value."""

from __future__ import annotations

import re
from typing import Any

from mtrlib.llm.labelled_text import labelled
from mtrlib.llm.questions import Verdict
from mtrlib.llm.reply_text import plain
from mtrlib.llm.verdict_words import DECLINED, PREDICATE_LABELS, PREDICATE_WORDS

_BREAK = re.compile(r"(\s+[-–—]+\s+|[,.;:!?()\n。、—–…]|\s(?=(?:because|since)\b)|因为)")
_STRIP = " \t*_`\"'“”‘’「」『』【】[]{}<>#|•-"
_ECHO = re.compile(r"[(\[] ?(?:yes|是) ?(?:/|or|或) ?(?:no|否) ?[)\]]", re.IGNORECASE)
_WORD = "|".join(sorted(map(re.escape, PREDICATE_WORDS), key=len, reverse=True))
_BOTH = re.compile(rf"({_WORD})\s*(?:/|and|or|but|和|或)\s*({_WORD})")


def truths_of_value(value: Any) -> list[Verdict]:
    """Verdicts of a value that stood under an answer key: true, false, 1, 0 or their words."""
    if isinstance(value, str):
        return truths_in_text(plain(value))
    if not isinstance(value, bool | int | float) or value != value:
        return []
    if value in (0, 1):
        return [Verdict(float(value))]
    return [Verdict.missing("not_whole" if 0 < value < 1 else "out_of_range")]


def truths_in_text(text: str) -> list[Verdict]:
    """Verdict words that are clauses of their own, where the first clause or a label has one.

    Parameters
    ----------
    text : from :func:`mtrlib.llm.reply_text.plain`.

    Returns
    -------
    list of Verdict
        1.0, 0.0 or missing as ``ambiguous``; empty where the text gives no verdict.

    Notes
    -----
    A clause must be the word and nothing else, so that no word is found inside another one
    and a negated word is not taken for its opposite. A text that is ``1`` or ``0`` counts.
    """
    text = _ECHO.sub("", text)
    if text.strip(_STRIP + ".") in ("0", "1"):
        return [Verdict(float(text.strip(_STRIP + ".")))]
    clauses = _clauses(text)
    found = [_first(value, manner) for value, manner in labelled(text, PREDICATE_LABELS)]
    leading = clauses[:1] if not DECLINED.search(text) else []
    opening = [verdict for verdict in [*found, *leading] if verdict]
    return [*opening, *(verdict for verdict in clauses if verdict)] if opening else []


def _clauses(text: str) -> list[Verdict | None]:
    """Verdict of each clause that has words, None where it is no verdict."""
    parts = [*_BREAK.split(text), ""]
    pairs = [(parts[i].strip(_STRIP).casefold(), parts[i + 1]) for i in range(0, len(parts) - 1, 2)]
    return [None if end == "?" else _truth(clause) for clause, end in pairs if clause]


def _first(value: str, manner: str) -> Verdict | None:
    clauses = _clauses(value)
    if manner == "bare" and len(clauses) > 1:
        return None  # "Answer yes, if ..." may be the instruction, repeated
    return clauses[0] if clauses else None


def _truth(clause: str) -> Verdict | None:
    clause = re.sub(r"^(?:and|or|but)\s+(?:also\s+)?", "", clause)
    if clause in PREDICATE_WORDS:
        return Verdict(PREDICATE_WORDS[clause])
    both = _BOTH.fullmatch(clause)
    if both and PREDICATE_WORDS[both[1]] != PREDICATE_WORDS[both[2]]:
        return Verdict.missing("ambiguous")
    return None
