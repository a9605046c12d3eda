"""Shares whose resamples belong together, and the correction of a share for a judge's errors."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from mtrlib.evaluation.resampling import percentile_interval

Floats = npt.NDArray[np.float64]

WEAKEST_JUDGE = 0.2  # least sensitivity + specificity - 1 for which a correction is shown


@dataclass(frozen=True)
class Rate:
    """A share of rows and its bootstrap samples.

    Attributes
    ----------
    value : fraction in [0, 1]; NaN without rows.
    n, n_groups : rows and conversations.
    samples : (resamples,) of the share; NaN with fewer than two conversations.
    """

    value: float
    n: int
    n_groups: int
    samples: Floats = field(repr=False, compare=False)


def rate(flags: pd.DataFrame, what: str, *, resamples: int, seed: int) -> Rate:
    """Share of rows that are flagged, with samples that resample whole conversations.

    Every conversation gets one exponential weight per resample, drawn from a generator that
    is seeded by ``seed``, set and conversation. Resample i therefore weighs a conversation
    alike in every share it takes part in, and products of shares are resampled jointly. No
    group ever gets the weight 0, so that a share over few conversations stays defined.

    Parameters
    ----------
    flags : columns ``set, conversation_id, flag`` (bool), one row per passage or turn.
    what : name of the share; seeds what cannot come from the conversations (below).

    Notes
    -----
    A share of exactly 0 or 1 does not vary under any weights, which would claim certainty.
    Its samples come from Jeffreys' posterior with conversations as trials,
    ``Beta(k + 1/2, n - k + 1/2)``.

    References
    ----------
    Rubin, "The Bayesian bootstrap", 1981; Brown, Cai and DasGupta, "Interval estimation for
    a binomial proportion", 2001 (Jeffreys).
    """
    n = len(flags)
    if not n:
        return Rate(math.nan, 0, 0, np.full(resamples, math.nan))
    grouped = flags.groupby(["set", "conversation_id"])["flag"].agg(["sum", "count"])
    hits, sizes = grouped["sum"].to_numpy(float), grouped["count"].to_numpy(float)
    value, n_groups = float(hits.sum() / n), len(grouped)
    if n_groups < 2:
        samples = np.full(resamples, math.nan)
    elif value in (0.0, 1.0):
        k = value * n_groups
        samples = _generator(seed, "share", what).beta(k + 0.5, n_groups - k + 0.5, resamples)
    else:
        total, flagged = np.zeros(resamples), np.zeros(resamples)
        for key, hit, size in zip(grouped.index, hits, sizes, strict=True):
            weights = _generator(seed, *key).standard_exponential(resamples)
            flagged += weights * hit
            total += weights * size
        samples = flagged / total
    return Rate(value, n, n_groups, samples)


def rogan_gladen(apparent: Floats, sensitivity: Floats, specificity: Floats) -> Floats:
    """True share behind an apparent one, clipped to [0, 1].

    ``(apparent + specificity - 1) / (sensitivity + specificity - 1)``. Where the
    denominator is not positive the judge says nothing; the result is then 0 or 1 by the
    sign of the numerator, so that such resamples widen an interval instead of vanishing.

    Parameters
    ----------
    apparent, sensitivity, specificity : fractions in [0, 1], scalars or (resamples,).

    References
    ----------
    Rogan and Gladen, "Estimating prevalence from the results of a screening test", 1978.

    Examples
    --------
    >>> round(float(rogan_gladen(0.26, 0.8, 0.9)), 4)  # 0.16 / 0.7
    0.2286
    """
    strength = np.maximum(np.asarray(sensitivity) + specificity - 1, 1e-9)
    return np.clip((np.asarray(apparent) + specificity - 1) / strength, 0.0, 1.0)


def share_interval(value: float, samples: Floats, confidence: float) -> tuple[float, float]:
    """Percentile interval, stretched to the value where that lies on the edge of [0, 1]."""
    low, high = percentile_interval(samples, confidence)
    return min(low, value), max(high, value)


def _generator(*key: object) -> np.random.Generator:
    text = "\x1f".join(str(part) for part in key)
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:16]))
