"""The upper bound as a result: points with interval, tiers, and what they advise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from mtrlib.evaluation.significance import Difference
from mtrlib.rewriting.gates import OracleGate
from mtrlib.rewriting.sample_size import at, projection

LOW, MIDDLE, HIGH = "below", "middle", "above"
READING = {
    LOW: "wording is not the bottleneck",
    MIDDLE: "rewriting is worth it",
    HIGH: "a vocabulary gap is the main cause",
}
ADVICE = {
    LOW: "look at chunking, hybrid search, metadata filters and index parameters instead",
    MIDDLE: "one or two cheap methods only",
    HIGH: "design multi-query and HyDE with care",
}


@dataclass(frozen=True, eq=False)
class Bound:
    """What a set of rewrites gains in Recall@k for one retriever and query view.

    Attributes
    ----------
    name : ``author_voice``, ``best_of`` or what the rewrites are called.
    before, after : Recall@k per query with gold, fractions.
    points : difference of the means in percentage points with its paired bootstrap interval;
        its ``n_gained, n_lost, n_same`` are the win/loss counts.
    tier, tier_low, tier_high : of the point estimate and of both ends of the interval.
    n_needed : queries that would settle the tier; None = no number does, or nothing is open.
    n_without_gold : queries left out.
    fell_back : query id -> why its rewrite was not used; the original was searched.
    """

    name: str
    system: str
    k: int
    before: pd.Series
    after: pd.Series
    points: Difference
    tier: str
    tier_low: str
    tier_high: str
    n_needed: int | None
    n_without_gold: int
    fell_back: Mapping[str, str]

    @property
    def undecided(self) -> bool:
        """Whether the ends of the interval lie in different tiers (or there is no interval)."""
        return not self.tier_low == self.tier == self.tier_high

    @property
    def verdict(self) -> str:
        """One line: the reading of the tier, or "undecided, n is too small" with the n."""
        if not self.undecided:
            return f"{READING[self.tier]}: {ADVICE[self.tier]}"
        if self.points.n_groups < 2:
            return "undecided, n is too small: one conversation gives no interval"
        settle = projection(self.n_needed, self.points.n)
        return f"undecided, n is too small: {settle} would settle the tier"


def tier_of(points: float, gate: OracleGate) -> str:
    """``below``, ``middle`` or ``above``; both borders belong to the middle. [D]

    >>> [tier_of(p, OracleGate(3, 8)) for p in (2.9, 3.0, 8.0, 8.1)]
    ['below', 'middle', 'middle', 'above']
    """
    if at(points) < gate.low_points:
        return LOW
    return HIGH if at(points) > gate.high_points else MIDDLE


def bound_table(bounds: Sequence[Bound], views: Sequence[str] = ()) -> pd.DataFrame:
    """One row per bound: points with interval, win/loss counts, tiers and verdict."""
    rows = [
        {
            "system": b.system,
            "view": views[i] if views else "",
            "bound": b.name,
            "before": float(b.before.mean()),
            "after": float(b.after.mean()),
            "points": b.points.value,
            "ci_low": b.points.low,
            "ci_high": b.points.high,
            "n_queries": b.points.n,
            "gained": b.points.n_gained,
            "lost": b.points.n_lost,
            "same": b.points.n_same,
            "without_gold": b.n_without_gold,
            "fell_back": len(b.fell_back),
            "tier": b.tier,
            "tier_low": b.tier_low,
            "tier_high": b.tier_high,
            "n_needed": b.n_needed,
            "verdict": b.verdict,
        }
        for i, b in enumerate(bounds)
    ]
    return pd.DataFrame(rows).astype({"n_needed": "Int64"} if rows else {})
