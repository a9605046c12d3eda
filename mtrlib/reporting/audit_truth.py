"""Judges against what is known: the rated items, and the judged pools of mtr-mini."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from mtrlib.audit.judged_pairs import evidence_pairs
from mtrlib.audit.judging import Judge, Task
from mtrlib.audit.pair_judge import PairJudge
from mtrlib.audit.reference import NAME, ReferenceJudge
from mtrlib.data.authored.records import load_authored
from mtrlib.data.schema import Benchmark
from mtrlib.evaluation.calibration import calibration_curve
from mtrlib.evaluation.validation import validation_table
from mtrlib.llm.questions import Verdict
from mtrlib.profiles import Profile

BINS = 10  # of the calibration curve


def against_ratings(
    judged: pd.DataFrame, profile: Profile, rng: np.random.Generator
) -> pd.DataFrame:
    """Every judge against the mean of the two ratings of judgements-mini, per metric.

    Parameters
    ----------
    judged : table of :func:`mtrlib.audit.metrics.judgements`, the reference judge among it.

    Returns
    -------
    DataFrame
        As :func:`mtrlib.evaluation.validation.validation_table`; ``completeness`` (gold
        picked or not) by kappa, the other metrics by correlations and alpha.
    """
    rows = judged[judged["set"].eq(NAME)]
    human = rows[rows["judge"].eq(ReferenceJudge.name)].dropna(subset=["value"])
    pairs = rows[rows["judge"].ne(ReferenceJudge.name)].merge(
        human[["metric", "item_id", "value"]].rename(columns={"value": "human"}),
        on=["metric", "item_id"],
    )
    pairs = pairs.rename(columns={"value": "judged", "conversation_id": "group"})
    tried = pairs.groupby(["judge", "metric"])["judged"].transform("count") > 0
    sure: dict[str, Any] = {
        "resamples": profile.RESAMPLES,
        "confidence": profile.CONFIDENCE,
        "rng": rng,
    }
    picks = pairs["metric"].eq("completeness")
    fewer = {**sure, "resamples": profile.RESAMPLES // 10}  # alpha takes 8 ms a resample
    tables = [
        validation_table(pairs[tried & picks], ["kappa"], **fewer),
        validation_table(pairs[tried & ~picks], ["pearson", "spearman"], **sure),
        validation_table(pairs[tried & ~picks], ["alpha_interval"], **fewer),
    ]
    return pd.concat(tables, ignore_index=True).assign(against="two ratings")


def judged_pool(benchmark: Benchmark, judges: Sequence[Judge]) -> pd.DataFrame:
    """Every judged passage of the pools of mtr-mini, as each judge sees it.

    Returns
    -------
    DataFrame
        ``judge, set, item_id, conversation_id, passage_id, supports`` (bool), ``p`` and
        ``calibrated`` (whether p is meant as a probability; else a rating on [0, 1]).
    """
    known = evidence_pairs(benchmark, load_authored().judged[benchmark.name])
    tasks = [Task("query_evidence", pair.item, pair.passage) for pair in known]
    rows = [
        (p.item.benchmark, p.item.item_id, p.item.conversation_id, p.passage.passage_id, p.label)
        for p in known
    ]
    base = pd.DataFrame(
        rows, columns=["set", "item_id", "conversation_id", "passage_id", "supports"]
    )
    tables = [
        base.assign(
            judge=judge.name,
            p=[probability(verdict) for verdict in judge.judge(tasks)],
            calibrated=isinstance(judge, PairJudge) and judge.probabilities,
        )
        for judge in judges
    ]
    return pd.concat(tables, ignore_index=True)


def probability(verdict: Verdict) -> float:
    """Probability of support, or the rating brought to [0, 1] where the judge gives none."""
    if not isinstance(verdict.value, float | int):
        return float("nan")
    return verdict.probabilities.get("yes", (float(verdict.value) - 1) / 4)


def separation(
    pool: pd.DataFrame, profile: Profile, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """AUC of every judge on the judged pools, Brier score and curve of calibrated ones.

    Parameters
    ----------
    pool : of :func:`judged_pool`.

    Returns
    -------
    DataFrame, DataFrame
        Rows as of :func:`against_ratings`; and the curve ``judge, n, predicted, observed,
        ci_low, ci_high``.
    """
    pairs = pool.assign(
        metric="query_evidence",
        item_id=pool["item_id"] + " " + pool["passage_id"],
        group=pool["conversation_id"],
        judged=pool["p"],
        human=pool["supports"].astype(float),
    )
    sure: dict[str, Any] = {
        "resamples": profile.RESAMPLES // 10,
        "confidence": profile.CONFIDENCE,
        "rng": rng,
    }
    calibrated = pairs[pairs["calibrated"]]
    tables, curves = [validation_table(pairs, ["auc"], **sure)], []
    if len(calibrated):
        tables.append(validation_table(calibrated, ["brier", "brier_skill"], **sure))
    for judge, part in calibrated.groupby("judge", sort=False):
        curve = calibration_curve(
            part["p"].to_numpy(), part["human"].to_numpy(), bins=BINS, confidence=profile.CONFIDENCE
        )
        curves.append(curve[curve["n"] > 0].assign(judge=judge))
    table = pd.concat(tables, ignore_index=True).assign(against="judged pools")
    columns = ["judge", "n", "mean_predicted", "observed", "ci_low", "ci_high"]
    curve = pd.concat(curves, ignore_index=True) if curves else pd.DataFrame(columns=columns)
    return table, curve[columns].rename(columns={"mean_predicted": "predicted"})
