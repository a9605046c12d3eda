"""Agreement on ratings whose answer is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mtrlib.evaluation.agreement import agreement, agreement_table, card_lines


def _ratings(first: list, second: list, metric: str = "quality") -> pd.DataFrame:
    rows = [
        {"item_id": f"i{n}", "rater": rater, "metric": metric, "rating": rating}
        for rater, ratings in (("first", first), ("second", second))
        for n, rating in enumerate(ratings)
    ]
    return pd.DataFrame(rows)


def test_equal_ratings_agree_fully():
    values = [1, 2, 3, 4, 5, 5, 4, 3, 2, 1]
    found = agreement(_ratings(values, values), "quality", rng=np.random.default_rng(0))
    assert (found["alpha"], found["kappa"], found["exact"]) == (1.0, 1.0, 1.0)
    assert found["n"] == 10


def test_hand_value_of_nominal_alpha_and_kappa():
    # coincidences: aa 4 values, bb 2, ab 1 pair each way; n = 8 values, 5 a and 3 b
    ratings = _ratings(["a", "a", "b", "a"], ["a", "a", "b", "b"], "completeness")
    found = agreement(ratings, "completeness", resamples=50, rng=np.random.default_rng(0))
    observed, expected = 2 / 8, 2 * 5 * 3 / (8 * 7)
    assert found["alpha"] == pytest.approx(1 - observed / expected)
    assert found["kappa"] == pytest.approx((0.75 - 0.5) / (1 - 0.5))


def test_unrelated_ratings_have_no_agreement():
    rng = np.random.default_rng(4)
    first, second = rng.integers(1, 6, size=(2, 300)).tolist()
    found = agreement(_ratings(first, second), "quality", resamples=200, rng=rng)
    assert abs(found["alpha"]) < 0.15
    assert found["alpha_low"] < found["alpha"] < found["alpha_high"]


def test_no_variation_is_no_agreement():
    found = agreement(
        _ratings([5, 5], [5, 5]), "quality", resamples=3, rng=np.random.default_rng(0)
    )
    assert np.isnan(found["alpha"])
    assert found["exact"] == 1.0


def test_table_for_the_card_is_repeatable():
    ratings = pd.concat(
        [_ratings([1, 2, 5, 4], [1, 3, 5, 4]), _ratings(list("aabb"), list("abbb"), "completeness")]
    )
    first, second = (card_lines(agreement_table(ratings, resamples=50)) for _ in range(2))
    assert first == second
    assert first[2].startswith("| quality | 4 | 0.75 | ")
