"""Intervals, the randomisation test and Holm: exact small cases, and what must not matter."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

from mtrlib.errors import InputError
from mtrlib.evaluation import significance
from mtrlib.evaluation.significance import bootstrap_interval, holm, paired_difference

SETTINGS = {"resamples": 2000, "confidence": 0.95}


def rng(seed: int = 13) -> np.random.Generator:
    return np.random.default_rng(seed)


def conversations(n: int, turns: int, seed: int = 0) -> tuple[pd.Series, dict[str, str]]:
    """Values that are the same within a conversation: the extreme of dependence."""
    level = rng(seed).random(n)
    values = {f"c{c:02}_{t}": level[c] for c in range(n) for t in range(turns)}
    return pd.Series(values), {q: q.split("_")[0] for q in values}


def test_mean_lies_inside_and_the_width_is_that_of_the_normal_interval() -> None:
    values = pd.Series(rng(1).random(400)).rename("x")
    found = bootstrap_interval(values, **SETTINGS, rng=rng())
    assert found.value == pytest.approx(values.mean())
    assert found.low < found.value < found.high
    assert found.high - found.low == pytest.approx(2 * 1.96 * values.std() / 20, rel=0.1)
    assert (found.n, found.n_groups) == (400, 400)


def test_level_is_the_one_asked_for() -> None:
    values = pd.Series(rng(1).random(400))
    wide = bootstrap_interval(values, **SETTINGS, rng=rng())
    narrow = bootstrap_interval(values, resamples=2000, confidence=0.6827, rng=rng())
    assert (wide.high - wide.low) / (narrow.high - narrow.low) == pytest.approx(1.96, rel=0.1)


def test_dependent_turns_need_whole_conversations() -> None:
    values, groups = conversations(30, turns=9)
    single = bootstrap_interval(values, **SETTINGS, rng=rng())
    whole = bootstrap_interval(values, groups=groups, **SETTINGS, rng=rng())
    assert whole.value == single.value
    assert (whole.n, whole.n_groups) == (270, 30)
    # nine copies of one value are one observation: the honest interval is sqrt(9) times wider
    assert (whole.high - whole.low) / (single.high - single.low) == pytest.approx(3, rel=0.15)


def test_grouped_mean_is_over_queries_and_not_over_conversations() -> None:
    values = pd.Series({"a_1": 1.0, "b_1": 0.0, "b_2": 0.0, "b_3": 0.0})
    groups = {q: q[0] for q in values.index}
    found = bootstrap_interval(values, groups=groups, resamples=500, confidence=0.98, rng=rng())
    # draws: (a, a) = 1, (a, b) = 1/4, (b, b) = 0
    assert (found.value, found.low, found.high) == (0.25, 0.0, 1.0)
    middle = bootstrap_interval(values, groups=groups, resamples=500, confidence=0.2, rng=rng())
    assert (middle.low, middle.high) == (0.25, 0.25)


def test_groups_of_one_query_change_nothing() -> None:
    values = pd.Series(rng(1).random(30), index=[f"q{i:02}" for i in range(30)])
    grouped = bootstrap_interval(values, groups={q: q for q in values.index}, **SETTINGS, rng=rng())
    assert grouped == bootstrap_interval(values, **SETTINGS, rng=rng())


def test_same_seed_same_result_in_any_row_order_and_another_seed_differs() -> None:
    values, groups = conversations(20, turns=4)
    shuffled = values.sample(frac=1, random_state=3)
    other_way = dict(reversed(groups.items()))
    single = bootstrap_interval(values, **SETTINGS, rng=rng())
    assert single == bootstrap_interval(shuffled, **SETTINGS, rng=rng())
    first = bootstrap_interval(values, groups=groups, **SETTINGS, rng=rng())
    assert first == bootstrap_interval(shuffled, groups=other_way, **SETTINGS, rng=rng())
    assert first != bootstrap_interval(values, groups=groups, **SETTINGS, rng=rng(14))
    np.random.seed(1)  # the global generator must have no influence
    assert first == bootstrap_interval(values, groups=pd.Series(groups), **SETTINGS, rng=rng())


def test_array_with_groups_by_position() -> None:
    values, groups = conversations(20, turns=4)
    by_id = bootstrap_interval(values, groups=groups, **SETTINGS, rng=rng())
    by_position = bootstrap_interval(
        values.to_numpy(), groups=list(groups.values()), **SETTINGS, rng=rng()
    )
    assert by_id == by_position


def test_drawing_in_blocks_fills_every_resample(monkeypatch: pytest.MonkeyPatch) -> None:
    values = pd.Series(rng(1).random(50))
    whole = bootstrap_interval(values, **SETTINGS, rng=rng())
    monkeypatch.setattr(significance, "BLOCK", 350)  # 7 rows at a time; 2000 is no multiple of 7
    blocks = bootstrap_interval(values, **SETTINGS, rng=rng())
    assert (blocks.low, blocks.high) == pytest.approx((whole.low, whole.high), abs=0.01)


def test_one_unit_gives_no_interval_and_no_evidence() -> None:
    values = pd.Series({"c_1": 0.2, "c_2": 0.4})
    groups = {"c_1": "c", "c_2": "c"}
    alone = bootstrap_interval(values, groups=groups, **SETTINGS, rng=rng())
    assert alone.value == pytest.approx(0.3)
    assert math.isnan(alone.low) and math.isnan(alone.high)
    change = paired_difference(values, values + 0.5, groups=groups, **SETTINGS, rng=rng())
    assert change.p_value == 1


@pytest.mark.parametrize(
    ("values", "groups", "named"),
    [
        (pd.Series([], dtype=float), None, "no values"),
        (pd.Series({"q1": 1.0, "q2": math.nan}), None, "'q2'"),
        (pd.Series([1.0, 0.0], index=["q1", "q1"]), None, "'q1' has two values"),
        (pd.Series({"q1": 1.0, "q2": 0.0}), {"q1": "c"}, "'q2' has no group"),
        (pd.Series({"q1": 1.0, "q2": 0.0}), {"q1": "c", "q2": None}, "'q2' has no group"),
        (pd.Series({"q1": 1.0, "q2": 0.0}), ["c", "c"], "'q1' has no group"),
        (pd.Series({"q1": 1.0}), pd.Series(["c", "d"], index=["q1", "q1"]), "two groups"),
    ],
)
def test_unusable_values_and_groups_name_the_query(values, groups, named) -> None:
    with pytest.raises(InputError, match=named):
        bootstrap_interval(values, groups=groups, **SETTINGS, rng=rng())


@pytest.mark.parametrize("wrong", [{"confidence": 95}, {"confidence": 0}, {"resamples": 0}])
def test_settings_out_of_range_are_refused(wrong) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        bootstrap_interval(pd.Series([1.0, 2.0]), **{**SETTINGS, **wrong}, rng=rng())


def test_small_samples_get_the_exact_p_value() -> None:
    a = pd.Series({"q1": 0.0, "q2": 0.0, "q3": 0.0})
    b = pd.Series({"q1": 0.3, "q2": 0.1, "q3": 0.2})
    # |±3 ±1 ±2| reaches 6 in 2 of 8 patterns
    assert paired_difference(a, b, **SETTINGS, rng=rng()).p_value == 2 / 8
    # |±3 ±1 ±2| reaches 4 (3 - 1 + 2) in 4 of 8
    assert paired_difference(a, b * [1, -1, 1], **SETTINGS, rng=rng()).p_value == 4 / 8


def test_sums_equal_on_paper_are_equal_for_the_test() -> None:
    a = pd.Series(0.0, index=list("wxyz"))
    b = pd.Series({"w": 0.1, "x": 0.1, "y": 0.2, "z": -0.3})
    # every pattern sums to at least 0.1 in size, as the one seen does; as floats some miss it
    assert abs(0.1 - 0.1 - 0.2 + 0.3) < abs(math.fsum(b))
    assert paired_difference(a, b, **SETTINGS, rng=rng()).p_value == 1


def test_random_patterns_agree_with_the_exact_count() -> None:
    change = pd.Series(rng(2).normal(0.25, 0.5, size=13))
    exact = paired_difference(change * 0, change, resamples=2**13, confidence=0.9, rng=rng())
    drawn = paired_difference(change * 0, change, resamples=2**13 - 1, confidence=0.9, rng=rng())
    assert 0.01 < exact.p_value < 0.5
    assert exact.p_value != drawn.p_value
    assert drawn.p_value == pytest.approx(exact.p_value, abs=0.015)


def test_a_clear_gain_an_equal_pair_and_the_smallest_p() -> None:
    a = pd.Series(rng(3).random(60))
    same = paired_difference(a, a, **SETTINGS, rng=rng())
    assert (same.value, same.low, same.high, same.p_value) == (0, 0, 0, 1)
    assert same.n_same == 60
    better = paired_difference(a, a + 0.1, **SETTINGS, rng=rng())
    assert better.p_value == 1 / 2001
    assert (better.n_gained, better.n_lost, better.low > 0) == (60, 0, True)
    worse = paired_difference(a + 0.1, a, **SETTINGS, rng=rng())
    assert worse.value == pytest.approx(-better.value)
    assert (worse.n_gained, worse.n_lost, worse.high < 0) == (0, 60, True)


def test_false_alarms_are_as_frequent_as_promised() -> None:
    draws = rng(5)
    p_values = [
        paired_difference(
            pd.Series(np.zeros(25)), pd.Series(draws.normal(size=25)),
            resamples=199, confidence=0.9, rng=draws,
        ).p_value
        for _ in range(300)
    ]  # fmt: skip
    assert np.mean(np.array(p_values) <= 0.1) == pytest.approx(0.1, abs=0.05)


def test_grouping_weakens_the_evidence_of_dependent_turns() -> None:
    level, groups = conversations(8, turns=10, seed=4)
    change = level - 0.3
    single = paired_difference(level * 0, change, **SETTINGS, rng=rng())
    whole = paired_difference(level * 0, change, groups=groups, **SETTINGS, rng=rng())
    assert single.value == whole.value
    assert single.p_value < 0.01 < whole.p_value
    assert whole.n_groups == 8


def test_pairs_are_matched_by_query_id() -> None:
    a = pd.Series(rng(6).random(40), index=[f"q{i:02}" for i in range(40)])
    b = a + rng(7).normal(0.02, 0.1, size=40)
    straight = paired_difference(a, b, **SETTINGS, rng=rng())
    assert straight == paired_difference(
        a.sample(frac=1, random_state=1), b.sample(frac=1, random_state=2), **SETTINGS, rng=rng()
    )
    assert dataclasses.asdict(straight)["n"] == 40


@pytest.mark.parametrize(("keep_a", "keep_b", "side"), [(3, 2, "first"), (2, 3, "second")])
def test_different_queries_are_refused_by_name(keep_a: int, keep_b: int, side: str) -> None:
    values = pd.Series({"q1": 1.0, "q2": 0.5, "q3": 0.0})
    with pytest.raises(InputError, match=f"'q3' is only in the {side}"):
        paired_difference(values[:keep_a], values[:keep_b], **SETTINGS, rng=rng())


def test_holm_on_a_worked_example() -> None:
    # sorted: .005 * 4, .01 * 3, .03 * 2, and .04 * 1 lifted to the value before it
    adjusted = holm(pd.Series({"w": 0.01, "x": 0.04, "y": 0.03, "z": 0.005}))
    assert adjusted.to_dict() == pytest.approx({"w": 0.03, "x": 0.06, "y": 0.06, "z": 0.02})
    assert list(adjusted.index) == ["w", "x", "y", "z"]


def test_holm_stops_at_one_and_leaves_a_single_p_value_alone() -> None:
    assert list(holm([0.6, 0.7])) == [1, 1]
    assert list(holm([0.03])) == [0.03]
    assert holm([]).empty


@pytest.mark.parametrize("bad", [math.nan, -0.1, 1.1])
def test_holm_refuses_what_is_no_probability(bad: float) -> None:
    with pytest.raises(InputError, match="'b'"):
        holm({"a": 0.5, "b": bad})
