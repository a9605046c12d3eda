"""Verifiers without an LLM: none, oracle, a score with a threshold, and a cascade of two.

All follow :class:`mtrlib.rvr.settings.Verifier`. ``calls`` counts passages judged, ``cached``
replayed ones apart; what is no judgement costs no call (trap 9).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from mtrlib.data.schema import Passage
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import InputError
from mtrlib.evaluation.list_answers import answers_in, gold_passages
from mtrlib.rvr.settings import Verified, Verifier
from mtrlib.rvr.trace import NOT_JUDGED

Pairs = Sequence[tuple[ListQuestion, Passage]]
Score = Callable[[Pairs], npt.NDArray[np.float64]]


@dataclass
class NoVerifier:
    """Accepts the first passages of each question unread: the paper's TopK.

    Attributes
    ----------
    accept : passages per question and round. The paper does not give its number; it cannot be
        all of them, since with ``accept >= K`` the output is the first round's list and later
        rounds change nothing (trap 1). M is the natural one.
    """

    accept: int
    name: str = "none"
    calls: int = 0
    cached: int = 0

    def verify(self, pairs: Pairs) -> list[Verified]:
        """Accept by rank: pairs of one question come in rank order. The rest is left unjudged."""
        seen: Counter[str] = Counter()
        found = []
        for question, _ in pairs:
            seen[question.question_id] += 1
            yes = seen[question.question_id] <= self.accept
            found.append(Verified(yes, reason="" if yes else NOT_JUDGED))
        return found


@dataclass
class OracleVerifier:
    """Knows the gold: an upper bound, never a method.

    Attributes
    ----------
    by : ``gold``: the passage is marked for the question; ``answers``: an answer stands in it
        (the only one for sets that mark no passages).
    """

    by: Literal["gold", "answers"] = "gold"
    name: str = "oracle"
    calls: int = 0
    cached: int = 0

    def verify(self, pairs: Pairs) -> list[Verified]:
        """One verdict per pair."""
        self.calls += len(pairs)
        if self.by == "gold":
            told = [p.passage_id in gold_passages(q) for q, p in pairs]
        else:
            told = [bool(answers_in(q, p)) for q, p in pairs]
        return [Verified(yes, float(yes)) for yes in told]


@dataclass
class ScoreVerifier:
    """Accepts what a local model scores at or above a threshold.

    Attributes
    ----------
    score : pairs to an array of shape (n_pairs,); fractions in [0, 1], so that policies and
        early stopping can read them as support (see :mod:`mtrlib.rvr.thresholds`).
    threshold : from dev, see :func:`mtrlib.rvr.thresholds.calibrated_threshold`.
    """

    name: str
    score: Score
    threshold: float
    calls: int = 0
    cached: int = 0

    def verify(self, pairs: Pairs) -> list[Verified]:
        """One verdict per pair.

        Raises
        ------
        InputError
            As :func:`checked_scores`.
        """
        self.calls += len(pairs)
        scores = checked_scores(self.score, pairs, self.name)
        return [Verified(bool(s >= self.threshold), float(s)) for s in scores]


@dataclass
class Cascade:
    """A cheap verifier decides the clear cases, an expensive one those in between.

    Attributes
    ----------
    cheap : gives scores; a pair without one goes to the expensive verifier.
    low, high : the band: below ``low`` is rejected, from ``high`` on accepted, unread by the
        expensive verifier.
    expensive : judges ``low <= score < high``. An unreadable reply of it is a rejection.
    calls, cached : those of the expensive verifier; the cheap one counts its own.
    """

    cheap: Verifier
    low: float
    high: float
    expensive: Verifier
    name: str = ""
    calls: int = 0
    cached: int = 0

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise InputError(f"band of the cascade: low={self.low} is above high={self.high}.")
        self.name = self.name or f"{self.cheap.name}>{self.expensive.name}"

    def verify(self, pairs: Pairs) -> list[Verified]:
        """One verdict per pair."""
        found = self.cheap.verify(pairs)
        unsure = [
            i for i, v in enumerate(found) if v.score is None or self.low <= v.score < self.high
        ]
        before = self.expensive.calls, self.expensive.cached
        told = self.expensive.verify([pairs[i] for i in unsure]) if unsure else []
        self.calls += self.expensive.calls - before[0]
        self.cached += self.expensive.cached - before[1]
        second = dict(zip(unsure, told, strict=True))
        return [second.get(i) or self._clear(v) for i, v in enumerate(found)]

    def _clear(self, verdict: Verified) -> Verified:
        return Verified((verdict.score or 0.0) >= self.high, verdict.score)


def checked_scores(score: Score, pairs: Pairs, name: str) -> npt.NDArray[np.float64]:
    """Scores of the pairs, shape (n_pairs,), all in [0, 1].

    Raises
    ------
    InputError
        Another shape, or a score that is missing or outside [0, 1]; the pair is named.
    """
    scores = np.asarray(score(pairs), dtype=np.float64)
    if scores.shape != (len(pairs),):
        raise InputError(f"{name}: scores of shape {scores.shape} for {len(pairs)} pairs.")
    for i in np.flatnonzero(~((scores >= 0) & (scores <= 1)))[:1]:
        question, passage = pairs[i]
        raise InputError(
            f"{name}: the score of passage {passage.passage_id!r} for question "
            f"{question.question_id!r} is {scores[i]}. Mend: give fractions in [0, 1], for "
            "example through mtrlib.rvr.thresholds.fit_probability."
        )
    return scores
