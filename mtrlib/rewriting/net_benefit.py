"""Net benefit of a method: what it finds, less what it litters, in both readings of the formula."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mtrlib.evaluation.resampling import percentile_interval
from mtrlib.rewriting.gates import NetGate
from mtrlib.rewriting.ratios import Sums, group_draws
from mtrlib.rewriting.sample_size import n_to_settle

READINGS = ("points", "fractions")


@dataclass(frozen=True)
class NetBenefit:
    """``net = ΔRecall@20 - 0.6 * noise_rate - 0.3 * ΔnDCG_loss`` in one reading.

    Attributes
    ----------
    reading : ``points``: ΔRecall and nDCG loss in percentage points, the noise rate as a
        fraction [D]; ``fractions``: all three as fractions.
    value, low, high : net with its bootstrap interval; NaN ends for a single conversation.
    recall_gain, ndcg_loss : in the unit of the reading; the loss is never negative.
    noise_rate : newly found passages that do not reach the prompt, over all newly found; NaN
        where nothing new was found ("–" in tables), with no penalty then.
    new : newly found passages.
    n, n_groups : queries and conversations.
    n_needed : queries that would settle the sign; None = no number does, or it is settled.
    """

    reading: str
    value: float
    low: float
    high: float
    recall_gain: float
    ndcg_loss: float
    noise_rate: float
    new: int
    n: int
    n_groups: int
    n_needed: int | None


def net_benefit(
    table: pd.DataFrame,
    groups: Mapping[str, str],
    gate: NetGate,
    *,
    reading: str = "points",
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> NetBenefit:
    """Net benefit over a table of queries.

    Parameters
    ----------
    table : of :func:`mtrlib.rewriting.harness.measured`. Over the queries that the method was
        used for, the parts belong together; over all of them the gain is thinned by queries
        that it left alone, while the noise rate is not. [D: used queries decide]
    reading : one of ``READINGS``.

    Notes
    -----
    With fractions throughout, the noise term alone (0.6 times up to 1) outweighs any gain that
    retrieval can have; hence points. In a resample without new passages the penalty is 0 too.

    References
    ----------
    Seed 004, the formula; its unit is not given there.
    """
    scale = 100.0 if reading == "points" else 1.0
    recall = Sums.of(table, groups, "recall_after", "", "recall_before")
    loss = Sums.of(table, groups, "ndcg_before", "", "ndcg_after")
    prompt = Sums.of(table, groups, "new_in_prompt", "new")

    def net(gain: np.ndarray, lost: np.ndarray, in_prompt: np.ndarray) -> np.ndarray:
        noise = np.where(np.isnan(in_prompt), 0.0, 1 - in_prompt)
        penalty = gate.noise_weight * noise + gate.ndcg_weight * scale * np.maximum(0, lost)
        return np.asarray(scale * gain - penalty)

    parts = (recall, loss, prompt)
    value = float(net(*(np.array([p.value]) for p in parts))[0])
    blocks = group_draws(recall.n_groups, resamples, rng)
    samples = [net(*(p.drawn(draws) for p in parts)) for draws in blocks]
    drawn = np.concatenate(samples) if samples else [math.nan]
    low, high = percentile_interval(drawn, confidence)
    inside = low < 0 < high
    return NetBenefit(
        reading,
        value,
        low,
        high,
        scale * recall.value,
        scale * max(0.0, loss.value),
        1 - prompt.value,
        int(prompt.columns["new"].sum()),
        recall.n,
        recall.n_groups,
        n_to_settle(value, low, high, recall.n, (0.0,)) if inside else None,
    )


def net_table(found: Mapping[str, NetBenefit]) -> pd.DataFrame:
    """One row per label: net with interval and its parts; an undefined noise rate shows as "–"."""
    rows = [
        {
            "what": label,
            "reading": b.reading,
            "net": b.value,
            "ci_low": b.low,
            "ci_high": b.high,
            "recall_gain": b.recall_gain,
            "noise_rate": "–" if math.isnan(b.noise_rate) else f"{b.noise_rate:.3f}",
            "ndcg_loss": b.ndcg_loss,
            "new": b.new,
            "n": b.n,
            "n_needed": b.n_needed,
        }
        for label, b in found.items()
    ]
    return pd.DataFrame(rows).astype({"n_needed": "Int64"} if rows else {})


def noise_story(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Where more gold is found and the top gets worse: Recall@20 up, nDCG@5 down.

    Parameters
    ----------
    tables : label -> :func:`mtrlib.rewriting.harness.measured`.

    Returns
    -------
    DataFrame
        Per label: ``recall_points, ndcg_points`` (changes of the means), ``occurs`` (the means
        tell the story), ``queries`` in which it happens, their ``share`` of those used, and
        ``in_prompt_lost`` (queries whose answer was in the prompt before and is not after;
        NaN where no answers are known).
    """
    rows = []
    for label, table in tables.items():
        used = table[table["used"].astype(bool)]
        recall = used["recall_after"] - used["recall_before"]
        ndcg = used["ndcg_after"] - used["ndcg_before"]
        both = int(((recall > 0) & (ndcg < 0)).sum())
        known = used["answer_before"].notna()
        lost = int((used["answer_before"] > used["answer_after"]).sum())
        means = [100 * float(x.mean()) if len(used) else math.nan for x in (recall, ndcg)]
        rows.append(
            {
                "method": label,
                "recall_points": means[0],
                "ndcg_points": means[1],
                "occurs": means[0] > 0 > means[1],
                "queries": both,
                "share": both / len(used) if len(used) else math.nan,
                "in_prompt_lost": lost if known.any() else math.nan,
                "n": len(used),
            }
        )
    return pd.DataFrame(rows)
