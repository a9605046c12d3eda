"""Strict reading of judge replies: a verdict on the scale that was asked, or why there is none.

The order is fixed: the whole reply as JSON; without its reasoning; without fences; JSON
objects inside prose; a labelled verdict; a reply that is nothing but the verdict. Nothing is
guessed, clamped or rescaled, and there is no default. Two verdicts that differ are none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

from mtrlib.llm.choice_text import LabelReader
from mtrlib.llm.predicate_text import truths_in_text, truths_of_value
from mtrlib.llm.questions import Verdict
from mtrlib.llm.reply_text import ReplyParts, keyed_values, split_reply
from mtrlib.llm.score_text import levels_in_text, levels_of_value
from mtrlib.llm.verdict_words import CHOICE_KEYS, PREDICATE_KEYS, REFUSAL, SCALE_KEYS, SCORE_KEYS

# finish reasons of a reply that was broken off -> why its verdict is missing
BROKEN_OFF = {"length": "truncated", "max_tokens": "truncated", "content_filter": "refusal"}


def read_score(text: str, *, low: int, high: int, finish_reason: str = "stop") -> Verdict:
    """Read a whole number of the scale ``low`` to ``high``.

    Parameters
    ----------
    text : the reply as it came.
    finish_reason : as the server names it. A reply that was broken off (``BROKEN_OFF``) has
        a verdict only if it begins with a complete JSON object that holds one: a bare number
        or a labelled one may have been cut, as 1 of 10.

    Returns
    -------
    Verdict
        A number as float (``4.0`` and ``4/5`` on 1 to 5 are 4), or the reason: ``off_scale``
        for n/m with another m, for percentages and for a verdict beside another scale;
        ``not_whole``; ``out_of_range``; ``ambiguous`` for verdicts that differ, unless the
        others are called initial or the like; ``truncated``; ``refusal``; ``empty``;
        ``no_score``.

    Examples
    --------
    >>> read_score("Three parts, all supported. **Rating:** 4/5", low=1, high=5).value
    4.0
    >>> read_score("8/10", low=1, high=5).reason
    'off_scale'
    """

    def in_text(rest: str) -> list[Verdict]:
        return levels_in_text(rest, low, high)

    def of_value(value: Any) -> list[Verdict]:
        return levels_of_value(value, low, high)

    parts = split_reply(text)
    verdict = _read(parts, finish_reason, SCORE_KEYS, of_value, in_text)
    tops = [re.findall(r"\d+", str(top))[-1:] for top in keyed_values(parts.objects, SCALE_KEYS)]
    if verdict.value is not None and any(top and float(top[0]) != high for top in tops):
        return Verdict.missing("off_scale")
    return verdict


def read_choice(text: str, *, labels: Sequence[str], finish_reason: str = "stop") -> Verdict:
    r"""Read one of the labels.

    Parameters
    ----------
    text, finish_reason : as in :func:`read_score`.
    labels : the labels that were offered, in any order; ``none`` among them is also met by
        "none of them" and its like.

    Returns
    -------
    Verdict
        A label exactly as in ``labels``, or the reason. A label is read where it is the whole
        reply, its last line, the value of a JSON key or of a label such as ``Answer:``, never
        from running text. ``out_of_range``: a number, a letter or "none" off the list.

    Examples
    --------
    >>> read_choice("[1] names the town, [2] the year.\nAnswer: [2]", labels=["1", "2"]).value
    '2'
    >>> read_choice("[0]", labels=["1", "2"]).reason
    'out_of_range'
    """
    reader = LabelReader(labels)
    parts = split_reply(text)
    return _read(parts, finish_reason, CHOICE_KEYS, reader.of_value, reader.in_text)


def read_predicate(text: str, *, finish_reason: str = "stop") -> Verdict:
    """Read yes (1.0) or no (0.0).

    Parameters
    ----------
    text, finish_reason : as in :func:`read_score`.

    Returns
    -------
    Verdict
        1.0 or 0.0 where the whole reply, its first clause, a JSON value or the value of a
        label such as ``Verdict:`` is a verdict word, in English, Chinese, Japanese or Korean.
        A reply that is exactly ``1`` or ``0`` counts too; digits in text do not.

    Examples
    --------
    >>> read_predicate("不是。").value, read_predicate("Yes, it names the town.").value
    (0.0, 1.0)
    >>> read_predicate("0 of 2").reason
    'no_score'
    """
    parts = split_reply(text)
    return _read(parts, finish_reason, PREDICATE_KEYS, truths_of_value, truths_in_text)


def _read(
    parts: ReplyParts,
    finish_reason: str,
    keys: Collection[str],
    of_value: Callable[[Any], list[Verdict]],
    in_text: Callable[[str], list[Verdict]],
) -> Verdict:
    cut = BROKEN_OFF.get(finish_reason, "")
    values = keyed_values(parts.objects, keys)
    if cut and (parts.broken or not (parts.json_first and values)):
        return Verdict.missing(cut)
    if not (parts.objects or parts.text or parts.broken):
        return Verdict.missing("empty")
    if parts.broken:
        return Verdict.missing("no_score")
    found = [verdict for value in values for verdict in of_value(value)]
    differing = {(v.value, v.reason) for v in [*found, *in_text(parts.text)]}
    if len(differing) == 1:
        value, reason = differing.pop()
        return Verdict(value, reason)
    if differing:
        return Verdict.missing("ambiguous")
    said = [parts.text, *(value for value in values if isinstance(value, str))]
    refused = any(REFUSAL.search(part) for part in said)
    return Verdict.missing(cut or ("refusal" if refused else "no_score"))
