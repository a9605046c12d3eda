"""A whole number on a declared scale, read from text or from a JSON value."""

from __future__ import annotations

import math
import re
from typing import Any

from mtrlib.llm.labelled_text import labelled
from mtrlib.llm.questions import Verdict
from mtrlib.llm.reply_text import CLOSING, MARKS, plain
from mtrlib.llm.verdict_words import SCORE_LABELS

# atomic, so that 45 is never read as 4, nor 4.0.1 as 4.0
_NUMBER = (
    rf"{MARKS}*+(?>(?P<n>-?[0-9]+(?:[.,][0-9]+)?)(?![A-Za-z_0-9½¼¾²³⁄])(?![.,]?[0-9]){CLOSING}*+"
    r"(?:(?:/|out\s+of\b|of\b)\s*(?P<top>[0-9]+(?:\.[0-9]+)?)|(?P<percent>%|percent\b))?"
    rf"\s*(?:分|点|점|points?\b|stars?\b)?){CLOSING}*+"
)
_HEAD = re.compile(_NUMBER, re.IGNORECASE)
_ALONE = re.compile(rf"{_NUMBER}[.!。]*{MARKS}*", re.IGNORECASE)
# a whole reply in the form in which prompts show the levels: "4: nearly"
_WITH_NAME = re.compile(rf"{_NUMBER}(?::|[-–—] )[^0-9\n.!?。]{{,40}}[.。]?", re.IGNORECASE)
_SECOND = re.compile(
    r"(?:\([^()\n]*\))?\s*(?:-|–|—|~|->|→|to\b|or\b|and\b|&|,|;|:|/|、|至|到|或|和)\s*[0-9]",
    re.IGNORECASE,
)
# "Score: 4 claims ...", "Score: 4 if ...": on the same line only these may follow a number
_COUNTS_SOMETHING = re.compile(
    r"[?=/%+]|-[A-Za-z]|[个個条篇段项項处處件개]"
    r"|(?!(?:because|since|as|but|the|this|it|given|due|not|hardly|partly|nearly|fully)\b)[a-z]"
)
_TO = r"\s*(?:-|–|—|~|to|through|至|到)\s*"
_SCALE = re.compile(
    rf"(?:\bon )?(?:\b(?:a|the) )?\bscale\b\W*?(?:of |from |is )?(?P<a>-?\d+){_TO}(?P<b>-?\d+)"
    r"|\( ?out of (?P<c>\d+) ?\)|满分(?:为|是)?:? ?(?P<d>\d+) ?分?"
    rf"|(?P<label>(?:{SCORE_LABELS})[\s*_]*)?"
    rf"[\[(]\s*(?P<e>-?\d+){_TO}(?P<f>-?\d+) ?[分点점]? ?[\])]"
    rf"|(?<![\d.,/-])(?P<g>-?\d+){_TO}(?P<h>-?\d+)(?![\d.,/%-])",
    re.IGNORECASE,
)


def levels_of_value(value: Any, low: int, high: int) -> list[Verdict]:
    """Verdicts of a JSON value under a score key, as :func:`levels_in_text`; none of a boolean."""
    if isinstance(value, str):
        return levels_in_text(plain(value), low, high)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return []
    return [_on_scale(value, low, high)]


def levels_in_text(text: str, low: int, high: int) -> list[Verdict]:
    """Every labelled verdict, or that of a text which is nothing but the number.

    Parameters
    ----------
    text : from :func:`mtrlib.llm.reply_text.plain`.
    low, high : lowest and highest level.

    Returns
    -------
    list of Verdict
        A level as float, or missing as ``off_scale``, ``not_whole``, ``out_of_range`` or
        ``ambiguous``; empty where the text gives no verdict.

    Notes
    -----
    A description of the scale ("1-5", "on a scale of 1 to 5") is taken out first; where it
    names another scale, the verdicts beside it are ``off_scale``.
    """
    text, another = _without_scale(text, low, high)
    named = _WITH_NAME.fullmatch(text)
    alone = _number(named, low, high) if named else _alone(text, low, high)
    found = [alone] if alone else []
    for value, manner in [] if alone else labelled(text, SCORE_LABELS):
        verdict = (_head if manner == "colon" else _alone)(value, low, high)
        found += [verdict] if verdict else []
    return [Verdict.missing("off_scale") for _ in found] if another else found


def _on_scale(value: float, low: int, high: int) -> Verdict:
    if isinstance(value, float) and math.isfinite(value) and not value.is_integer():
        return Verdict.missing("not_whole")
    return Verdict(float(value)) if low <= value <= high else Verdict.missing("out_of_range")


def _number(found: re.Match[str], low: int, high: int) -> Verdict:
    if found["percent"] or (found["top"] and float(found["top"]) != high):
        return Verdict.missing("off_scale")
    digits = re.sub(r",(?=\d{3}$)", "", found["n"]).replace(",", ".")  # 1,000 and 4,5
    return _on_scale(float(digits), low, high)


def _alone(text: str, low: int, high: int) -> Verdict | None:
    found = _ALONE.fullmatch(text)
    if found:
        return _number(found, low, high)
    several = _HEAD.match(text)
    if (
        several
        and len(re.findall(r"[0-9]+", text)) > 1
        and re.fullmatch(rf"(?:{MARKS}|[-–—~&,、0-9.]|to|or|and|至|到|或|和)*", text)
    ):
        return Verdict.missing("ambiguous")
    return None


def _head(text: str, low: int, high: int) -> Verdict | None:
    found = _HEAD.match(text)
    if not found:
        return None
    after = text[found.end() :]
    if _SECOND.match(after):
        return Verdict.missing("ambiguous")
    return None if _COUNTS_SOMETHING.match(after) else _number(found, low, high)


def _without_scale(text: str, low: int, high: int) -> tuple[str, bool]:
    another = False

    def replace(found: re.Match[str]) -> str:
        nonlocal another
        bottom = found["a"] or found["e"] or found["g"]
        top = found["b"] or found["c"] or found["d"] or found["f"] or found["h"]
        if (bottom is None or float(bottom) == low) and float(top) == high:
            return found["label"] or ""
        if found["g"] or (found["e"] and not found["label"]):
            return found[0]  # some other range, as of pages
        another = True
        return found["label"] or ""

    return re.sub(r"[\[(]\s*[\])]", "", _SCALE.sub(replace, text)), another
