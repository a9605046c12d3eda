"""Bootstrap intervals of any statistic of rows, drawing whole conversations.

Means have their own, faster way in :mod:`mtrlib.evaluation.significance`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mtrlib.errors import InputError


@dataclass(frozen=True)
class Measured:
    """A statistic with its percentile bootstrap interval, and what it rests on.

    Attributes
    ----------
    value, low, high : in the unit of the statistic; NaN where it is not defined.
    n : rows used.
    n_missing : rows without a verdict of the judge; counted, never scored.
    n_groups : units resampled: conversations, or the rows themselves.
    """

    value: float
    low: float
    high: float
    n: int
    n_missing: int
    n_groups: int

    @property
    def coverage(self) -> float:
        """Share of rows used; NaN where there are none."""
        total = self.n + self.n_missing
        return self.n / total if total else math.nan


def row_draws(
    n: int, groups: Sequence[str] | np.ndarray | None, resamples: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Row numbers of each resample: as many groups as there are, with replacement.

    Parameters
    ----------
    n : number of rows.
    groups : (n,) group of each row; None draws single rows.

    Yields
    ------
    np.ndarray
        Row numbers; their count varies where groups differ in size.
    """
    if groups is None:
        for _ in range(resamples):
            yield rng.integers(n, size=n)
        return
    names, codes = np.unique(np.asarray(groups, dtype=str), return_inverse=True)
    members = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    for _ in range(resamples):
        yield np.concatenate([members[g] for g in rng.integers(len(names), size=len(names))])


def percentile_interval(
    samples: Sequence[float] | np.ndarray, confidence: float
) -> tuple[float, float]:
    """Lower and upper percentile of the samples that are defined; NaN where none is.

    Raises
    ------
    InputError
        ``confidence`` outside (0, 1).
    """
    if not 0 < confidence < 1:
        raise InputError(f"confidence={confidence} must lie between 0 and 1.")
    defined = np.asarray(samples, dtype=float)
    defined = defined[~np.isnan(defined)]
    if not len(defined):
        return math.nan, math.nan
    low, high = np.percentile(defined, [50 * (1 - confidence), 50 * (1 + confidence)])
    return float(low), float(high)


def measure(
    statistic: Callable[[np.ndarray, np.ndarray], float],
    judged: np.ndarray,
    human: np.ndarray,
    *,
    groups: Sequence[str] | np.ndarray | None = None,
    n_missing: int = 0,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> Measured:
    """A statistic of paired rows with its interval.

    Parameters
    ----------
    statistic : of ``judged`` (n, ...) and ``human`` (n, ...); NaN where it is not defined.
        Resamples where it is not defined (a single class, no variation) are left out.
    groups : (n,) conversation of each row; None resamples rows.
    n_missing : rows that were left out before, for the record.

    Notes
    -----
    With fewer than two groups nothing can be resampled: the interval is NaN.

    References
    ----------
    Field and Welsh, "Bootstrapping clustered data", 2007.
    """
    n = len(judged)
    n_groups = n if groups is None else len(set(groups))
    value = statistic(judged, human) if n else math.nan
    low = high = math.nan
    if n_groups > 1 and not math.isnan(value):
        draws = row_draws(n, groups, resamples, rng)
        samples = [statistic(judged[rows], human[rows]) for rows in draws]
        low, high = percentile_interval(samples, confidence)
    return Measured(float(value), low, high, n, n_missing, n_groups)
