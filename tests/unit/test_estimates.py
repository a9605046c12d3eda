"""Noise, sparsity, credibility: by hand, and on simulated judges of known error."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from mtrlib.audit.credibility import CREDIBILITY, credibility
from mtrlib.audit.estimates import UNCORRECTED, Estimate, noise, sparsity, turn_scores
from mtrlib.audit.rates import rate, rogan_gladen
from mtrlib.errors import InputError

HOW = {"resamples": 300, "confidence": 0.95, "seed": 13}


def gold(ps: list[float | None], per_conversation: int = 2, name: str = "b") -> pd.DataFrame:
    return pd.DataFrame(
        {
            "set": name,
            "item_id": [f"t{n}" for n in range(len(ps))],
            "conversation_id": [f"c{n // per_conversation}" for n in range(len(ps))],
            "passage_id": [f"p{n}" for n in range(len(ps))],
            "p": pd.Series(ps, dtype=float),
        }
    )


def known(good: list[float], bad: list[float]) -> pd.DataFrame:
    return gold([*good, *bad], name="reference").assign(
        supports=[True] * len(good) + [False] * len(bad)
    )


def turns(rows: list[tuple[float, float, float]], name: str = "b") -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["best_gold", "weakest_gold", "best_unmarked"])
    numbers = range(len(rows))
    return table.assign(
        set=name, item_id=[f"t{n}" for n in numbers], conversation_id=[f"c{n}" for n in numbers]
    )


def test_rogan_gladen_by_hand():
    # (.26 + .9 - 1) / (.8 + .9 - 1) = .16 / .7
    assert rogan_gladen(0.26, 0.8, 0.9) == pytest.approx(0.16 / 0.7)
    assert rogan_gladen(0.05, 0.8, 0.9) == 0  # fewer flags than false alarms alone
    assert rogan_gladen(0.95, 0.8, 0.9) == 1
    assert rogan_gladen(0.4, 0.3, 0.5) == 0  # a judge worse than chance


def test_noise_by_hand():
    # 4 of 10 gold flagged; judge flags 4 of 5 bad pairs (.8) and 1 of 10 good ones (.1)
    found = noise(
        gold([0.1, 0.2, 0.3, 0.4, *[0.9] * 6]),
        known([0.9] * 9 + [0.1], [0.1] * 4 + [0.9]),
        threshold=0.5,
        **HOW,
    )
    assert found.apparent == pytest.approx(0.4)
    assert found.value == pytest.approx((0.4 + 0.9 - 1) / (0.8 + 0.9 - 1))
    assert (found.n, found.n_groups, found.corrected, found.note) == (10, 5, True, "")
    assert 0 <= found.low < found.value < found.high <= 1


def test_without_known_pairs_the_apparent_share_says_so():
    found = noise(gold([0.1, None, 0.9, 0.9, 0.2, 0.7]), threshold=0.5, **HOW)
    assert found.value == found.apparent == pytest.approx(2 / 5)
    assert (found.n, found.n_missing, found.corrected) == (5, 1, False)
    assert found.note == UNCORRECTED


def test_a_judge_too_weak_gives_no_value():
    # flags half of the bad pairs and 4 of 10 good ones: .5 - .4 < .2
    found = noise(
        gold([0.1, 0.9] * 5), known([0.1] * 4 + [0.9] * 6, [0.1, 0.9]), threshold=0.5, **HOW
    )
    assert math.isnan(found.value)
    assert math.isnan(found.low)
    assert found.apparent == 0.5
    assert not found.corrected
    assert "too weak" in found.note
    assert "0.50 of the true cases and 0.40 of the others" in found.note


def test_known_pairs_of_one_kind_only_are_no_reference():
    found = noise(gold([0.1, 0.9] * 5), known([0.9] * 4, []), threshold=0.5, **HOW)
    assert math.isnan(found.value)
    assert "(0 and 4 known)" in found.note


def test_seed_conversation_and_order():
    table = gold(np.random.default_rng(0).random(40).tolist(), per_conversation=4)
    first = noise(table, threshold=0.4, **HOW)
    assert np.allclose(first.samples, noise(table[::-1], threshold=0.4, **HOW).samples)
    other = noise(table, threshold=0.4, **{**HOW, "seed": 14})
    assert not np.allclose(first.samples, other.samples)


def test_a_share_of_nothing_is_not_certain():
    found = noise(gold([0.9] * 40), threshold=0.5, **HOW)
    assert found.value == found.low == 0
    # twenty conversations without a case: Jeffreys' upper limit is about .12
    assert 0.05 < found.high < 0.2


def test_one_conversation_has_no_interval():
    found = noise(gold([0.1, 0.9], per_conversation=2), threshold=0.5, **HOW)
    assert found.value == 0.5
    assert math.isnan(found.low)
    assert noise(gold([]), threshold=0.5, **HOW).n == 0


def _simulated(seed: int) -> Estimate:
    """Truth .25 noisy; the judge flags .85 of noisy and .15 of sound gold."""
    rng = np.random.default_rng(seed)

    def judged(supports: np.ndarray) -> np.ndarray:
        return np.where(rng.random(len(supports)) < np.where(supports, 0.15, 0.85), 0.2, 0.8)

    truth = rng.random(240) >= 0.25
    reference = rng.random(240) < 0.6
    pairs = gold(judged(reference).tolist(), 4, "reference").assign(supports=reference)
    return noise(gold(judged(truth).tolist(), 4), pairs, threshold=0.5, **HOW)


def test_correction_undoes_the_bias_and_the_interval_covers_the_truth():
    found = [_simulated(seed) for seed in range(60)]
    # apparent: .25 * .85 + .75 * .15 = .325
    assert np.mean([f.apparent for f in found]) == pytest.approx(0.325, abs=0.015)
    assert np.mean([f.value for f in found]) == pytest.approx(0.25, abs=0.015)
    assert sum(f.low <= 0.25 <= f.high for f in found) >= 52
    assert np.mean([f.high - f.low for f in found]) < 0.3


def test_turn_scores():
    pairs = pd.DataFrame(
        [
            ("b", "t1", "c", "g1", True, 0.9), ("b", "t1", "c", "g2", True, 0.4),
            ("b", "t1", "c", "n1", False, 0.7), ("b", "t1", "c", "n2", False, np.nan),
            ("b", "t2", "c", "n1", False, 0.3), ("b", "t3", "c", "g1", True, 0.2),
        ],
        columns=["set", "item_id", "conversation_id", "passage_id", "marked", "p"],
    )  # fmt: skip
    table = turn_scores(pairs).set_index("item_id")
    assert table.loc["t1", ["best_gold", "weakest_gold", "best_unmarked"]].tolist() == [
        0.9,
        0.4,
        0.7,
    ]
    assert math.isnan(table.loc["t2", "best_gold"])
    assert math.isnan(table.loc["t3", "best_unmarked"])


def test_sparsity_by_hand():
    own = turns([(0.6, 0.5, 0.9), (0.9, 0.6, 0.8), (0.3, 0.2, 0.4), (0.9, 0.9, 0.1)])
    how = {"threshold": 0.5, **HOW}
    assert sparsity(own, **how).apparent == 1 / 4
    assert sparsity(own, against="weakest", **how).apparent == 2 / 4
    # below the threshold neither of the two is worth anything, so nothing is beaten
    assert sparsity(own, **{**how, "threshold": 0.0}).apparent == 2 / 4


def test_sparsity_is_corrected_by_false_alarms_and_detection():
    own = turns([(0.6, 0.6, 0.9)] * 4 + [(0.9, 0.9, 0.6)] * 6)
    clean = turns([(0.6, 0.6, 0.9)] * 1 + [(0.9, 0.9, 0.6)] * 9, "clean")
    planted = turns([(0.6, 0.6, 0.9)] * 3 + [(0.9, 0.9, 0.6)] * 2, "planted")
    found = sparsity(own, clean, planted, threshold=0.5, **HOW)
    # (apparent - false alarms) / (detection - false alarms) = (.4 - .1) / (.6 - .1)
    assert found.value == pytest.approx(0.6)
    assert found.corrected
    assert found.low < 0.6 < found.high
    unread = sparsity(turns([(0.5, 0.5, np.nan), (0.4, 0.4, 0.9)]), threshold=0.5, **HOW)
    assert (unread.n, unread.n_missing) == (1, 1)


def test_credibility_by_hand_and_jointly():
    missing = noise(gold([0.1, 0.9, 0.9, 0.9] * 5), threshold=0.5, **HOW)
    sparse = sparsity(turns([(0.5, 0.5, 0.9), *[(0.9, 0.9, 0.5)] * 4]), threshold=0.5, **HOW)
    found = credibility(missing, sparse, confidence=0.95)
    assert found.value == pytest.approx(0.75 * 0.8)
    assert np.allclose(found.samples, (1 - missing.samples) * (1 - sparse.samples))
    assert found.low < found.value < found.high
    assert found.note.startswith(CREDIBILITY)
    assert "noise: apparent" in found.note
    assert not found.corrected


def test_resamples_of_two_shares_weigh_a_conversation_alike():
    # the same flags under two names: in each resample the two shares are the same number
    flags = pd.DataFrame(
        {"set": "b", "conversation_id": list("aabbccdd"), "flag": [1, 0, 0, 0, 1, 1, 0, 1]}
    )
    how = {"resamples": 50, "seed": 1}
    assert np.array_equal(rate(flags, "x", **how).samples, rate(flags, "y", **how).samples)
    other = rate(flags.assign(set="another"), "x", **how).samples
    assert not np.allclose(other, rate(flags, "x", **how).samples)


def test_credibility_of_a_judge_too_weak_is_missing_and_says_why():
    weak = noise(gold([0.1, 0.9] * 5), known([0.1, 0.9], [0.1, 0.9]), threshold=0.5, **HOW)
    sparse = sparsity(turns([(0.5, 0.5, 0.9), (0.9, 0.9, 0.5)]), threshold=0.5, **HOW)
    found = credibility(weak, sparse, confidence=0.95)
    assert math.isnan(found.value)
    assert "noise: judge too weak" in found.note


def test_credibility_needs_the_same_resamples():
    one = noise(gold([0.1, 0.9] * 5), threshold=0.5, **HOW)
    two = noise(gold([0.1, 0.9] * 5), threshold=0.5, **{**HOW, "resamples": 10})
    with pytest.raises(InputError, match="300 resamples, sparsity 10"):
        credibility(one, two, confidence=0.95)
