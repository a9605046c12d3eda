"""Beyond the paper: stop verifying a list once little more is to be expected from it.

A cheap scorer says for each passage how likely it is to be accepted. The expensive verifier
reads the most promising ones in small steps; a question is closed when the number of further
acceptances to expect among the rest falls below a threshold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mtrlib.data.schema import Run
from mtrlib.errors import InputError
from mtrlib.evaluation.significance import Groups, paired_difference
from mtrlib.rvr.settings import Verified, Verifier
from mtrlib.rvr.trace import NOT_JUDGED, RvrResult
from mtrlib.rvr.verifiers import Pairs, Score, checked_scores


@dataclass
class EarlyStopping:
    """A verifier that leaves the rest of a list unread.

    The expected number of further acceptances of a question is ``sum of p over the unread
    passages * (weight + accepted) / (weight + sum of p over the read ones)``: the scorer's
    sum, corrected by how it did on this question so far.

    Attributes
    ----------
    probability : pairs to calibrated probabilities, shape (n_pairs,), see
        :func:`mtrlib.rvr.thresholds.fit_probability`.
    verifier : reads what is read.
    threshold : acceptances still expected under which a question is closed; 0 reads all.
    step : passages per question between two looks. One batch per look over all open questions.
    weight : expected acceptances that the scorer's word is worth before anything is read.
    skipped : passages left unread so far: calls saved. They are rejected without a verdict, so
        the loop does not pass them over in later lists.
    """

    probability: Score
    verifier: Verifier
    threshold: float
    step: int = 5
    weight: float = 1.0
    name: str = ""
    calls: int = 0
    cached: int = 0
    skipped: int = 0

    def __post_init__(self) -> None:
        if self.step < 1 or self.weight <= 0 or self.threshold < 0:
            raise InputError(
                f"early stopping: step={self.step} must be at least 1, weight={self.weight} above "
                f"0, threshold={self.threshold} not negative."
            )
        self.name = self.name or f"{self.verifier.name} until {self.threshold:g}"

    def verify(self, pairs: Pairs) -> list[Verified]:
        """One verdict per pair; an unread one is rejected with the reason ``not_applicable``."""
        scores = checked_scores(self.probability, pairs, self.name)
        found = [Verified(False, float(s), NOT_JUDGED) for s in scores]
        waiting = _by_question(pairs, scores)
        read = {question: (0.0, 0) for question in waiting}  # sum of p, acceptances
        before = self.verifier.calls, self.verifier.cached
        while chosen := self._next(waiting, read, scores):
            told = self.verifier.verify([pairs[i] for i in chosen])
            for i, verdict in zip(chosen, told, strict=True):
                found[i] = verdict
                question = pairs[i][0].question_id
                expected, accepted = read[question]
                read[question] = expected + float(scores[i]), accepted + verdict.accepted
        self.calls += self.verifier.calls - before[0]
        self.cached += self.verifier.cached - before[1]
        self.skipped += sum(map(len, waiting.values()))
        return found

    def _next(
        self,
        waiting: Mapping[str, list[int]],
        read: Mapping[str, tuple[float, int]],
        scores: np.ndarray,
    ) -> list[int]:
        """Takes the next step of every open question out of ``waiting``."""
        chosen = []
        for question, rows in waiting.items():
            expected, accepted = read[question]
            rate = (self.weight + accepted) / (self.weight + expected)
            if rows and float(scores[rows].sum()) * rate >= self.threshold:
                chosen += rows[: self.step]
                del rows[: self.step]
        return chosen


def trade_off(
    run: Callable[[Verifier], RvrResult],
    measure: Callable[[Run], pd.DataFrame],
    full: Verifier,
    cheaper: Sequence[Verifier],
    *,
    groups: Groups = None,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """What is lost for calls saved: each cheaper verifier beside the full one.

    Parameters
    ----------
    run : runs the loop with a verifier, all else fixed.
    measure : per-question values of a run, one column per measure, as
        :attr:`mtrlib.evaluation.multi_answer.MultiAnswer.per_question`.
    full : the verifier that reads everything.
    cheaper : early stopping by thresholds, cascades by bands.
    groups, resamples, confidence, rng : as
        :func:`mtrlib.evaluation.significance.paired_difference`.

    Returns
    -------
    DataFrame
        One row per verifier and measure: ``calls`` (asked, replayed ones included, so that a
        warm store changes nothing), ``share`` of the full verifier's, ``full`` and ``value``
        (means), ``difference`` with ``low, high``, ``n`` questions.

    Raises
    ------
    InputError
        The full verifier was asked nothing, so there is no share.
    """
    base = run(full)
    if not base.asked:
        raise InputError(
            f"verifier {full.name!r} was asked nothing. Mend: compare with one that is."
        )
    reference = measure(base.run)
    rows = []
    for verifier in cheaper:
        result = run(verifier)
        values = measure(result.run)
        for name in reference.columns:
            found = paired_difference(
                reference[name],
                values[name],
                groups=groups,
                resamples=resamples,
                confidence=confidence,
                rng=rng,
            )
            rows.append(
                {
                    "verifier": verifier.name,
                    "measure": name,
                    "calls": result.asked,
                    "share": result.asked / base.asked,
                    "full": float(reference[name].mean()),
                    "value": float(values[name].mean()),
                    "difference": found.value,
                    "low": found.low,
                    "high": found.high,
                    "n": found.n,
                }
            )
    return pd.DataFrame(rows)


def _by_question(pairs: Pairs, scores: np.ndarray) -> dict[str, list[int]]:
    """Rows of each question, the most promising first; equal ones by rank."""
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for i, (question, _) in enumerate(pairs):
        rows[question.question_id].append(i)
    return {q: sorted(own, key=lambda i: (-scores[i], i)) for q, own in rows.items()}
