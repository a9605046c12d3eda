"""A judge against people: values by hand, missing verdicts, clusters, the table."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from mtrlib.errors import InputError
from mtrlib.evaluation.resampling import measure, percentile_interval, row_draws
from mtrlib.evaluation.validation import (
    STATISTICS,
    TABLE,
    against_people,
    roc_auc,
    validation_table,
)

HOW = {"resamples": 200, "confidence": 0.95}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def series(*values: float) -> pd.Series:
    return pd.Series(values, index=[f"i{n}" for n in range(len(values))])


def test_correlations_by_hand():
    # deviations judge -1.5 -.5 .5 1.5, human -2 -1 0 3: sum of products 3 + .5 + 0 + 4.5 = 8;
    # squares 5 and 14. Ranks agree.
    sides = series(1, 2, 3, 4), series(1, 2, 3, 6)
    pearson, spearman = (
        against_people(*sides, name, **HOW, rng=rng()) for name in ("pearson", "spearman")
    )
    assert pearson.value == pytest.approx(8 / math.sqrt(5 * 14))
    assert spearman.value == pytest.approx(1)


def test_pairs_are_joined_by_item_and_missing_verdicts_counted():
    judge = pd.Series({"i3": 4.0, "i1": 2.0, "i0": 1.0, "i2": None, "not rated": 9.0})
    found = against_people(judge, series(1, 2, 7, 4, 5), "pearson", **HOW, rng=rng())
    assert found.value == pytest.approx(1)
    assert (found.n, found.n_missing, found.n_groups) == (3, 2, 3)
    assert found.coverage == pytest.approx(3 / 5)


def test_order_of_rows_changes_nothing():
    judge, human = series(1, 5, 3, 4, 2, 2), series(1, 4, 4, 5, 1, 3)
    first = against_people(judge, human, "spearman", **HOW, rng=rng())
    assert first == against_people(judge[::-1], human[::-1], "spearman", **HOW, rng=rng())


@pytest.mark.parametrize("judge", [(1, 1, 1, 1), (None, None, 1, 2)])
@pytest.mark.parametrize("statistic", ["pearson", "spearman"])
def test_no_variation_or_too_few_pairs_is_undefined(judge, statistic):
    sides = series(*judge).astype(float), series(1, 2, 3, 4)
    found = against_people(*sides, statistic, **HOW, rng=rng())
    assert math.isnan(found.value) and math.isnan(found.low)


def test_clusters_widen_the_interval():
    # ten conversations whose turns are copies of one another: 100 rows that are worth ten
    one = rng(3).normal(size=(2, 10))
    judge, human = (pd.Series(np.repeat(v, 10)) for v in (one[0], one[0] + one[1]))
    groups = pd.Series(np.repeat(np.arange(10), 10))
    alone = against_people(judge, human, "pearson", **HOW, rng=rng())
    grouped = against_people(judge, human, "pearson", groups=groups, **HOW, rng=rng())
    assert grouped.n_groups == 10
    assert grouped.high - grouped.low > 2 * (alone.high - alone.low)


def test_interval_of_the_correlation_covers_the_truth():
    # bivariate normal with correlation .6, 60 pairs, 50 samples
    covered = 0
    for seed in range(50):
        draws = rng(seed).multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=60)
        found = measure(
            STATISTICS["pearson"], draws[:, 0], draws[:, 1], resamples=100, confidence=0.95,
            rng=rng(seed),
        )  # fmt: skip
        covered += found.low <= 0.6 <= found.high
    assert covered >= 43


def test_auc_is_that_of_scikit_learn_and_counts_ties_half():
    # yes .9 .5, no .5 .1: of four pairs three are won and one tied
    assert roc_auc(np.array([0.9, 0.5, 0.5, 0.1]), np.array([1, 1, 0, 0])) == 3.5 / 4
    scores, truth = rng(1).integers(20, size=300), rng(2).random(300) < 0.3
    assert roc_auc(scores, truth) == pytest.approx(roc_auc_score(truth, scores))


def test_auc_with_interval():
    truth = pd.Series((rng(2).random(200) < 0.4).astype(int))
    scores = truth + rng(3).normal(size=200)
    found = against_people(scores, truth, "auc", **HOW, rng=rng())
    assert found.low < found.value < found.high
    assert 0.65 < found.value < 0.85
    one_class = against_people(scores, truth * 0, "auc", **HOW, rng=rng())
    assert math.isnan(one_class.value)


def test_one_group_has_no_interval():
    human = series(1, 2, 3, 4)
    groups = dict.fromkeys(human.index, "c")
    found = against_people(human, human, "pearson", groups=groups, **HOW, rng=rng())
    assert (found.value, found.n_groups) == (pytest.approx(1), 1)
    assert math.isnan(found.low)


@pytest.mark.parametrize(
    ("judge", "human", "statistic", "groups", "named"),
    [
        (series(1), series(1), "gamma", None, "gamma"),
        (series(1), series(np.nan), "pearson", None, "i0"),
        (pd.Series([1, 2], index=["i0", "i0"]), series(1), "pearson", None, "twice"),
        (series(1), pd.Series([1, 2], index=["i0", "i0"]), "pearson", None, "twice"),
        (series(1), series(1), "pearson", {"i9": "c"}, "no group"),
    ],
)
def test_input_that_cannot_be_used_is_named(judge, human, statistic, groups, named):
    with pytest.raises(InputError, match=named):
        against_people(judge, human, statistic, groups=groups, **HOW, rng=rng())


def _pairs(judges: dict[str, list[float | None]], human: list[float]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"judge": j, "metric": "m", "item_id": f"i{n}", "group": f"c{n // 2}",
             "judged": v, "human": h}
            for j, values in judges.items()
            for n, (v, h) in enumerate(zip(values, human, strict=True))
        ]
    )  # fmt: skip


def test_table_has_one_row_per_judge_and_statistic():
    pairs = _pairs({"good": [0.9, 0.8, 0.1, None], "bad": [0.1, 0.2, 0.9, 0.6]}, [1, 1, 0, 0])
    statistics = ["auc", "brier", "brier_reference", "brier_skill"]
    table = validation_table(pairs, statistics, **HOW, rng=rng())
    assert list(table.columns) == TABLE
    assert len(table) == 2 * 4
    good = table[table["judge"] == "good"].set_index("statistic")
    # errors .1, .2, .1; two of three are yes
    assert good.loc["brier", "value"] == pytest.approx((0.01 + 0.04 + 0.01) / 3)
    assert good.loc["brier_reference", "value"] == pytest.approx(2 / 9)
    assert good.loc["brier_skill", "value"] == pytest.approx(1 - 0.02 / (2 / 9))
    assert (good["n"].unique().item(), good["n_missing"].unique().item()) == (3, 1)
    assert table[(table["judge"] == "bad") & (table["statistic"] == "auc")]["value"].item() == 0


def test_one_more_judge_moves_no_number():
    human = [1, 2, 3, 4, 2, 5, 3, 1]
    judge = [1, 3, 3, 5, 1, 4, 2, 2]
    both = validation_table(
        _pairs({"other": human, "own": judge}, human), ["spearman"], **HOW, rng=rng()
    )
    alone = validation_table(_pairs({"own": judge}, human), ["spearman"], **HOW, rng=rng())
    own = both[both["judge"] == "own"].reset_index(drop=True)
    pd.testing.assert_frame_equal(own, alone)


def test_labels_are_compared_by_nominal_measures():
    table = validation_table(
        _pairs({"j": list("aabb")}, list("aaba")), ["kappa", "alpha_nominal"], **HOW, rng=rng()
    ).set_index("statistic")
    # agree .75; by chance .5 * .75 + .5 * .25 = .5
    assert table.loc["kappa", "value"] == pytest.approx(0.5)
    # values aaaaa bbb: off-diagonal 2 of 8, expected 2 * 5 * 3 / 56
    assert table.loc["alpha_nominal", "value"] == pytest.approx(1 - (2 / 8) / (30 / 56))


def test_draws_take_whole_groups():
    groups = ["b", "a", "b", "c"]
    for rows in row_draws(4, groups, 20, rng()):
        counts = np.bincount(rows, minlength=4)
        assert counts[0] == counts[2]
        assert counts[0] + counts[1] + counts[3] == 3


def test_percentiles_skip_what_is_undefined():
    assert percentile_interval([0, np.nan, 1], 0.5) == (0.25, 0.75)
    assert all(math.isnan(edge) for edge in percentile_interval([np.nan], 0.9))
    with pytest.raises(InputError, match="confidence"):
        percentile_interval([1.0], 95)
