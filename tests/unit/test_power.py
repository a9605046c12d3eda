"""What a table can tell: hand values, and promises checked by simulation."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mtrlib.errors import InputError
from mtrlib.evaluation import discrimination, power
from mtrlib.reporting import sentences

PER_QUERY = ["benchmark", "view", "system", "query_id", "conversation_id", "turn_number", "value"]
SURE = {"resamples": 400, "confidence": 0.95}


def table(values: dict[str, np.ndarray], turns: int = 1) -> pd.DataFrame:
    """One value per system and query; ``turns`` queries in a row make a conversation."""
    rows = [
        ("t", "v", system, f"{i:04}", f"c{i // turns:04}", i % turns + 1, value)
        for system, column in values.items()
        for i, value in enumerate(column)
    ]
    return pd.DataFrame(rows, columns=PER_QUERY)


def pair(difference: float = 0.0, verdict: str = "differ") -> pd.DataFrame:
    row = ("t", "v", "a", "b", difference, verdict)
    return pd.DataFrame([row], columns=[*power.PAIR, "difference", "verdict"])


def rng(seed: int = 13) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture
def three() -> tuple[pd.DataFrame, pd.DataFrame]:
    """b is clearly above a; c is a with noise around it. 40 conversations of two turns."""
    draw = rng(1)
    a = draw.uniform(0, 0.5, 80)
    frame = table({"a": a, "b": a + 0.3 + draw.normal(0, 0.05, 80), "c": a[::-1]}, turns=2)
    return frame, discrimination.compare_systems(frame, **SURE, rng=rng())


# ---- significance levels


def test_levels_are_sorted_and_the_share_is_the_power():
    p_values = [0.2, 0.01, 0.04, 0.04, 0.9, 0.001]
    holm = [0.4, 0.06, 0.16, 0.16, 0.9, 0.006]
    names = {"benchmark": "t", "view": "v", "worse": list("abcdef"), "better": "z"}
    pairs = pd.DataFrame({**names, "p_value": p_values, "p_holm": holm})
    both = pd.concat([pairs.assign(benchmark="s"), pairs[:2]], ignore_index=True)
    curve = power.asl_curve(both)
    first = curve[curve["benchmark"] == "s"]
    assert first["asl"].tolist() == sorted(p_values)
    assert first["worse"].tolist() == list("fbcdae")
    assert first["share"].tolist() == pytest.approx(np.arange(1, 7) / 6)
    assert curve["benchmark"].tolist() == ["s"] * 6 + ["t"] * 2
    assert curve["share"].tolist()[-2:] == [0.5, 1.0]
    found = power.discriminative_power(both, confidence=0.95).set_index("benchmark")
    assert found.loc["s", ["pairs", "power", "power_holm"]].tolist() == [6, 4 / 6, 1 / 6]
    assert found.loc["t", "power"] == 0.5
    # read off the curve: the last share below the level
    assert first.loc[first["asl"] < 0.05, "share"].max() == pytest.approx(4 / 6)


# ---- smallest visible difference


def test_detectable_difference_of_single_queries_is_the_textbook_formula():
    a, b = np.zeros(9), np.array([1, 2, 3, 4, 5, 6, 7, 8, 9]) / 10
    found = power.minimum_detectable_difference(
        table({"a": a, "b": b}), pair(0.5), confidence=0.95, power=0.8
    )
    # sd of 0.1 .. 0.9 is sqrt(0.075); t with 8 degrees: 2.306004 and 0.888890
    assert found.loc[0, "mdd"] == pytest.approx((2.306004 + 0.888890) * np.sqrt(0.075) / 3)
    assert found.loc[0, "mdd_all"] == found.loc[0, "mdd"]  # one pair, nothing to correct
    assert found.loc[0, ["n_conversations", "verdict"]].tolist() == [9, "differ"]


def test_turns_that_repeat_each_other_add_nothing():
    draw = rng(2).normal(0, 1, 20)
    single = table({"a": np.zeros(20), "b": draw})
    nine = table({"a": np.zeros(180), "b": draw.repeat(9)}, turns=9)
    settings = {"confidence": 0.95}
    alone = power.minimum_detectable_difference(single, pair(), **settings)
    again = power.minimum_detectable_difference(nine, pair(), **settings)
    assert again.loc[0, "mdd"] == pytest.approx(alone.loc[0, "mdd"])


def test_correction_for_all_pairs_and_one_conversation():
    frame = table({"a": np.zeros(8), "b": np.arange(8.0), "c": np.ones(8)}, turns=2)
    rows = pd.concat([pair(), pair().assign(worse="c"), pair().assign(better="c")])
    found = power.minimum_detectable_difference(frame, rows, confidence=0.95)
    t = [stats.t.ppf(p, 3) for p in (0.975, 1 - 0.05 / 6, 0.8)]
    ratio = (found["mdd_all"] / found["mdd"]).iloc[0]
    assert ratio == pytest.approx((t[1] + t[2]) / (t[0] + t[2]))
    one = table({"a": np.zeros(2), "b": np.ones(2)}, turns=2)
    assert power.minimum_detectable_difference(one, pair(), confidence=0.95)["mdd"].isna().all()


@pytest.mark.parametrize("conversations", [12, 30])
def test_the_test_finds_that_difference_four_times_in_five(conversations: int):
    """Draw samples whose true difference is the formula's, and test them as the library does."""
    draw = rng(3)
    reach = stats.t.ppf(0.975, conversations - 1) + stats.t.ppf(0.8, conversations - 1)
    true = reach / np.sqrt(conversations)  # of differences with standard deviation 1
    noise = draw.normal(0, 1, (2000, conversations))
    signs = 1 - 2 * draw.integers(2, size=(999, conversations))
    seen = noise + true
    p_values = (np.abs(signs @ seen.T) >= np.abs(seen.sum(axis=1))).mean(axis=0)
    assert (p_values < 0.05).mean() == pytest.approx(0.8, abs=0.03)
    own = [
        power.minimum_detectable_difference(
            table({"a": np.zeros(conversations), "b": row}), pair(), confidence=0.95
        ).loc[0, "mdd"]
        for row in seen[:100]
    ]
    assert np.mean(own) == pytest.approx(true, rel=0.05)


# ---- how many conversations


def separate(frame: pd.DataFrame, **settings) -> dict:
    found = power.queries_to_separate(frame, pair(), **SURE, rng=rng(), **settings)
    return found.to_dict("records")[0]


def test_a_constant_gap_needs_the_fewest_that_can_reach_the_level():
    # n equal signs have p = 2 / 2 ** n: 0.0625 for five conversations, 0.031 for six
    a = np.zeros(40)
    found = separate(table({"a": a, "b": a + 0.1}, turns=2), sizes=range(3, 13))
    assert found["conversations"] in (6, 7)  # drawn sign patterns, not all of them
    assert found["queries"] == 2 * found["conversations"]
    assert found["needs"] == f"{found['conversations']} conversations"
    assert (found["tried"], found["share"]) == (12, 1.0)


def test_the_number_agrees_with_the_normal_formula():
    draw = rng(4)
    change = draw.normal(0, 1, 300)
    change = (change - change.mean()) / change.std() + 0.5
    # (1.96 + 0.84)^2 / 0.5^2 = 31.4 by the normal; small samples need a little more
    found = separate(table({"a": np.zeros(300), "b": change}), sizes=range(26, 44, 2))
    assert 28 <= found["conversations"] <= 38


def test_noise_is_told_apart_by_no_number_at_hand():
    change = rng(5).normal(0, 1, 50)
    frame = table({"a": np.zeros(50), "b": change - change.mean() + 0.01})
    found = separate(frame)
    assert pd.isna(found["conversations"]) and pd.isna(found["queries"])
    assert found["needs"] == "more than 50 conversations"
    assert found["share"] < 0.1


def test_the_wrong_direction_does_not_count():
    # equal means: half of the draws lean either way, so no more than half can be right
    change = np.array([1.0, -1.0] * 20) * 0.3
    change[0] += 0.001
    found = separate(table({"a": np.zeros(40), "b": change}))
    assert found["share"] < 0.06


# ---- rank correlation and stability


def slow_tau_ap(estimated: np.ndarray, reference: np.ndarray) -> float:
    """The definition, word for word."""
    order = sorted(range(len(estimated)), key=lambda s: -estimated[s])
    total = 0.0
    for i in range(1, len(order)):
        above = order[:i]
        total += sum(reference[s] > reference[order[i]] for s in above) / i
    return 2 * total / (len(order) - 1) - 1


def test_tau_ap_by_hand():
    truth = np.array([4.0, 3, 2, 1])
    swapped_top = np.array([3.0, 4, 2, 1])  # b a c d: C/(i-1) = 0, 1, 1
    swapped_end = np.array([4.0, 3, 1, 2])  # a b d c: 1, 1, 2/3
    both = np.stack([truth, -truth, swapped_top, swapped_end])
    assert power.tau_ap(both, truth) == pytest.approx([1, -1, 1 / 3, 7 / 9])
    # Kendall's tau cannot see where the swap is
    assert stats.kendalltau(swapped_top, truth).statistic == pytest.approx(2 / 3)
    assert stats.kendalltau(swapped_end, truth).statistic == pytest.approx(2 / 3)


def test_tau_ap_is_the_definition_for_all_orders_of_five():
    truth = np.array([0.9, 0.7, 0.4, 0.3, 0.1])
    orders = np.array(list(permutations(truth)))
    expected = [slow_tau_ap(order, truth) for order in orders]
    assert power.tau_ap(orders, truth) == pytest.approx(expected)
    # independent rankings have expectation 0
    assert power.tau_ap(orders, truth).mean() == pytest.approx(0, abs=1e-12)


def test_a_tied_pair_is_half_right():
    assert power.tau_ap(np.array([1.0, 1.0]), np.array([2.0, 1.0])) == 0
    assert power.tau_ap(np.array([2.0, 1.0]), np.array([1.0, 1.0])) == 0


def test_a_clear_order_is_stable():
    a = rng(6).uniform(0, 0.3, 60)
    frame = table({"a": a, "b": a + 0.2, "c": a + 0.4}, turns=2)
    found = power.rank_stability(frame, **SURE, rng=rng()).loc[0]
    assert found[["tau", "tau_low", "tau_high", "tau_ap", "tau_ap_low", "tau_ap_high"]].eq(1).all()
    assert found[["systems", "best", "same_best", "verdict"]].tolist() == [3, "c", 1, "stable"]


def test_an_order_made_of_noise_is_inconclusive():
    draw = rng(7)
    frame = table({name: draw.uniform(size=60) for name in "abcd"}, turns=2)
    found = power.rank_stability(frame, **SURE, rng=rng()).loc[0]
    assert found["verdict"] == "inconclusive"
    assert found["same_best"] < 0.95
    assert found["tau_low"] < found["tau"] < found["tau_high"]
    assert found["tau_low"] < 0.5


def test_tau_of_two_systems_counts_the_swaps():
    """With two systems tau is +1 or -1, so its mean tells how often the leader changed."""
    change = rng(8).normal(0.1, 1, 80)
    frame = table({"a": np.zeros(80), "b": change}, turns=4)
    found = power.rank_stability(frame, **SURE, rng=rng()).loc[0]
    assert found["tau"] == pytest.approx(2 * found["same_best"] - 1)
    assert found["tau"] == found["tau_ap"]


def test_equal_systems_have_no_order_and_no_leader():
    frame = table({"a": np.ones(20), "b": np.ones(20)})
    found = power.rank_stability(frame, **SURE, rng=rng()).loc[0]
    assert found[["tau", "tau_ap", "same_best"]].tolist() == [0, 0, 0]
    assert found["verdict"] == "inconclusive"


def test_few_conversations_settle_nothing():
    a = np.zeros(18)
    frame = table({"a": a, "b": a + 0.5}, turns=2)
    found = power.rank_stability(frame, **SURE, rng=rng()).loc[0]
    assert (found["same_best"], found["verdict"]) == (1, "inconclusive")


# ---- all of them


def test_same_seed_same_tables_whatever_the_row_order(three):
    frame, pairs = three
    shuffled = frame.sample(frac=1, random_state=3)
    for function, args in (
        (power.rank_stability, ()),
        (power.queries_to_separate, (pairs,)),
    ):
        one = function(frame, *args, **SURE, rng=rng())
        pd.testing.assert_frame_equal(one, function(shuffled, *args, **SURE, rng=rng()))


def test_unequal_coverage_is_refused(three):
    frame, pairs = three
    for bad in (frame[1:], pd.concat([frame, frame[:1]]), pd.concat([frame[1:], frame[1:2]])):
        with pytest.raises(InputError, match="every query under every system"):
            power.minimum_detectable_difference(bad, pairs, confidence=0.95)
    with pytest.raises(InputError, match="one system has no rank"):
        power.rank_stability(frame[frame["system"] == "a"], **SURE, rng=rng())


def test_the_sentence_names_what_is_open(three):
    frame, pairs = three
    detectable = power.minimum_detectable_difference(frame, pairs, confidence=0.95)
    needed = power.queries_to_separate(frame, pairs, **SURE, rng=rng())
    stable = power.rank_stability(frame, **SURE, rng=rng())
    (said,) = sentences.power_sentences(detectable, needed, stable)
    assert said.startswith("t, v: with 40 conversations a true difference of ")
    assert "2 of 3 pairs are told apart as often by 40 conversations or fewer" in said
    assert "b leads in 100.0% of resamples (stable)" in said
    assert said.endswith(("inconclusive: a over c", "inconclusive: c over a"))
