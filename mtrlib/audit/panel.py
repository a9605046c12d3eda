"""From judgements to scores: per item, per judge with an interval, and over a panel of judges."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from mtrlib.audit.judging import SCALE, SWITCHED_OFF, Judge
from mtrlib.evaluation.significance import bootstrap_interval

LEAST_COVERAGE = 0.5  # share of tasks with a verdict below which no mean is shown
SHARES = ("completeness", *SWITCHED_OFF)  # judged 0 or 1; shown as 1 + 4p beside the rate p

_ITEM = ["set", "judge", "metric", "item_id", "conversation_id", "turn_number"]
_SHOWN = ["value", "ci_low", "ci_high", "low", "high", "rate", "rate_low", "rate_high"]


def item_scores(judgements: pd.DataFrame) -> pd.DataFrame:
    """One row per set, judge, metric and item.

    ``query_evidence`` is the mean over gold passages, ``completeness`` the mean over
    rotations, ``faithfulness`` the maximum over gold passages: an answer needs one that
    supports it. An unread passage could only raise that maximum, so an item with one counts
    only where the top of the scale is reached anyway.

    Parameters
    ----------
    judgements : table of :func:`mtrlib.audit.metrics.judgements`; several may be stacked.

    Returns
    -------
    DataFrame
        ``set, judge, metric, item_id, conversation_id, turn_number, value`` (1 to 5;
        ``SHARES`` a fraction; NaN where nothing was read), ``low`` and ``high`` (smallest
        and largest verdict), ``n_judged`` of ``n_tasks`` with a verdict,
        ``n_not_applicable``, and ``chance`` (fraction of the options that are gold; NaN
        outside ``completeness``).
    """
    known = judgements.assign(
        not_applicable=judgements["reason"].eq("not_applicable"),
        chance=judgements["n_gold"].astype(float) / judgements["n_options"].astype(float),
    )
    table = (
        known.groupby(_ITEM, sort=False)
        .agg(
            value=("value", "mean"),
            low=("value", "min"),
            high=("value", "max"),
            n_judged=("value", "count"),
            n_tasks=("value", "size"),
            n_not_applicable=("not_applicable", "sum"),
            chance=("chance", "mean"),
        )
        .reset_index()
    )
    sure = table["n_judged"].eq(table["n_tasks"]) | table["high"].eq(SCALE[1])
    is_max = table["metric"].eq("faithfulness")
    table["value"] = table["value"].mask(is_max, table["high"].where(sure))
    return table


def points(metric: str, values: pd.Series) -> pd.Series:
    """Item values on the scale of 1 to 5: a share p becomes 1 + 4p."""
    low, high = SCALE
    return low + (high - low) * values if metric in SHARES else values


def scores(
    item_scores: pd.DataFrame, *, resamples: int, confidence: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Mean over items per set, judge and metric, with what it rests on.

    Parameters
    ----------
    item_scores : table of :func:`item_scores`.
    resamples, confidence, rng : of the bootstrap over whole conversations.

    Returns
    -------
    DataFrame
        ``set, judge, metric, value`` with ``ci_low, ci_high`` (1 to 5; a share p as 1 + 4p),
        ``low, high`` (means of the items' lowest and highest verdicts), ``rate, rate_low,
        rate_high`` (the raw share p, of ``SHARES`` only), ``chance`` (what blind picks would
        reach, fraction), ``n_items`` behind the mean, ``n_judged`` of ``n_tasks``,
        ``coverage`` (fraction), ``note``. Below ``LEAST_COVERAGE`` no number is shown and
        the note says so: ``none`` without any item that can be scored, ``not applicable``
        where the judge does not judge this metric.
    """
    rows = []
    for (name, judge, metric), group in item_scores.groupby(["set", "judge", "metric"], sort=False):
        judged, n_tasks = int(group["n_judged"].sum()), int(group["n_tasks"].sum())
        row: dict[str, Any] = {
            "set": name,
            "judge": judge,
            "metric": metric,
            **dict.fromkeys(_SHOWN, math.nan),
            "chance": group["chance"].mean(),
            "n_items": int(group["value"].notna().sum()),
            "n_judged": judged,
            "n_tasks": n_tasks,
            "coverage": judged / n_tasks,
            "note": "",
        }
        if group["n_not_applicable"].sum() == n_tasks:
            row["note"] = "not applicable"
        elif not row["n_items"]:
            row["note"] = "none"
        elif row["coverage"] < LEAST_COVERAGE:
            row["note"] = f"judged {judged} of {n_tasks}, below {LEAST_COVERAGE:.0%}: not shown"
        else:
            row |= _means(str(metric), group, resamples, confidence, rng)
        rows.append(row)
    after = ["chance", "n_items", "n_judged", "n_tasks", "coverage", "note"]
    return pd.DataFrame(rows, columns=["set", "judge", "metric", *_SHOWN, *after])


def panel(scores: pd.DataFrame) -> pd.DataFrame:
    """Unweighted mean over judges per set and metric, as MTR-Suite, section 3 takes it.

    Parameters
    ----------
    scores : table of :func:`scores`.

    Returns
    -------
    DataFrame
        ``set, metric, value`` (1 to 5), ``rate``, ``n_judges``, ``judges`` (those in the
        mean), ``not_shown`` (those that tried and have no shown mean), ``n_judged,
        n_tasks, coverage`` over all that tried. A judge to which the metric does not apply
        is in neither list.
    """
    rows = []
    for (name, metric), group in scores.groupby(["set", "metric"], sort=False):
        tried = group[group["note"].ne("not applicable")]
        shown = tried[tried["value"].notna()]
        judged, n_tasks = int(tried["n_judged"].sum()), int(tried["n_tasks"].sum())
        rows.append(
            {
                "set": name,
                "metric": metric,
                "value": shown["value"].mean(),
                "rate": shown["rate"].mean(),
                "n_judges": len(shown),
                "judges": ", ".join(shown["judge"]),
                "not_shown": ", ".join(tried.loc[tried["value"].isna(), "judge"]),
                "n_judged": judged,
                "n_tasks": n_tasks,
                "coverage": judged / n_tasks if n_tasks else 0.0,
            }
        )
    columns = "set metric value rate n_judges judges not_shown n_judged n_tasks coverage".split()
    return pd.DataFrame(rows, columns=columns)


def own_data_warnings(judges: Iterable[Judge], writers: Mapping[str, str]) -> list[str]:
    """A line for each judge and set that come from the same model family.

    Parameters
    ----------
    judges : those with an attribute ``owner`` (name of the model family) are compared.
    writers : set name -> model family that wrote the set.
    """
    return [
        f"judge {judge.name} and the writer of {name} are of one family ({owner}): it may favour "
        "its own wording."
        for judge in judges
        if (owner := str(getattr(judge, "owner", "") or "").strip())
        for name, writer in writers.items()
        if owner.casefold() == writer.strip().casefold()
    ]


def _means(
    metric: str, group: pd.DataFrame, resamples: int, confidence: float, rng: np.random.Generator
) -> dict[str, float]:
    judged = group[group["value"].notna()].set_index("item_id")
    found = bootstrap_interval(
        points(metric, judged["value"]),
        groups=judged["conversation_id"],
        resamples=resamples,
        confidence=confidence,
        rng=rng,
    )
    row = {
        "value": found.value,
        "ci_low": found.low,
        "ci_high": found.high,
        "low": points(metric, judged["low"]).mean(),
        "high": points(metric, judged["high"]).mean(),
    }
    if metric in SHARES:
        low, high = SCALE
        for rate, of in (("rate", "value"), ("rate_low", "ci_low"), ("rate_high", "ci_high")):
            row[rate] = (row[of] - low) / (high - low)
    return row
