"""Do probabilities mean what they say? Calibration curve and Brier score."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from mtrlib.errors import InputError

CURVE = ["bin_low", "bin_high", "n", "mean_predicted", "observed", "ci_low", "ci_high"]


@dataclass(frozen=True)
class Brier:
    """Mean squared error of probabilities, beside that of the base rate.

    Attributes
    ----------
    value : in [0, 1], 0 is best.
    reference : of always saying the base rate b, ``b (1 - b)``.
    skill : ``1 - value / reference``: 1 is perfect, 0 no better than the base rate, negative
        is worse; NaN where all pairs have the same truth.
    n : pairs.
    """

    value: float
    reference: float
    skill: float
    n: int


def wilson_interval(count: int, n: int, confidence: float) -> tuple[float, float]:
    """Wilson score interval of a share; ``(0, 1)`` with no trials, since nothing is known.

    It takes the trials as independent: for turns of the same conversation it is too narrow.

    References
    ----------
    Wilson, "Probable inference, the law of succession, and statistical inference", 1927.
    """
    if n == 0:
        return 0.0, 1.0
    found = binomtest(count, n).proportion_ci(confidence, method="wilson")
    return float(found.low), float(found.high)


def brier(probabilities: np.ndarray, truth: np.ndarray) -> Brier:
    """Brier score, its base-rate reference and skill.

    Parameters
    ----------
    probabilities : (n,) of yes, fractions in [0, 1].
    truth : (n,) 0 or 1.

    Raises
    ------
    InputError
        No pairs, a probability outside [0, 1] (or missing), a truth that is not 0 or 1.

    References
    ----------
    Brier, "Verification of forecasts expressed in terms of probability", 1950.

    Examples
    --------
    >>> brier([0.9, 0.2], [1, 0])
    Brier(value=0.025, reference=0.25, skill=0.9, n=2)
    """
    p, y = _checked(probabilities, truth)
    value = float(((p - y) ** 2).mean())
    reference = float(y.mean() * (1 - y.mean()))
    skill = 1 - value / reference if reference else math.nan
    return Brier(value, reference, skill, len(p))


def calibration_curve(
    probabilities: np.ndarray, truth: np.ndarray, *, bins: int = 10, confidence: float = 0.95
) -> pd.DataFrame:
    """Predicted against observed share of yes, in bins of equal width.

    Parameters
    ----------
    probabilities, truth : as in :func:`brier`.
    bins : number of bins of [0, 1]; a bin holds its lower edge, the last one also 1.

    Returns
    -------
    DataFrame
        One row per bin, also an empty one: ``bin_low, bin_high, n, mean_predicted,
        observed`` and the Wilson interval ``ci_low, ci_high`` of ``observed``. An empty bin
        has NaN. The interval takes pairs as independent (:func:`wilson_interval`).

    References
    ----------
    Murphy and Winkler, "Reliability of subjective probability forecasts", 1977.
    """
    p, y = _checked(probabilities, truth)
    if bins < 1:
        raise InputError(f"bins={bins} must be at least 1.")
    edges = np.linspace(0, 1, bins + 1)
    place = np.clip(np.searchsorted(edges, p, side="right") - 1, 0, bins - 1)  # (n,)
    rows = []
    for i in range(bins):
        own, n = place == i, int((place == i).sum())
        shown = (math.nan,) * 4
        if n:
            interval = wilson_interval(int(y[own].sum()), n, confidence)
            shown = (float(p[own].mean()), float(y[own].mean()), *interval)
        rows.append((edges[i], edges[i + 1], n, *shown))
    return pd.DataFrame(rows, columns=CURVE)


def _checked(probabilities: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    p, y = np.asarray(probabilities, dtype=float), np.asarray(truth, dtype=float)
    if not len(p) or len(p) != len(y):
        raise InputError(f"{len(p)} probabilities for {len(y)} truths. Mend: give pairs.")
    wrong = p[~((p >= 0) & (p <= 1))]
    if len(wrong):
        raise InputError(
            f"a probability is {wrong[0]}. Mend: give fractions in [0, 1]; leave missing ones "
            "out and count them."
        )
    odd = y[(y != 0) & (y != 1)]
    if len(odd):
        raise InputError(f"a truth is {odd[0]}. Mend: give 1 for yes and 0 for no.")
    return p, y
