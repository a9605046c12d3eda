"""How complete is gold? Two annotators who worked apart, read as capture and recapture.

Each marks what it finds: ``first`` only, ``second`` only, or ``both``. What neither found is
unknown and must be assumed. With the odds ratio w of the two finding a passage,

    found by neither = w * first only * second only / (both + 1).

* ``w = 0``: nothing was missed by both. Logic alone: completeness cannot be higher.
* ``w = 1``: the two are independent; this is Chapman's estimator.
* ``w > 1``: what one finds the other finds more easily (plain passages, a shared search
  tool). That is usual, and makes the independent figure an **upper bound** of completeness.
* ``w < 1``: they answer in different ways or split the work; the independent figure is then
  too low.

Two lists cannot tell which w holds, and no lower bound follows from them: values above 1 are
a sensitivity analysis, not an estimate. Completeness is shown as a range for this reason.

Sources: Chapman, "Some properties of the hypergeometric distribution with applications to
zoological sample censuses", 1951; Lincoln 1930 and Petersen 1896 for ``n1 n2 / both``;
Gerritse, van der Heijden and Bakker, "Sensitivity of population size estimation for violating
parametric assumptions in log-linear models", 2015, for the odds ratio.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from mtrlib.data.schema import Turn
from mtrlib.errors import InputError
from mtrlib.evaluation.resampling import percentile_interval, row_draws

COUNTS = ["first", "second", "both"]
ODDS_RATIOS = (0.0, 1.0, 2.0, 4.0)


def chapman(first: float, second: float, both: float, *, odds_ratio: float = 1.0) -> float:
    """Estimated number of relevant passages, those that nobody marked among them.

    For ``odds_ratio=1`` Chapman's ``(first + 1)(second + 1) / (both + 1) - 1``.

    Parameters
    ----------
    first, second : passages marked by each.
    both : passages marked by both.
    odds_ratio : 0 = none was missed by both, 1 = independent; see the module.

    Raises
    ------
    InputError
        ``both`` above one of the two, or a negative number.

    Examples
    --------
    >>> chapman(20, 15, 9)  # 21 * 16 / 10 - 1
    32.6
    """
    if not 0 <= both <= min(first, second) or odds_ratio < 0:
        raise InputError(
            f"{first} and {second} marked, {both} by both, odds ratio {odds_ratio}: impossible."
        )
    alone = (first - both) * (second - both)
    return first + second - both + odds_ratio * alone / (both + 1)


def captures(
    first: Mapping[str, Collection[str]],
    second: Mapping[str, Collection[str]],
    conversations: Mapping[str, str],
) -> pd.DataFrame:
    """What two annotators or judges marked, query by query.

    Parameters
    ----------
    first, second : query id -> passages marked; only queries that both worked on count, and
        an empty collection means that nothing was found.
    conversations : query id -> conversation id.

    Returns
    -------
    DataFrame
        ``query_id, conversation_id, first, second, both``: numbers of passages; ``first``
        and ``second`` include ``both``.
    """
    rows = []
    for query_id in sorted(set(first) & set(second)):
        a, b = set(first[query_id]), set(second[query_id])
        rows.append((query_id, conversations[query_id], len(a), len(b), len(a & b)))
    return pd.DataFrame(rows, columns=["query_id", "conversation_id", *COUNTS])


def annotator_captures(turns: Iterable[Turn], *, both_marked: bool = False) -> pd.DataFrame:
    """:func:`captures` of the first two annotators of ``Turn.gold_by_annotator``.

    Turns with fewer than two annotators are left out.

    Parameters
    ----------
    both_marked : keep only turns where both marked something. That drops turns on which they
        disagree most and so raises completeness; it is right only if an annotator who marked
        nothing did not look.
    """
    kept = [
        t
        for t in turns
        if len(t.gold_by_annotator) > 1 and (not both_marked or all(t.gold_by_annotator[:2]))
    ]
    first, second = ({t.query_id: t.gold_by_annotator[i] for t in kept} for i in (0, 1))
    return captures(first, second, {t.query_id: t.conversation_id for t in kept})


def completeness(
    found: pd.DataFrame,
    *,
    odds_ratios: Sequence[float] = ODDS_RATIOS,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Completeness of each annotator and of their union, for each assumption.

    Counts are summed over queries before the estimate. The interval is for the share of the
    passages relevant in *this* set that were marked: conversations are resampled for the
    share u that the union finds, and the number missed is then drawn as the failures before
    as many finds, ``NegBin(found, u)``. What was marked is known and stays as it is.

    Parameters
    ----------
    found : as :func:`captures` gives it.
    odds_ratios : assumptions on dependence, see the module.

    Returns
    -------
    DataFrame
        One row per odds ratio and ``of`` (first, second, union): ``odds_ratio,
        assumption, of, value, ci_low, ci_high`` (fractions), ``n_relevant`` (estimated
        number of relevant passages), ``n_marked, n_queries, n_conversations``.

    Raises
    ------
    InputError
        No query, or nothing marked.
    """
    groups = found.groupby("conversation_id")[COUNTS].sum().sort_index().to_numpy(dtype=float)
    if not groups.sum():
        raise InputError(
            "no query on which two annotators marked anything. Mend: give turns with "
            "gold_by_annotator of two."
        )
    sums = groups.sum(axis=0)  # (3,) first, second, both
    marked = np.array([sums[0], sums[1], sums[0] + sums[1] - sums[2]])
    drawn = [groups[g].sum(axis=0) for g in row_draws(len(groups), None, resamples, rng)]
    rows = []
    for odds_ratio in odds_ratios:
        n_relevant = chapman(*sums, odds_ratio=odds_ratio)
        union = np.array([_union_share(s, odds_ratio) for s in drawn])  # (resamples,)
        missed = rng.negative_binomial(marked[2], union[~np.isnan(union)])
        for of, n_marked in zip(("first", "second", "union"), marked, strict=True):
            low, high = percentile_interval(n_marked / (marked[2] + missed), confidence)
            interval = (low, high) if len(groups) > 1 else (math.nan, math.nan)
            names = (odds_ratio, _assumption(odds_ratio), of)
            sizes = (n_relevant, int(n_marked), len(found), len(groups))
            rows.append((*names, n_marked / n_relevant, *interval, *sizes))
    columns = "odds_ratio assumption of value ci_low ci_high n_relevant n_marked n_queries"
    return pd.DataFrame(rows, columns=[*columns.split(), "n_conversations"])


def _union_share(counts: np.ndarray, odds_ratio: float) -> float:
    first, second, both = counts
    total = chapman(first, second, both, odds_ratio=odds_ratio)
    # a resample of conversations in which nothing is marked has none
    return float((first + second - both) / total) if total else math.nan


def _assumption(odds_ratio: float) -> str:
    if odds_ratio == 0:
        return "nothing missed by both: cannot be higher"
    if odds_ratio == 1:
        return "independent: upper bound under positive dependence"
    return f"assumed odds ratio {odds_ratio:g}: sensitivity, not an estimate"
