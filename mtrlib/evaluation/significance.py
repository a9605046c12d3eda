"""How sure a mean or a difference is: bootstrap intervals, randomisation test, Holm.

Turns of one conversation resemble each other. Pass ``groups`` (query id -> conversation
id) and whole conversations are resampled or flipped; without it intervals of conversational
data come out too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mtrlib.errors import InputError

Groups = pd.Series | Mapping[str, str] | Sequence[str] | None

BLOCK = 2**22  # random numbers held at a time; fixed, because it is part of "same seed, same bytes"


@dataclass(frozen=True)
class Interval:
    """A mean with its percentile bootstrap interval, in the unit of the values.

    ``n`` is the number of queries, ``n_groups`` of the units resampled (conversations, or
    the queries themselves). With a single unit nothing can be resampled: ``low`` and ``high``
    are NaN.
    """

    value: float
    low: float
    high: float
    n: int
    n_groups: int


@dataclass(frozen=True)
class Difference(Interval):
    """``mean(b - a)`` with its interval, p-value, and how many queries changed.

    ``n_gained`` queries are better under b, ``n_lost`` worse, ``n_same`` equal.
    """

    p_value: float
    n_gained: int
    n_lost: int
    n_same: int


def bootstrap_interval(
    values: pd.Series | np.ndarray,
    *,
    groups: Groups = None,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> Interval:
    """Percentile bootstrap interval of the mean over queries.

    Each resample draws as many units as there are, with replacement, and takes the mean
    over all queries of the units drawn: ``sum of values / number of queries``. Long
    conversations therefore weigh more, as they do in the mean itself.

    Parameters
    ----------
    values : one value per query; a Series indexed by ``query_id`` may come in any order.
    groups : the conversation of every query, by ``query_id`` (by position for an array);
        None resamples single queries.
    resamples : number of bootstrap resamples.
    confidence : level, fraction in (0, 1).
    rng : the generator to draw from.

    Raises
    ------
    InputError
        No values, a NaN, a repeated query, or a query without a group.

    References
    ----------
    Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, ch. 13; Field and Welsh,
    "Bootstrapping clustered data", 2007.

    Examples
    --------
    >>> recall = pd.Series({"c1_1": 1.0, "c1_2": 1.0, "c2_1": 0.0, "c2_2": 0.5})
    >>> groups = {"c1_1": "c1", "c1_2": "c1", "c2_1": "c2", "c2_2": "c2"}
    >>> rng = np.random.default_rng(13)
    >>> bootstrap_interval(recall, groups=groups, resamples=200, confidence=0.9, rng=rng)
    Interval(value=0.625, low=0.25, high=1.0, n=4, n_groups=2)
    """
    ordered = _ordered(values)
    sums, sizes = _units(ordered, groups)  # (n_groups,), (n_groups,)
    low, high = _percentiles(sums, sizes, resamples, confidence, rng)
    return Interval(math.fsum(ordered) / len(ordered), low, high, len(ordered), len(sums))


def paired_difference(
    a: pd.Series,
    b: pd.Series,
    *,
    groups: Groups = None,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> Difference:
    """Compare two systems on the same queries: interval and p-value of ``mean(b - a)``.

    The p-value is two-sided, of a paired randomisation test: under the null hypothesis the
    names a and b could be swapped, per query or (with ``groups``) per conversation. All
    ``2 ** n_groups`` sign patterns are tried where they are at most ``resamples``; otherwise
    ``resamples`` random ones, with the pattern seen counted in.

    Parameters
    ----------
    a : values of the baseline, indexed by ``query_id``.
    b : values of the system compared with it, same queries in any order.
    groups : the conversation of every query, by ``query_id``; None swaps single queries.
    resamples : number of bootstrap resamples, and of random sign patterns.
    confidence : level of the interval, fraction in (0, 1).
    rng : the generator to draw from.

    Raises
    ------
    InputError
        The two do not cover the same queries, or as :func:`bootstrap_interval`.

    Notes
    -----
    With n units the smallest possible p-value is ``2 / 2 ** n``. Several comparisons in
    one table need :func:`holm`.

    References
    ----------
    Smucker, Allan and Carterette, "A comparison of statistical significance tests for
    information retrieval evaluation", 2007; Phipson and Smyth, "Permutation p-values should
    never be zero", 2010.

    Examples
    --------
    >>> a = pd.Series({"q1": 0.0, "q2": 0.5, "q3": 0.0})
    >>> b = pd.Series({"q1": 1.0, "q2": 1.0, "q3": 0.0})
    >>> d = paired_difference(a, b, resamples=99, confidence=0.95, rng=np.random.default_rng(1))
    >>> d.value, d.p_value, d.n_gained, d.n_lost, d.n_same
    (0.5, 0.5, 2, 0, 1)
    """
    a, b = _ordered(a), _ordered(b)
    odd = sorted(set(a.index).symmetric_difference(b.index), key=str)
    if odd:
        side = "the first" if odd[0] in a.index else "the second"
        raise InputError(
            f"query {odd[0]!r} is only in {side} of the two systems compared ({len(odd)} such "
            "queries). Mend: evaluate both against the same qrels."
        )
    change = b - a
    sums, sizes = _units(change, groups)  # (n_groups,), (n_groups,)
    low, high = _percentiles(sums, sizes, resamples, confidence, rng)
    return Difference(
        math.fsum(change) / len(change),
        low,
        high,
        len(change),
        len(sums),
        p_value=_sign_flip_p(sums, resamples, rng),
        n_gained=int((change > 0).sum()),
        n_lost=int((change < 0).sum()),
        n_same=int((change == 0).sum()),
    )


def holm(p_values: pd.Series | Mapping[str, float] | Sequence[float]) -> pd.Series:
    """Adjust p-values of one family of comparisons (Holm's step-down method).

    ``adjusted_(i) = max over j <= i of min(1, (m - j + 1) * p_(j))`` for the m p-values in
    rising order; compare the result with the level itself.

    Parameters
    ----------
    p_values : raw p-values, fractions in [0, 1].

    Returns
    -------
    pd.Series
        Adjusted p-values, in the order and with the index of the input.

    Raises
    ------
    InputError
        For a value outside [0, 1] or NaN.

    References
    ----------
    Holm, "A simple sequentially rejective multiple test procedure", 1979.

    Examples
    --------
    >>> holm({"bm25": 0.01, "minilm": 0.04, "splade": 0.03}).to_dict()
    {'bm25': 0.03, 'minilm': 0.06, 'splade': 0.06}
    """
    raw = pd.Series(p_values, dtype=float)
    for name, p in raw.items():
        if not 0 <= p <= 1:
            raise InputError(f"p-value {name!r} is {p}. Mend: give fractions in [0, 1].")
    order = np.argsort(raw.to_numpy(), kind="stable")  # (m,)
    factors = np.arange(len(raw), 0, -1)  # m, m - 1, ..., 1
    adjusted = np.empty(len(raw))
    adjusted[order] = np.maximum.accumulate(np.minimum(1, factors * raw.to_numpy()[order]))
    return pd.Series(adjusted, index=raw.index, name="p_holm")


def _ordered(values: pd.Series | np.ndarray) -> pd.Series:
    """Values sorted by query id, so that draws do not depend on the order of the rows."""
    series = pd.Series(values, dtype=float)
    if series.empty:
        raise InputError("there are no values, so there is no mean. Mend: check the filter.")
    if not series.index.is_unique:
        twice = series.index[series.index.duplicated()][0]
        raise InputError(f"query {twice!r} has two values. Mend: give one value per query.")
    for query_id, value in series.items():
        if not math.isfinite(value):
            raise InputError(
                f"query {query_id!r} has the value {value}. Mend: drop undefined values, and say "
                "how many."
            )
    return series.sort_index()


def _units(values: pd.Series, groups: Groups) -> tuple[np.ndarray, np.ndarray]:
    """Sum of values and number of queries of every unit that is resampled as a whole."""
    if groups is None:
        return values.to_numpy(), np.ones(len(values))
    known = pd.Series(groups, dtype=object)
    lost = values.index.difference(known.index[known.notna()])
    if len(lost):
        raise InputError(
            f"query {lost[0]!r} has no group ({len(lost)} such queries). Mend: give the "
            "conversation id of every query, by query id."
        )
    if not known.index.is_unique:
        twice = known.index[known.index.duplicated()][0]
        raise InputError(f"query {twice!r} has two groups. Mend: give one group per query.")
    codes, _ = pd.factorize(known.loc[values.index])  # (n,)
    return np.bincount(codes, weights=values.to_numpy()), np.bincount(codes).astype(float)


def _percentiles(
    sums: np.ndarray,
    sizes: np.ndarray,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> tuple[float, float]:
    if not 0 < confidence < 1:
        raise InputError(f"confidence={confidence} must lie between 0 and 1.")
    if resamples < 1:
        raise InputError(f"resamples={resamples} must be at least 1.")
    n = len(sums)
    if n < 2:
        return math.nan, math.nan
    means = np.empty(resamples)
    step = max(1, BLOCK // n)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        drawn = rng.integers(n, size=(rows, n))  # (rows, n_groups)
        means[start : start + rows] = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _sign_flip_p(sums: np.ndarray, resamples: int, rng: np.random.Generator) -> float:
    n = len(sums)
    # sums that are equal on paper may differ in the last bits; such a pattern counts as extreme
    bar = abs(math.fsum(sums)) - 1e-9 * float(np.abs(sums).sum())
    if 2**n <= resamples:
        bits = np.arange(2**n)[:, None] >> np.arange(n) & 1  # (2 ** n, n_groups)
        return float(np.mean(np.abs((1 - 2 * bits) @ sums) >= bar))
    extreme = 0
    step = max(1, BLOCK // n)
    for start in range(0, resamples, step):
        signs = 1 - 2 * rng.integers(2, size=(min(step, resamples - start), n))  # (rows, n_groups)
        extreme += int((np.abs(signs @ sums) >= bar).sum())
    return (extreme + 1) / (resamples + 1)
