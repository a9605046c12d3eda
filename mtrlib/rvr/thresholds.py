"""From raw scores to probabilities and to a threshold, on dev questions alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from mtrlib.errors import InputError

Floats = npt.NDArray[np.float64]


def calibrated_threshold(
    scores: npt.ArrayLike, truth: npt.ArrayLike, *, beta: float = 1.0
) -> float:
    """The threshold with the best F-measure on judged dev pairs.

    ``F_beta = (1 + beta^2) P R / (beta^2 P + R)`` of accepting ``score >= threshold``.

    Parameters
    ----------
    scores : (n,), any finite unit, larger is better.
    truth : (n,), 1 where the passage supports an answer, else 0.
    beta : weight of recall: above 1 a missed passage counts more than a wrong one.

    Returns
    -------
    float
        Halfway between two neighbouring scores, so that it carries over to new ones; among
        equals the lowest, which accepts more. Half a unit below the lowest score where
        accepting all is best.

    Raises
    ------
    InputError
        No pairs, lengths that differ, a score that is not finite, or no positive.

    Notes
    -----
    F is taken over pairs and not MRecall over questions: a handful of dev questions gives
    MRecall a handful of values, and a threshold picked by them is chance.

    Examples
    --------
    >>> calibrated_threshold([0.9, 0.7, 0.4, 0.1], [1, 1, 0, 0])
    0.55
    """
    s, y = _checked(scores, truth)
    order = np.argsort(s, kind="stable")
    values, first = np.unique(s[order], return_index=True)  # (m,), rising; row of its first
    accepted = len(s) - first  # (m,), by a threshold just below the value
    right = y[order][::-1].cumsum()[::-1][first]
    f = (1 + beta**2) * right / (beta**2 * y.sum() + accepted)
    best = int(np.argmax(f))
    below = values[best] - 1 if best == 0 else values[best - 1]
    return float((below + values[best]) / 2)


def fit_probability(
    scores: npt.ArrayLike, truth: npt.ArrayLike
) -> Callable[[npt.ArrayLike], Floats]:
    """Map raw scores to probabilities that a passage supports an answer (Platt scaling).

    Parameters
    ----------
    scores, truth : (n,), judged pairs of dev questions, both classes among them.

    Returns
    -------
    callable
        Scores of shape (n,) to probabilities of shape (n,), in the order of the scores.

    Raises
    ------
    InputError
        As :func:`calibrated_threshold`, or a single class.

    References
    ----------
    Platt, "Probabilistic outputs for support vector machines", 1999: a logistic curve over
    one score. Its slope is held back a little (C = 1 on standardised scores), so that a few
    dev pairs without overlap do not give probabilities of 0 and 1.
    """
    from sklearn.linear_model import LogisticRegression

    s, y = _checked(scores, truth)
    if y.all():
        raise InputError("all pairs are positive. Mend: judge some that support no answer too.")
    centre, spread = float(s.mean()), float(s.std()) or 1.0
    model = LogisticRegression(C=1.0).fit(((s - centre) / spread)[:, None], y)

    def probability(raw: npt.ArrayLike) -> Floats:
        standard = (np.asarray(raw, dtype=np.float64) - centre) / spread
        found: Floats = model.predict_proba(standard[:, None])[:, 1]
        return found

    return probability


def _checked(scores: npt.ArrayLike, truth: npt.ArrayLike) -> tuple[Floats, npt.NDArray[np.int64]]:
    s, y = np.asarray(scores, dtype=np.float64), np.asarray(truth, dtype=np.int64)
    if not len(s) or s.shape != y.shape:
        raise InputError(f"{s.size} scores for {y.size} truths. Mend: give pairs.")
    if not np.isfinite(s).all():
        raise InputError(f"score number {int(np.flatnonzero(~np.isfinite(s))[0])} is not finite.")
    if not y.any() or not np.isin(y, (0, 1)).all():
        raise InputError("the truth must be 0 or 1 with at least one 1. Mend: check the dev pairs.")
    return s, y
