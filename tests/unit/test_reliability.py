"""Alpha and kappa against published examples and by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from mtrlib.errors import InputError
from mtrlib.evaluation.people import people_table
from mtrlib.evaluation.reliability import (
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    rating_counts,
)

# the worked example of four observers and twelve units that goes with Krippendorff's alpha
_ = np.nan
KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
        [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
    ]
).T  # (n_items, n_raters)

# ten subjects, fourteen raters, five categories
FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


@pytest.mark.parametrize(
    ("level", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_published_alpha_with_missing_values(level, expected):
    assert krippendorff_alpha(KRIPPENDORFF, level) == pytest.approx(expected, abs=5e-4)


def test_alpha_of_text_labels_is_that_of_numbers():
    labels = pd.DataFrame(KRIPPENDORFF).map(lambda v: None if math.isnan(v) else f"label {v}")
    assert krippendorff_alpha(labels, "nominal") == krippendorff_alpha(KRIPPENDORFF, "nominal")


def test_alpha_needs_variation_and_pairs():
    assert math.isnan(krippendorff_alpha(np.full((4, 2), 3.0), "ordinal"))
    assert math.isnan(krippendorff_alpha(np.array([[1, np.nan], [np.nan, 2]]), "interval"))


def test_published_fleiss_kappa():
    # mean P = 0.378, P_e = 0.213; (0.378 - 0.213) / (1 - 0.213) = 0.210
    assert fleiss_kappa(np.array(FLEISS)) == pytest.approx(0.210, abs=5e-4)


def test_fleiss_kappa_with_a_varying_number_of_raters_by_hand():
    # items: aaa (P 1), aab (P 1/3: one of three pairs), ab (P 0), bb (P 1), b alone (drops out)
    # P = (1 + 1/3 + 0 + 1) / 4 = 7/12; ratings 6 a and 4 b: P_e = .36 + .16 = .52
    table = pd.DataFrame(
        [list("aaa"), list("aab"), ["a", "b", None], [None, "b", "b"], ["b", None, None]]
    )
    counts = rating_counts(table)
    assert counts.tolist() == [[3, 0], [2, 1], [1, 1], [0, 2], [0, 1]]
    assert fleiss_kappa(counts) == pytest.approx((7 / 12 - 0.52) / 0.48)


def test_fleiss_kappa_without_variation_or_pairs_is_undefined():
    assert math.isnan(fleiss_kappa(np.array([[3, 0], [2, 0]])))
    assert math.isnan(fleiss_kappa(np.array([[1, 0], [0, 1]])))


def test_quadratic_kappa_by_hand():
    # ratings (1,1) (2,2) (5,2): squared distances 0, 0, 9; by chance each first (1, 2, 5) meets
    # each second (1, 2, 2): (0 + 1 + 1 + 1 + 0 + 0 + 16 + 9 + 9) / 9 pairs = 37 / 9
    first, second = np.array([1, 2, 5]), np.array([1, 2, 2])
    assert cohen_kappa(first, second, "quadratic") == pytest.approx(1 - (9 / 3) / (37 / 9))


def test_levels_can_be_steps():
    # as ranks 1, 2, 3 the ratings 1, 2, 5 give squared distances 0, 0, 1 and by chance
    # (0 + 1 + 1 + 1 + 0 + 0 + 4 + 1 + 1) / 9
    first, second = np.array([1, 2, 5]), np.array([1, 2, 2])
    found = cohen_kappa(first, second, "quadratic", levels=[1, 2, 5])
    assert found == pytest.approx(1 - (1 / 3) / (9 / 9))


def test_weighted_kappa_refuses_fractions():
    with pytest.raises(InputError, match=r"2\.5"):
        cohen_kappa(np.array([1, 2.5]), np.array([1, 2]), "quadratic")


def _people(rows: dict[str, list[float]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"metric": "m", "item_id": i, "group": i[0], "rater": f"r{n}", "rating": value}
            for i, values in rows.items()
            for n, value in enumerate(values)
        ]
    )


def test_people_among_themselves():
    ratings = _people({"a1": [1, 1], "a2": [4, 4], "b1": [2, 2], "b2": [3, 3], "c1": [2]})
    how = {"resamples": 50, "confidence": 0.95}
    table = people_table(ratings, "interval", **how, rng=np.random.default_rng(0))
    table = table.set_index("statistic")
    assert list(table.index) == ["alpha_interval", "kappa_fleiss", "pearson_left_out"]
    assert table["value"].tolist() == pytest.approx([1, 1, 1])
    assert set(table["n"]) == {4}
    assert set(table["n_missing"]) == {1}
    labels = people_table(ratings, "nominal", **how, rng=np.random.default_rng(0))
    assert labels["statistic"].tolist() == ["alpha_nominal", "kappa_fleiss"]


def test_left_out_rater_is_compared_with_the_mean_of_the_others():
    # item 1: 1 2 3, item 2: 2 2 (third absent), item 3: 4 4 1
    ratings = _people({"a1": [1, 2, 3], "b1": [2, 2], "c1": [4, 4, 1]})
    table = people_table(
        ratings, "ordinal", resamples=5, confidence=0.9, rng=np.random.default_rng(0)
    ).set_index("statistic")
    own = [1, 2, 3, 2, 2, 4, 4, 1]
    others = [2.5, 2, 1.5, 2, 2, 2.5, 2.5, 4]
    expected = np.corrcoef(own, others)[0, 1]
    assert table.loc["pearson_left_out", "value"] == pytest.approx(expected)
