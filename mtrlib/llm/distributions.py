"""From probabilities of the allowed answers to a verdict: one rule for all wire formats."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from mtrlib.llm.questions import Predicate, Question, Score, Verdict

# below this share the model was about to say something else, so there is no verdict to read
MIN_MASS = 0.5
# servers round each probability (sums of 1.001 were seen); far above 1 are no probabilities
MAX_MASS = 1.05


def allowed(question: Question) -> tuple[str, ...]:
    """Every answer a question allows, as text: yes and no, the labels, or the level numbers."""
    if isinstance(question, Predicate):
        return ("yes", "no")
    if isinstance(question, Score):
        return tuple(str(level) for level in range(question.low, question.high + 1))
    return tuple(question.options)


def distribution(question: Question, masses: Mapping[str, Any]) -> dict[str, float]:
    """Probabilities of the allowed answers, renormalised over these alone.

    Parameters
    ----------
    masses : answer -> probability, as a server gave it; answers that are not allowed carry
        no weight.

    Returns
    -------
    dict
        In the order of :func:`allowed`, sum 1. Empty where nothing can be read: a value that
        is no finite number from 0, or a total outside ``[MIN_MASS, MAX_MASS]``.
    """
    kept = {answer: masses.get(answer, 0.0) for answer in allowed(question)}
    if not all(is_number(p) and p >= 0 for p in kept.values()):
        return {}
    total = math.fsum(kept.values())
    if not MIN_MASS <= total <= MAX_MASS:
        return {}
    return {answer: p / total for answer, p in kept.items()}


def verdict_of(question: Question, masses: Mapping[str, Any]) -> Verdict:
    """Verdict from probabilities: of yes, the likeliest label, or the expected level.

    The expected level is ``sum over levels of level * p(level)``, on the question's scale.
    Of labels that are equally likely the one shown first wins. Probabilities that cannot be
    read (see :func:`distribution`) give a missing verdict, ``no_score``.
    """
    shares = distribution(question, masses)
    if not shares:
        return Verdict.missing("no_score")
    if isinstance(question, Predicate):
        return Verdict(shares["yes"], probabilities=shares)
    if isinstance(question, Score):
        expected = math.fsum(int(level) * p for level, p in shares.items())
        # the sum may leave the scale by the last bit of a float
        return Verdict(min(max(expected, question.low), question.high), probabilities=shares)
    return Verdict(max(shares, key=shares.__getitem__), probabilities=shares)


def is_number(value: Any) -> bool:
    """Finite and a number; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
