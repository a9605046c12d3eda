"""Noise and sparsity of a benchmark, estimated from a judge's probabilities.

A judge errs, so that the share it flags is not the share that is wrong. Where pairs with
known truth are at hand the share is corrected by the judge's error rates on them. The
correction holds as far as the judge errs on the benchmark as it does on those pairs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd

from mtrlib.audit.rates import WEAKEST_JUDGE, Floats, Rate, rate, rogan_gladen, share_interval

UNCORRECTED = "apparent share, not corrected for the judge's errors"


@dataclass(frozen=True)
class Estimate:
    """A share in a benchmark with its percentile interval over conversations.

    Attributes
    ----------
    value, low, high : fractions in [0, 1]; NaN where ``note`` says why.
    apparent : the share as the judge flags it.
    n, n_groups, n_missing : rows used, conversations, rows without a verdict (left out).
    corrected : whether the judge's error rates are taken into account.
    note : what the reader must know.
    samples : (resamples,) behind the interval; resample i of two estimates with one seed
        weighs the conversations alike.
    """

    value: float
    low: float
    high: float
    apparent: float
    n: int
    n_groups: int
    corrected: bool
    note: str = ""
    n_missing: int = 0
    samples: Floats = field(repr=False, compare=False, default_factory=lambda: np.empty(0))


def turn_scores(pairs: pd.DataFrame) -> pd.DataFrame:
    """Best and weakest gold and best unmarked passage of each turn.

    Parameters
    ----------
    pairs : columns ``set, item_id, conversation_id, passage_id, marked`` (bool) and ``p``;
        a missing p is passed over.

    Returns
    -------
    DataFrame
        ``set, item_id, conversation_id, best_gold, weakest_gold, best_unmarked``; NaN where
        a turn has no such passage with a p.
    """
    keys = ["set", "item_id", "conversation_id"]
    marked = pairs["marked"].astype(bool)
    gold = pairs[marked].groupby(keys)["p"].agg(best_gold="max", weakest_gold="min")
    unmarked = pairs[~marked].groupby(keys)["p"].max().rename("best_unmarked")
    return pd.concat([gold, unmarked], axis=1).sort_index().reset_index()


def noise(
    gold: pd.DataFrame,
    reference: pd.DataFrame | None = None,
    *,
    threshold: float,
    resamples: int,
    confidence: float,
    seed: int,
) -> Estimate:
    """Share of gold passages that do not support their turn.

    Parameters
    ----------
    gold : columns ``set, item_id, conversation_id, passage_id, p``: the judge's probability
        that the passage supports, NaN where it gave none.
    reference : columns ``set, conversation_id, p, supports`` (bool): pairs with known truth,
        judged out of fold. None gives the apparent share.
    threshold : a pair with ``p < threshold`` is flagged.
    resamples, confidence, seed : of the interval; conversations of both tables are drawn.
    """
    read = gold[gold["p"].notna()]
    how = {"resamples": resamples, "seed": seed}
    apparent = rate(read.assign(flag=read["p"] < threshold), "noise", **how)
    missing = len(gold) - len(read)
    if reference is None:
        return _estimate(apparent, None, None, confidence, missing)
    known = reference[reference["p"].notna()]
    known = known.assign(flag=known["p"] < threshold)
    supports = known["supports"].astype(bool)
    sensitivity = rate(known[~supports], "sensitivity of noise", **how)
    false_alarms = rate(known[supports], "false alarms of noise", **how)
    return _estimate(apparent, sensitivity, false_alarms, confidence, missing)


def sparsity(
    turns: pd.DataFrame,
    clean: pd.DataFrame | None = None,
    planted: pd.DataFrame | None = None,
    *,
    against: Literal["best", "weakest"] = "best",
    threshold: float,
    resamples: int,
    confidence: float,
    seed: int,
) -> Estimate:
    """Share of turns with an unmarked passage that beats the gold.

    A turn is flagged where an unmarked passage has ``p >= threshold`` and more than the best
    (or the weakest) gold passage. The threshold keeps two useless passages from being
    compared: a noisy gold is the matter of :func:`noise`.

    Parameters
    ----------
    turns : of the benchmark, as :func:`turn_scores` gives them.
    clean : turns of fully judged pools in which no unmarked passage supports: their flagged
        share is the false-alarm rate.
    planted : turns in which a supporting passage is left unmarked: their flagged share is
        the detection rate. Without both tables the apparent share is given.
    against : the gold passage to beat.

    Notes
    -----
    An unmarked passage outside the pool is never seen: this is the sparsity that the pool
    shows, a lower bound of what the corpus holds.
    """
    how = {"resamples": resamples, "seed": seed}

    def flagged(table: pd.DataFrame, what: str) -> Rate:
        read = table.dropna(subset=[f"{against}_gold", "best_unmarked"])
        beats = read["best_unmarked"] > read[f"{against}_gold"]
        return rate(read.assign(flag=beats & (read["best_unmarked"] >= threshold)), what, **how)

    apparent = flagged(turns, "sparsity")
    missing = len(turns) - apparent.n
    if clean is None or planted is None:
        return _estimate(apparent, None, None, confidence, missing)
    detection = flagged(planted, "detection of sparsity")
    false_alarms = flagged(clean, "false alarms of sparsity")
    return _estimate(apparent, detection, false_alarms, confidence, missing)


def _estimate(
    apparent: Rate,
    detection: Rate | None,
    false_alarms: Rate | None,
    confidence: float,
    n_missing: int,
) -> Estimate:
    """The share, corrected where both error rates are known and the judge is strong enough."""
    value, samples, note, corrected = apparent.value, apparent.samples, UNCORRECTED, False
    if detection is not None and false_alarms is not None:
        strength = detection.value - false_alarms.value
        corrected = strength >= WEAKEST_JUDGE
        if corrected:
            rates = ((r.value, r.samples) for r in (apparent, detection, false_alarms))
            values, drawn = zip(*rates, strict=True)
            value = float(rogan_gladen(values[0], values[1], 1 - values[2]))
            samples, note = rogan_gladen(drawn[0], drawn[1], 1 - drawn[2]), ""
        else:
            value, samples = math.nan, np.full_like(samples, math.nan)
            note = (
                f"judge too weak to correct with: it flags {detection.value:.2f} of the true "
                f"cases and {false_alarms.value:.2f} of the others "
                f"({detection.n} and {false_alarms.n} known)"
            )
    low, high = share_interval(value, samples, confidence)
    return Estimate(
        value,
        low,
        high,
        apparent.value,
        apparent.n,
        apparent.n_groups,
        corrected,
        note,
        n_missing,
        samples,
    )
