"""Audit of the auditor: does a metric fall with its own damage, and less with the others'?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from mtrlib.audit.judging import METRICS
from mtrlib.audit.panel import points, scores
from mtrlib.evaluation.significance import paired_difference

# the damage that each metric is there to feel
OWN_DAMAGE = dict(zip(METRICS, ("noise", "sparsity", "unfaithful", "language"), strict=True))

Doses = Mapping[tuple[str, float], pd.DataFrame]


def dose_table(
    undamaged: pd.DataFrame,
    doses: Doses,
    *,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Scores along the doses of each kind of damage.

    Parameters
    ----------
    undamaged : item scores (:func:`mtrlib.audit.panel.item_scores`) of the sound benchmark.
    doses : ``(kind, rate)`` -> item scores of that copy; rates above 0, fractions.
    resamples, confidence, rng : of the bootstrap over whole conversations.

    Returns
    -------
    DataFrame
        ``kind, rate, metric, judge, value, ci_low, ci_high`` (1 to 5; a share p as 1 + 4p),
        ``coverage, note``. Rate 0 is the sound benchmark, repeated for every kind.
    """
    how: dict[str, Any] = {"resamples": resamples, "confidence": confidence, "rng": rng}
    sound = scores(undamaged, **how)
    tables = []
    for kind in dict.fromkeys(kind for kind, _ in doses):
        tables.append(sound.assign(kind=kind, rate=0.0))
        for rate in sorted(rate for found, rate in doses if found == kind):
            tables.append(scores(doses[kind, rate], **how).assign(kind=kind, rate=rate))
    columns = "kind rate metric judge value ci_low ci_high coverage note".split()
    if not tables:
        return pd.DataFrame(columns=columns)
    return pd.concat(tables, ignore_index=True)[columns]


def cross_sensitivity(
    undamaged: pd.DataFrame,
    doses: Doses,
    table: pd.DataFrame,
    *,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """How far each metric moves from no damage to the highest dose of each kind.

    Parameters
    ----------
    undamaged, doses : as for :func:`dose_table`.
    table : what :func:`dose_table` made of them.

    Returns
    -------
    DataFrame
        One row per judge, metric and kind: ``change`` with ``ci_low, ci_high``, paired by
        item, in points of the scale of 1 to 5 (a quarter of it is the change of a share p);
        ``beyond_chance, beyond_low, beyond_high``, the same after correction for guessing;
        ``n_items`` judged in both, ``rate`` (the highest), ``own`` (whether the metric is
        there to feel this kind), ``monotone`` (the score falls with every dose). NaN and
        False where the scores are not shown.

    Notes
    -----
    Unmarking gold leaves less of it among the options, so that even blind picks of
    ``completeness`` hit less often; marking more does the reverse. Per item, p becomes
    ``(p - c) / (1 - c)`` with c the share of gold among the options: 0 on average for blind
    picks, 1 for a judge that always finds gold. Other metrics have no c, and both changes
    are the same.
    """
    how: dict[str, Any] = {"resamples": resamples, "confidence": confidence, "rng": rng}
    rows = []
    for (judge, metric, kind), course in table.groupby(["judge", "metric", "kind"], sort=False):
        highest = float(course["rate"].max())
        values = course.sort_values("rate")["value"].to_numpy()  # (n_doses,)
        row = {
            "judge": judge,
            "metric": metric,
            "kind": kind,
            "rate": highest,
            "own": OWN_DAMAGE.get(str(metric)) == kind,
            "monotone": bool((np.diff(values) < 0).all()),
        }
        shown = not (math.isnan(values[0]) or math.isnan(values[-1]))
        before, after = (
            t[t["judge"].eq(str(judge)) & t["metric"].eq(str(metric))].set_index("item_id")
            for t in (undamaged, doses[str(kind), highest])
        )
        rows.append(row | (_changes(str(metric), before, after, how) if shown else {"n_items": 0}))
    return pd.DataFrame(rows, columns=_CROSS)


def validity(matrix: pd.DataFrame) -> pd.DataFrame:
    """Verdict per judge and metric: valid if it feels its own damage, and that most.

    Valid: the score falls with every dose of its own damage, by more than chance and noise
    explain (upper end of ``beyond_chance`` below 0), and further than with any other kind.

    Parameters
    ----------
    matrix : table of :func:`cross_sensitivity`.

    Returns
    -------
    DataFrame
        ``judge, metric, own_damage, change, other_damage`` (the kind that lowers it most
        among the others), ``other_change, valid`` (``yes``, ``no``, ``n/a`` where there is
        no score) and ``why`` (what fails, "" if nothing).
    """
    rows = []
    for (judge, metric), group in matrix.groupby(["judge", "metric"], sort=False):
        own, others = group[group["own"]], group[~group["own"] & group["change"].notna()]
        if own.empty:
            continue
        felt = own.iloc[0]
        worst = others.sort_values("change").iloc[0] if len(others) else None
        failed = []
        if not felt["monotone"]:
            failed.append("does not fall with every dose")
        if not felt["beyond_high"] < 0:
            failed.append("its fall is within chance and noise")
        if worst is not None and not felt["change"] < worst["change"]:
            failed.append(f"falls as far with {worst['kind']}")
        judged = not math.isnan(felt["change"])
        rows.append(
            {
                "judge": judge,
                "metric": metric,
                "own_damage": felt["kind"],
                "change": felt["change"],
                "other_damage": "" if worst is None else worst["kind"],
                "other_change": math.nan if worst is None else worst["change"],
                "valid": ("no" if failed else "yes") if judged else "n/a",
                "why": "; ".join(failed) if judged else "no score",
            }
        )
    columns = "judge metric own_damage change other_damage other_change valid why".split()
    return pd.DataFrame(rows, columns=columns)


_CROSS = (
    "judge metric kind rate own change ci_low ci_high beyond_chance beyond_low beyond_high "
    "n_items monotone"
).split()


def _changes(
    metric: str, before: pd.DataFrame, after: pd.DataFrame, how: Mapping[str, Any]
) -> dict[str, float]:
    """Paired change of a metric over the items judged in both."""
    both = before.index[before["value"].notna()].intersection(after.index[after["value"].notna()])
    if both.empty:
        return {"n_items": 0}
    before, after = before.loc[both], after.loc[both]
    raw = [points(metric, t["value"]) for t in (before, after)]
    chances = [t["chance"].fillna(0) for t in (before, after)]  # below 1: a negative is shown
    fair = [
        points(metric, (t["value"] - c) / (1 - c))
        for t, c in zip((before, after), chances, strict=True)
    ]
    groups = before["conversation_id"]
    found = paired_difference(*raw, groups=groups, **how)
    beyond = paired_difference(*fair, groups=groups, **how)
    return {
        "change": found.value,
        "ci_low": found.low,
        "ci_high": found.high,
        "beyond_chance": beyond.value,
        "beyond_low": beyond.low,
        "beyond_high": beyond.high,
        "n_items": found.n,
    }
