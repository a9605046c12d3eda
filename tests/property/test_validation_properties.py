"""What must hold for every set of ratings, searched by Hypothesis."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mtrlib.audit.capture_recapture import chapman
from mtrlib.audit.credibility import credibility
from mtrlib.audit.estimates import noise, sparsity
from mtrlib.audit.rates import rogan_gladen
from mtrlib.evaluation.calibration import brier, calibration_curve, wilson_interval
from mtrlib.evaluation.reliability import cohen_kappa, fleiss_kappa, krippendorff_alpha
from mtrlib.evaluation.validation import roc_auc

fast = settings(max_examples=80, deadline=None)
few = settings(max_examples=25, deadline=None)

levels = st.sampled_from(["nominal", "ordinal", "interval"])
share = st.floats(0, 1)
two_raters = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=20)
judged = st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=2, max_size=30)
probabilities = st.lists(st.tuples(share, st.booleans()), min_size=1, max_size=30)


@fast
@given(judged)
def test_auc_lies_in_0_1_and_swapping_labels_mirrors_it(rows):
    scores, truth = (np.array(column) for column in zip(*rows, strict=True))
    assume(0 < truth.sum() < len(truth))
    value = roc_auc(scores, truth)
    assert 0 <= value <= 1
    assert roc_auc(scores, ~truth) == pytest.approx(1 - value)
    assert roc_auc(2.5 * scores - 7, truth) == value


@fast
@given(st.lists(st.integers(1, 5), min_size=2, max_size=15), st.integers(2, 4), levels)
def test_alpha_of_equal_ratings_is_1(ratings, n_raters, level):
    assume(len(set(ratings)) > 1)
    table = np.tile(np.array(ratings, dtype=float), (n_raters, 1)).T
    assert krippendorff_alpha(table, level) == pytest.approx(1)


@fast
@given(two_raters, levels)
def test_alpha_is_symmetric_and_at_most_1(rows, level):
    table = np.array(rows, dtype=float)
    value = krippendorff_alpha(table, level)
    assume(not math.isnan(value))
    assert value <= 1 + 1e-9
    assert krippendorff_alpha(table[:, ::-1], level) == pytest.approx(value)
    assert krippendorff_alpha(table[::-1], level) == pytest.approx(value)


@fast
@given(two_raters, st.sampled_from([None, "linear", "quadratic"]))
def test_kappa_is_symmetric_and_at_most_1(rows, weights):
    first, second = np.array(rows).T
    value = cohen_kappa(first, second, weights)
    assume(not math.isnan(value))
    assert value <= 1 + 1e-9
    assert cohen_kappa(second, first, weights) == pytest.approx(value)


@fast
@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=12))
def test_fleiss_kappa_is_at_most_1_and_ignores_the_order_of_categories(counts):
    table = np.array(counts)
    value = fleiss_kappa(table)
    assume(not math.isnan(value))
    assert value <= 1 + 1e-9
    assert fleiss_kappa(table[:, ::-1]) == pytest.approx(value)
    unanimous = np.diag([3, 2, 4])
    assert fleiss_kappa(unanimous) == pytest.approx(1)


@fast
@given(probabilities)
def test_brier_is_bounded_and_the_curve_holds_every_pair(rows):
    p, truth = (np.array(column) for column in zip(*rows, strict=True))
    found = brier(p, truth)
    assert 0 <= found.value <= 1
    assert 0 <= found.reference <= 0.25
    curve = calibration_curve(p, truth, bins=7)
    assert curve["n"].sum() == len(p)
    full = curve[curve["n"] > 0]
    assert (full["ci_low"] <= full["observed"] + 1e-9).all()
    assert (full["observed"] <= full["ci_high"] + 1e-9).all()
    assert full["mean_predicted"].between(full["bin_low"] - 1e-9, full["bin_high"] + 1e-9).all()


@fast
@given(st.integers(0, 50), st.integers(0, 50))
def test_wilson_holds_the_share(count, more):
    low, high = wilson_interval(count, count + more, 0.95)
    assert 0 <= low <= high <= 1
    if count + more:
        assert low - 1e-9 <= count / (count + more) <= high + 1e-9


@fast
@given(share, share, share, share)
def test_corrected_share_lies_in_0_1_and_rises_with_the_apparent_one(
    a, b, sensitivity, specificity
):
    low, high = sorted((a, b))
    first, second = (float(rogan_gladen(x, sensitivity, specificity)) for x in (low, high))
    assert 0 <= first <= second <= 1


@few
@given(
    st.lists(st.tuples(share, share, share, st.integers(0, 4)), min_size=1, max_size=12),
    st.lists(st.tuples(share, st.booleans()), max_size=12),
)
def test_estimates_lie_in_0_1_or_are_missing_with_a_reason(rows, known):
    how = {"threshold": 0.5, "resamples": 20, "confidence": 0.9, "seed": 1}
    table = pd.DataFrame(rows, columns=["p", "weakest_gold", "best_unmarked", "conversation_id"])
    table = table.assign(set="b", best_gold=table[["p", "weakest_gold"]].max(axis=1))
    reference = pd.DataFrame(known, columns=["p", "supports"]).assign(set="r")
    reference["conversation_id"] = range(len(reference))
    noisy = noise(table, reference, **how)
    sparse = sparsity(table, table, table, **how)
    for found in (noisy, sparse, credibility(noisy, sparse, confidence=0.9)):
        if math.isnan(found.value):
            assert found.note
            continue
        assert 0 <= found.value <= 1
        if not math.isnan(found.low):
            assert 0 <= found.low <= found.high <= 1


@fast
@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.floats(0, 9))
def test_estimated_number_is_at_least_the_union_and_symmetric(only_a, only_b, both, odds_ratio):
    first, second = only_a + both, only_b + both
    value = chapman(first, second, both, odds_ratio=odds_ratio)
    assert value >= first + second - both
    assert chapman(second, first, both, odds_ratio=odds_ratio) == pytest.approx(value)
    textbook = (first + 1) * (second + 1) / (both + 1) - 1
    assert chapman(first, second, both) == pytest.approx(textbook)
