"""The launch gates of the four methods, as conditions on a table of measured queries."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from mtrlib.rewriting.conditions import FAILED, MET, OPEN, Condition, condition
from mtrlib.rewriting.gates import Gates, MultiQueryGate
from mtrlib.rewriting.labels import Attribution
from mtrlib.rewriting.ratios import Sums, ratio_interval
from mtrlib.rewriting.sample_size import at
from mtrlib.rewriting.tiers import Bound

How = dict[str, Any]


def gate_conditions(
    method: str,
    used: pd.DataFrame,
    groups: Mapping[str, str],
    gates: Gates,
    *,
    bound: Bound | None,
    attribution: Attribution | None,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> list[Condition]:
    """Conditions of one method's gate; a name without a gate has the latency budget alone.

    Parameters
    ----------
    used : rows of :func:`mtrlib.rewriting.harness.measured` that the method was used for.
    """
    how: How = {"resamples": resamples, "confidence": confidence, "rng": rng}
    found: list[Condition] = []
    if method == "coreference":
        least = gates.coreference.hit_rate_launch_above
        found.append(_rate("standalone hit rate", used, groups, how, "standalone_hit", "", least))
    elif method == "decomposition":
        found += _decomposition(used, groups, gates, how)
    elif method == "multi_query":
        found += _multi_query(used, groups, gates, how, bound, attribution)
    elif method == "hyde":
        most = gates.hyde.contamination_launch_below
        found.append(
            _rate("contamination", used, groups, how, "contaminated", "listed", most, "below")
        )
        found.append(_repeated_gain(used, groups, gates.hyde.repeats_in_parts, rng))
    if gates.latency_budget_ms is not None:
        found.append(_latency(used, gates.latency_budget_ms))
    return found


def _rate(
    name: str,
    used: pd.DataFrame,
    groups: Mapping[str, str],
    how: How,
    top: str,
    bottom: str,
    threshold: float,
    wanted: str = "above",
) -> Condition:
    sums = Sums.of(used, groups, top, bottom)
    value, low, high = ratio_interval(sums, **how)
    return condition(name, value, threshold, wanted, low=low, high=high, n=sums.n)


def _decomposition(
    used: pd.DataFrame, groups: Mapping[str, str], gates: Gates, how: How
) -> list[Condition]:
    """Coverage up by more than a fifth, nDCG not lower.

    The gain is relative, ``after / before - 1``: the source text writes "points" where it
    means points. [D] Nothing covered before and something after is an endless gain.
    """
    sums = Sums.of(used, groups, "covered_after", "covered_before", "covered_before")
    value, low, high = ratio_interval(sums, **how)
    if math.isnan(value) and sums.n and sums.columns["covered_after"].sum() > 0:
        value = math.inf
    coverage = condition(
        "relative gain of coverage",
        value,
        gates.decomposition.coverage_gain_above,
        "above",
        low=low,
        high=high,
        n=sums.n,
    )
    change = Sums.of(used, groups, "ndcg_after", "", "ndcg_before")
    value, low, high = ratio_interval(change, **how)
    fused = "coverage rises and nDCG does not: the fusion is at fault"
    at_fault = coverage.value > 0 and value <= 0
    note = fused if at_fault else ""
    ndcg = condition(
        "nDCG@5 change", value, 0.0, "not below", low=low, high=high, n=change.n, note=note
    )
    return [coverage, ndcg]


def _multi_query(
    used: pd.DataFrame,
    groups: Mapping[str, str],
    gates: Gates,
    how: How,
    bound: Bound | None,
    attribution: Attribution | None,
) -> list[Condition]:
    gate = gates.multi_query
    in_prompt = _rate("in-prompt rate", used, groups, how, "new_in_prompt", "new",
                      gate.in_prompt_launch_above)  # fmt: skip
    in_prompt = replace(in_prompt, note=in_prompt_reading(in_prompt.value, gate))
    similarity = _rate("mean similarity of variants", used, groups, how, "similarity", "",
                       gate.similarity_max, "below")  # fmt: skip
    points = bound.points if bound else None
    oracle = condition(
        "upper bound, points",
        points.value if points else math.nan,
        gate.bound_above_points,
        "above",
        low=points.low if points else math.nan,
        high=points.high if points else math.nan,
        n=points.n if points else 0,
    )
    return [in_prompt, similarity, oracle, _label(attribution, gate.label, gates)]


def in_prompt_reading(rate: float, gate: MultiQueryGate) -> str:
    """What an in-prompt rate says: noise below 15%, gaps filled above 40%, else neither.

    Exactly 15% is not noise, exactly 40% does not yet fill gaps. NaN: nothing new was found.
    """
    if math.isnan(rate):
        return "nothing new was found"
    if at(rate) < gate.in_prompt_noise_below:
        return "noise: cut variants or tighten the similarity"
    if at(rate) > gate.in_prompt_good_above:
        return "fills gaps"
    return "neither noise nor gaps filled"


def _label(attribution: Attribution | None, label: str, gates: Gates) -> Condition:
    """Whether enough failures carry the label that the method is for; too few is undecided."""
    name, least = f"failures labelled {label}", gates.labels_min_examples
    if attribution is None:
        return condition(name, math.nan, least, "not below")
    n = len(attribution.queries(label))
    state = MET if n >= least else OPEN if n else FAILED
    # failures grow with the queries; so does the number it takes
    needed = math.ceil(attribution.n_queries * least / n) if state == OPEN else None
    note = "too few to decide on" if state == OPEN else ""
    return Condition(name, float(n), math.nan, math.nan, float(least), "not below", state,
                     attribution.n_queries, needed, note)  # fmt: skip


def _repeated_gain(
    used: pd.DataFrame, groups: Mapping[str, str], parts: int, rng: np.random.Generator
) -> Condition:
    """A gain that repeats: ΔRecall@20 above 0 in each of several disjoint parts. [D]

    Conversations are dealt into the parts at random; the value is the smallest gain of a part,
    in points. Fewer conversations than parts: not measured.
    """
    names = sorted({groups[str(q)] for q in used.index})
    name = f"smallest recall gain of {parts} parts, points"
    if len(names) < parts:
        return condition(name, math.nan, 0.0, "above", note="too few conversations")
    order = rng.permutation(len(names))
    part_of = {names[c]: i % parts for i, c in enumerate(order)}
    gain = 100 * (used["recall_after"] - used["recall_before"])
    part = pd.Series([part_of[groups[str(q)]] for q in used.index], index=used.index)
    gains = gain.groupby(part).mean()
    return condition(name, float(gains.min()), 0.0, "above", n=len(used))


def _latency(used: pd.DataFrame, budget_ms: float) -> Condition:
    """Added time per query at the 99th percentile against the budget; ms.

    Seconds of a batch shared out over its texts: throughput on the machine that ran it. Not
    measured where any part is unknown, as with recorded or replayed rewrites.
    """
    name = "added time p99, ms"
    seconds = used["seconds"].to_numpy(dtype=float)
    unknown = not len(seconds) or bool(np.isnan(seconds).any())
    value = math.nan if unknown else 1000 * float(np.percentile(seconds, 99))
    return condition(name, value, float(budget_ms), "below", n=len(seconds))
