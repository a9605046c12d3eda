"""One decision per method: launch, hold, not applicable or undecided, with its numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mtrlib.rewriting.conditions import FAILED, NOT_MEASURED, OPEN, Condition, condition
from mtrlib.rewriting.gate_conditions import gate_conditions
from mtrlib.rewriting.gates import Gates
from mtrlib.rewriting.labels import Attribution
from mtrlib.rewriting.net_benefit import READINGS, NetBenefit, net_benefit
from mtrlib.rewriting.sample_size import projection
from mtrlib.rewriting.tiers import Bound

LAUNCH, HOLD, NOT_APPLICABLE, UNDECIDED = "launch", "hold", "not applicable", "undecided"


@dataclass(frozen=True, eq=False)
class Decision:
    """What to do with a method, and why.

    Attributes
    ----------
    verdict : ``launch``, ``hold``, ``not applicable`` (used for no query) or ``undecided``.
    conditions : net benefit first, then the method's gate.
    net : by reading; None where the method was used for no query.
    n_used, n_fell_back, n_queries : queries with gold that it changed, whose rewrite failed,
        and all.
    calls, seconds : mean per query that it was used for; NaN = not measured.
    why : the conditions that decided.
    change : what would change the verdict.
    n_needed : queries it would take to decide; None where that is not the question.
    """

    method: str
    system: str
    verdict: str
    conditions: tuple[Condition, ...]
    net: Mapping[str, NetBenefit]
    n_used: int
    n_fell_back: int
    n_queries: int
    calls: float
    seconds: float
    why: str
    change: str
    n_needed: int | None


def decide(
    method: str,
    table: pd.DataFrame,
    groups: Mapping[str, str],
    gates: Gates,
    *,
    system: str = "",
    bound: Bound | None = None,
    attribution: Attribution | None = None,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> Decision:
    """Judge a method by its net benefit and its launch gate.

    Launch: net > 0 with the lower end of its interval above 0, and every condition of the gate
    met. Hold: a condition fails, its whole interval on the wrong side. Undecided: nothing
    fails, but an interval holds its threshold; and always where the method was used for fewer
    queries than a label must have examples, since the interval of a handful of conversations is
    no interval, and proves a harm as little as a gain. [D] What nobody measured (latency of
    recorded rewrites) neither helps nor hinders, and stands under ``change``. [D]

    Parameters
    ----------
    method : ``coreference``, ``decomposition``, ``multi_query`` or ``hyde``; another name (a
        chain) has no gate but its net benefit and the latency budget.
    table : of :func:`mtrlib.rewriting.harness.measured`, all queries with gold. The method is
        judged on those it was used for. [D]
    bound : upper bound for this retriever and view; needed by the gate of multi-query.
    attribution : labels of the failures; needed by the gate of multi-query.
    """
    used = table[table["used"].astype(bool)]
    n_failed = int((table["failed"] != "").sum())
    if used.empty:
        why = "every rewrite fell back" if n_failed else "its trigger fires for no query"
        change = "queries of the kind it is for" if not n_failed else "a rewriter that works"
        return Decision(method, system, NOT_APPLICABLE, (), {}, 0, n_failed, len(table),
                        math.nan, math.nan, why, change, None)  # fmt: skip
    how: dict[str, Any] = {"resamples": resamples, "confidence": confidence, "rng": rng}
    nets = {r: net_benefit(used, groups, gates.net_benefit, reading=r, **how) for r in READINGS}
    net = nets["points"]
    first = condition(
        "net benefit", net.value, 0.0, "above", low=net.low, high=net.high, n=net.n,
        note="points" if net.n_groups > 1 else "points; one conversation, no interval",
    )  # fmt: skip
    gate = gate_conditions(method, used, groups, gates, bound=bound, attribution=attribution, **how)
    conditions = (first, *gate)
    few = len(used) < gates.labels_min_examples
    verdict = UNDECIDED if few else _verdict(conditions, net)
    why, change, needed = _reasons(verdict, conditions)
    if few:
        least = gates.labels_min_examples
        needed = math.ceil(len(table) * least / len(used))
        why = f"used for {len(used)} queries, at least {least} are needed"
        change = projection(needed, len(table))
    return Decision(
        method, system, verdict, conditions, nets, len(used), n_failed, len(table),
        float(used["calls"].mean()), float(used["seconds"].mean(skipna=False)),
        why, change, needed,
    )  # fmt: skip


def _verdict(conditions: Sequence[Condition], net: NetBenefit) -> str:
    states = {c.state for c in conditions}
    if FAILED in states:
        return HOLD
    # without an interval nothing shows that the gain is more than luck
    return UNDECIDED if OPEN in states or math.isnan(net.low) else LAUNCH


def _reasons(verdict: str, conditions: Sequence[Condition]) -> tuple[str, str, int | None]:
    failed = [c for c in conditions if c.state == FAILED]
    open_ = [c for c in conditions if c.state == OPEN]
    missing = [c.name for c in conditions if c.state == NOT_MEASURED]
    needed = [c.n_needed for c in open_]
    n_needed = None if not needed or None in needed else max(n for n in needed if n)
    if verdict == HOLD:
        why = "; ".join(c.text for c in failed)
        change = "; ".join(_must(c) for c in failed)
    elif verdict == UNDECIDED:
        why = "; ".join(c.text for c in open_) or "a single conversation gives no interval"
        n = max((c.n for c in open_), default=0)
        change = projection(n_needed, n) if open_ else "more conversations"
    else:
        why = "; ".join(c.text for c in conditions if c.state != NOT_MEASURED)
        change = "any of these conditions no longer met on new queries"
    if missing:
        change += f"; still to be measured: {', '.join(missing)}"
    return why, change, n_needed if verdict == UNDECIDED else None


def _must(c: Condition) -> str:
    verb = {"above": "rise above", "below": "fall below"}.get(c.wanted, "reach")
    return f"{c.name} must {verb} {c.threshold:g} (now {c.value:.3f})"


def decision_table(decisions: Sequence[Decision]) -> pd.DataFrame:
    """One row per decision: verdict, net in both readings, costs, reasons."""
    rows = []
    for d in decisions:
        points, fractions = d.net.get("points"), d.net.get("fractions")
        rows.append(
            {
                "method": d.method,
                "system": d.system,
                "verdict": d.verdict,
                "net": points.value if points else math.nan,
                "ci_low": points.low if points else math.nan,
                "ci_high": points.high if points else math.nan,
                "net_fractions": fractions.value if fractions else math.nan,
                "used": d.n_used,
                "fell_back": d.n_fell_back,
                "queries": d.n_queries,
                "calls": d.calls,
                "seconds": d.seconds,
                "why": d.why,
                "change": d.change,
                "n_needed": d.n_needed,
            }
        )
    return pd.DataFrame(rows).astype({"n_needed": "Int64"} if rows else {})


def next_launch(decisions: Sequence[Decision]) -> str:
    """The one method to admit next: one step at a time goes live (rewriting, section 7).

    Of those to launch the one with the most to gain over all queries: the lower end of its net
    benefit times the share of queries that it is used for; ties by name. [D]
    """
    ready = [d for d in decisions if d.verdict == LAUNCH]
    if not ready:
        return "none: no method passes its gate"
    best = max(ready, key=lambda d: (d.net["points"].low * d.n_used / d.n_queries, d.method))
    others = sorted({d.method for d in ready} - {best.method})
    wait = f"; then measure again before {', '.join(others)}" if others else ""
    return f"{best.method}{f' on {best.system}' if best.system else ''}{wait}"
