"""Verdicts from the alternatives of a token: the probabilities of the label tokens.

The idea is that of G-Eval (Liu et al., 2023, section 2): a score weighted by the
probabilities of its tokens is finer than the one token that was drawn. What that paper
leaves open is decided here: where to read, and when not to.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from mtrlib.errors import InputError
from mtrlib.llm.distributions import allowed, is_number, verdict_of
from mtrlib.llm.questions import Predicate, Question, Verdict

ALTERNATIVES = 20  # the most that the API gives for a token
MOST_TOKENS = 3  # a mark or space in front, the label, and what follows it

# markers of a space or line break in vocabularies, and marks that models put around a label
_WRAPPING = " \t\r\n▁ĠĊ*`\"'()[]:：「」“”"
_MARKERS = str.maketrans({"▁": " ", "Ġ": " ", "Ċ": "\n"})
# what makes a label token the start of something else: 10, 4.5, 4/10, 4 out of 10, yesterday
_GOES_ON = re.compile(r"\w|\s*[./,~–-]\s*\d|\s*[/%]|\s+(?:out|of)\b")
_CHINESE = {"是": "yes", "否": "no"}


def check_labels(question: Question) -> None:
    """Refuse labels that one token cannot tell apart.

    Raises
    ------
    InputError
        A label that begins another one, as 1 and 10, capitals aside.
    """
    labels = sorted(_form(label) for label in allowed(question))
    for first, second in pairwise(labels):
        if second.startswith(first):
            raise InputError(
                f"label {first!r} begins label {second!r}, so their first tokens can be the "
                "same. Mend: use letters as labels, fewer options, or another dialect."
            )


def read_label_tokens(question: Question, tokens: Sequence[Any]) -> Verdict | None:
    """Verdict from the alternatives at the first token that is more than a mark.

    Parameters
    ----------
    tokens : one mapping per token drawn, ``token``, ``logprob`` (natural) and
        ``top_logprobs``, a list of the same without alternatives of their own.

    Returns
    -------
    Verdict or None
        None where the tokens say nothing and only the text can: there are no alternatives,
        or the label is spelt in several tokens or only begins a longer word or number.
        ``no_score`` where the labels hold less than
        :data:`mtrlib.llm.distributions.MIN_MASS` of the probability.
    """
    drawn = [t for t in tokens if isinstance(t, Mapping) and isinstance(t.get("token"), str)]
    texts = [t["token"].translate(_MARKERS) for t in drawn]
    start = next((i for i, text in enumerate(texts) if text.strip(_WRAPPING)), None)
    if start is None or not drawn[start].get("top_logprobs"):
        return None
    labels = _by_form(question)
    here = labels.get(_form(texts[start]))
    rest = "".join(texts[start + 1 :])
    if here is not None and not texts[start][-1:].isspace() and _GOES_ON.match(rest):
        return None
    if here is None and _form("".join(texts[start:]).rstrip(".。!")) in labels:
        return None
    masses: defaultdict[str, float] = defaultdict(float)
    for token, logprob in _alternatives(drawn[start]):
        label = labels.get(_form(token))
        if label is not None:
            masses[label] += math.exp(logprob)
    return verdict_of(question, masses)


def _by_form(question: Question) -> dict[str, str]:
    forms = {_form(label): label for label in allowed(question)}
    return {**forms, **_CHINESE} if isinstance(question, Predicate) else forms


def _form(text: str) -> str:
    return text.strip(_WRAPPING).casefold()


def _alternatives(token: Mapping[str, Any]) -> list[tuple[str, float]]:
    listed = token["top_logprobs"]
    rows = [r for r in listed if isinstance(r, Mapping)] if isinstance(listed, list) else []
    if token["token"] not in [r.get("token") for r in rows]:
        rows.append(token)
    return [
        (r["token"], r["logprob"])
        for r in rows
        if isinstance(r.get("token"), str) and is_number(r.get("logprob")) and r["logprob"] <= 0
    ]
