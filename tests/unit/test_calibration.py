"""Calibration curve, Brier score, Wilson interval: by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mtrlib.errors import InputError
from mtrlib.evaluation.calibration import CURVE, brier, calibration_curve, wilson_interval


def test_wilson_by_hand():
    # 8 of 10, z = 1.96: centre (.8 + z²/20) / (1 + z²/10) = .99207 / 1.38415 = .71674;
    # half width z sqrt(.016 + z²/400) / 1.38415 = 1.96 * .16 / 1.38415 = .22659
    assert wilson_interval(8, 10, 0.95) == pytest.approx((0.49016, 0.94332), abs=1e-4)
    assert wilson_interval(0, 0, 0.95) == (0, 1)
    assert wilson_interval(0, 20, 0.95)[1] > 0.1


def test_brier_by_hand():
    # errors .1 .4 .3 .6: squares .01 .16 .09 .36; base rate .5
    found = brier(np.array([0.9, 0.6, 0.3, 0.6]), np.array([1, 1, 0, 0]))
    assert found.value == pytest.approx(0.62 / 4)
    assert found.reference == 0.25
    assert found.skill == pytest.approx(1 - 0.155 / 0.25)
    assert found.n == 4


def test_base_rate_has_no_skill_and_one_class_none_at_all():
    assert brier(np.full(4, 0.25), np.array([1, 0, 0, 0])).skill == pytest.approx(0)
    assert math.isnan(brier(np.array([0.2]), np.array([0])).skill)


def test_curve_by_hand():
    p, truth = [0.0, 0.1, 0.2, 0.5, 0.9, 1.0], [0, 0, 1, 1, 1, 1]
    curve = calibration_curve(np.array(p), np.array(truth), bins=2)
    assert list(curve.columns) == CURVE
    assert curve["n"].tolist() == [3, 3]  # .5 opens the upper bin, 1.0 closes it
    assert curve["mean_predicted"].tolist() == pytest.approx([0.1, 0.8])
    assert curve["observed"].tolist() == pytest.approx([1 / 3, 1])
    assert curve.loc[0, ["ci_low", "ci_high"]].tolist() == pytest.approx(
        wilson_interval(1, 3, 0.95)
    )


def test_empty_bins_stay_and_say_nothing():
    curve = calibration_curve(np.array([0.05, 0.95]), np.array([0, 1]), bins=10)
    assert curve["n"].tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    assert curve.loc[1:8, ["mean_predicted", "observed", "ci_low", "ci_high"]].isna().all(axis=None)


def test_calibrated_probabilities_lie_on_the_diagonal():
    rng = np.random.default_rng(5)
    p = rng.random(20_000)
    curve = calibration_curve(p, rng.random(20_000) < p)
    assert np.allclose(curve["mean_predicted"], curve["observed"], atol=0.04)


@pytest.mark.parametrize(
    ("p", "truth", "named"),
    [
        ([1.2], [1], "1.2"),
        ([math.nan], [1], "nan"),
        ([0.5], [2], "truth is 2"),
        ([], [], "0 probabilities"),
        ([0.5], [1, 0], "1 probabilities for 2"),
    ],
)
def test_what_is_no_probability_or_truth_is_refused(p, truth, named):
    with pytest.raises(InputError, match=named):
        brier(np.array(p), np.array(truth))
