"""Our paired randomisation test against scipy's permutation test, all patterns tried.

``permutation_type="samples"`` swaps the two systems within each pair, which is our null
hypothesis. The pairs are queries, or sums over conversations where queries are grouped.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mtrlib.evaluation.significance import paired_difference

pytestmark = pytest.mark.parity


def ours(a: pd.Series, b: pd.Series, groups: dict[str, str] | None = None) -> float:
    found = paired_difference(
        a, b, groups=groups, resamples=2**12, confidence=0.95, rng=np.random.default_rng(1)
    )
    assert 2**found.n_groups <= 2**12  # all sign patterns, nothing drawn
    return found.p_value


def theirs(a: pd.Series, b: pd.Series, groups: dict[str, str] | None = None) -> float:
    if groups is not None:
        a, b = (values.groupby(groups).sum() for values in (a, b))
    return stats.permutation_test(
        (b.to_numpy(), a.to_numpy()),
        lambda x, y, axis: (x - y).sum(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
        alternative="two-sided",
    ).pvalue


def example(seed: int, n: int, step: float) -> tuple[pd.Series, pd.Series]:
    """Recall-like values; a coarse step makes equal queries, equal sums and zero sums."""
    draw = np.random.default_rng(seed)
    index = [f"q{i:02}" for i in range(n)]
    a = pd.Series(draw.random(n), index=index)
    b = (a + draw.normal(0.1, 0.3, n)).clip(0, 1)
    return (a, b) if step == 0 else ((a / step).round() * step, (b / step).round() * step)


@pytest.mark.parametrize("step", [0, 0.1, 1 / 3, 1], ids=["no ties", "tenths", "thirds", "0 or 1"])
@pytest.mark.parametrize("n", [2, 5, 9, 12])
@pytest.mark.parametrize("seed", range(4))
def test_single_queries(seed: int, n: int, step: float):
    a, b = example(seed, n, step)
    assert ours(a, b) == pytest.approx(theirs(a, b), abs=5e-4)
    assert ours(b, a) == ours(a, b)


@pytest.mark.parametrize("step", [0, 0.1, 1 / 3, 1], ids=["no ties", "tenths", "thirds", "0 or 1"])
@pytest.mark.parametrize("seed", range(6))
def test_conversations_of_unequal_length(seed: int, step: float):
    a, b = example(seed, 40, step)
    draw = np.random.default_rng(seed + 100)
    groups = {q: f"c{draw.integers(9)}" for q in a.index}
    assert ours(a, b, groups) == pytest.approx(theirs(a, b, groups), abs=5e-4)


def test_no_difference_and_a_zero_sum():
    a = pd.Series([0.2, 0.4, 0.6], index=list("xyz"))
    balanced = a + np.array([0.1, 0.2, -0.3])
    assert ours(a, a) == theirs(a, a) == 1
    assert ours(a, balanced) == theirs(a, balanced) == 1


def test_drawn_patterns_come_near_the_exact_value():
    a, b = example(5, 16, 0)
    found = paired_difference(
        a, b, resamples=20_000, confidence=0.95, rng=np.random.default_rng(1)
    ).p_value
    assert found == pytest.approx(theirs(a, b), abs=0.01)
