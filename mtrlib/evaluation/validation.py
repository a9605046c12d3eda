"""A judge against people: correlation, agreement, AUC and Brier score in one tidy table.

MTR-Suite, section 3, reports Pearson's correlation alone, joined by row position. Here pairs
are joined by item, missing verdicts are counted, and every value has an interval that
resamples whole conversations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from mtrlib.errors import InputError
from mtrlib.evaluation.calibration import brier
from mtrlib.evaluation.reliability import Level, cohen_kappa, krippendorff_alpha
from mtrlib.evaluation.resampling import Measured, measure

TABLE = ["judge", "metric", "statistic", "value", "ci_low", "ci_high", "n", "n_missing"]


def roc_auc(scores: np.ndarray, truth: np.ndarray) -> float:
    """Probability that a yes is scored above a no, ties counted half; NaN with one class.

    From rank sums: the number of ``sklearn.metrics.roc_auc_score`` (a test holds that), in a
    fraction of the time, which counts in a bootstrap.

    References
    ----------
    Hanley and McNeil, "The meaning and use of the area under a ROC curve", 1982.
    """
    yes = np.asarray(truth, dtype=float) == 1
    n_yes, n_no = int(yes.sum()), int((~yes).sum())
    if not n_yes or not n_no:
        return math.nan
    ranks = stats.rankdata(np.asarray(scores, dtype=float))
    return float((ranks[yes].sum() - n_yes * (n_yes + 1) / 2) / (n_yes * n_no))


def _correlation(correlate: Callable[..., Any]) -> Callable[[np.ndarray, np.ndarray], float]:
    def guarded(judge: np.ndarray, human: np.ndarray) -> float:
        judge, human = judge.astype(float), human.astype(float)
        if len(judge) < 3 or np.ptp(judge) == 0 or np.ptp(human) == 0:
            return math.nan
        return float(correlate(judge, human).statistic)

    return guarded


def _alpha(level: Level) -> Callable[[np.ndarray, np.ndarray], float]:
    return lambda judge, human: krippendorff_alpha(np.column_stack([judge, human]), level)


# name -> statistic of (verdicts of the judge, ratings of people), both (n_items,)
STATISTICS: Mapping[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "pearson": _correlation(stats.pearsonr),
    "spearman": _correlation(stats.spearmanr),
    "alpha_nominal": _alpha("nominal"),
    "alpha_ordinal": _alpha("ordinal"),
    "alpha_interval": _alpha("interval"),
    "kappa": lambda judge, human: cohen_kappa(judge, human),
    "kappa_quadratic": lambda judge, human: cohen_kappa(judge, human, "quadratic"),
    "auc": roc_auc,
    "brier": lambda judge, human: brier(judge, human).value,
    "brier_reference": lambda judge, human: brier(judge, human).reference,
    "brier_skill": lambda judge, human: brier(judge, human).skill,
}


def against_people(
    judge: pd.Series,
    human: pd.Series,
    statistic: str,
    *,
    groups: pd.Series | Mapping[str, str] | None = None,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> Measured:
    """One of ``STATISTICS`` with its interval.

    Parameters
    ----------
    judge : verdicts by item id; missing or absent ones are counted in ``n_missing``. Items
        that people did not rate are left out.
    human : ratings by item id, none missing; 1 and 0 for yes and no.
    statistic : alpha and kappa need both sides on the same scale, ``auc`` and ``brier...``
        a yes-or-no ``human``.
    groups : conversation by item id; None resamples items.

    Raises
    ------
    InputError
        Unknown statistic, an item twice, a rating of people missing, an item without group.
    """
    if statistic not in STATISTICS:
        raise InputError(f"{statistic!r} is no statistic. Mend: use {', '.join(STATISTICS)}.")
    human = human.sort_index()
    if human.isna().any():
        raise InputError(f"item {human.index[human.isna()][0]!r} has no rating of people.")
    for series, whose in ((judge, "the judge"), (human, "people")):
        if not series.index.is_unique:
            twice = series.index[series.index.duplicated()][0]
            raise InputError(f"{whose} rated item {twice!r} twice. Mend: one value per item.")
    judge = judge.reindex(human.index)
    read = judge.notna()
    judge, human = judge[read], human[read]
    units = None if groups is None else pd.Series(groups).reindex(human.index)
    if units is not None and units.isna().any():
        raise InputError(f"item {units.index[units.isna()][0]!r} has no group.")
    return measure(
        STATISTICS[statistic],
        judge.to_numpy(),
        human.to_numpy(),
        groups=None if units is None else units.to_numpy(),
        n_missing=int((~read).sum()),
        resamples=resamples,
        confidence=confidence,
        rng=rng,
    )


def validation_table(
    pairs: pd.DataFrame,
    statistics: Sequence[str],
    *,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Every statistic for every judge and metric.

    Parameters
    ----------
    pairs : columns ``judge, metric, item_id, group, judged, human``; ``group`` is the
        conversation.
    statistics : names among ``STATISTICS``.

    Returns
    -------
    DataFrame
        ``judge, metric, statistic, value, ci_low, ci_high, n, n_missing``. All judges are
        resampled by the same draws, so that one more judge moves no number.
    """
    seed = int(rng.integers(2**63))
    rows = []
    for (judge, metric), part in pairs.groupby(["judge", "metric"], sort=False):
        part = part.set_index("item_id")
        for statistic in statistics:
            found = against_people(
                part["judged"],
                part["human"],
                statistic,
                groups=part["group"],
                resamples=resamples,
                confidence=confidence,
                rng=np.random.default_rng(seed),
            )
            rows.append(row(judge, metric, statistic, found))
    return pd.DataFrame(rows, columns=TABLE)


def row(judge: object, metric: object, statistic: str, found: Measured) -> tuple[object, ...]:
    """One row of ``TABLE``."""
    measured = (found.value, found.low, found.high, found.n, found.n_missing)
    return (judge, metric, statistic, *measured)
