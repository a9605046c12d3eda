"""Completeness from two annotators: by hand, and on simulated ones of known recall."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from mtrlib.audit.capture_recapture import annotator_captures, captures, chapman, completeness
from mtrlib.data.schema import Turn
from mtrlib.errors import InputError

RECALLS = (0.6, 0.5)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_chapman_by_hand():
    # (20 + 1)(15 + 1) / (9 + 1) - 1 = 32.6
    assert chapman(20, 15, 9) == pytest.approx(32.6)
    # no overlap is no division by zero: 21 * 16 / 1 - 1
    assert chapman(20, 15, 0) == pytest.approx(335)
    # complete overlap: nothing points to more
    assert chapman(20, 20, 20) == pytest.approx(20)


def test_odds_ratio_moves_from_the_union_upwards():
    # union 20 + 15 - 9 = 26; alone 11 and 6: each step of 1 adds 66 / 10
    found = [chapman(20, 15, 9, odds_ratio=w) for w in (0, 1, 2, 4)]
    assert found == pytest.approx([26, 32.6, 39.2, 52.4])


@pytest.mark.parametrize("counts", [(2, 3, 4), (-1, 3, 0), (2, 3, -1)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(InputError, match="impossible"):
        chapman(*counts)
    with pytest.raises(InputError, match="odds ratio -1"):
        chapman(2, 2, 1, odds_ratio=-1)


def _turn(query_id: str, conversation: str, *marked: tuple[str, ...]) -> Turn:
    return Turn(query_id, conversation, 1, "?", gold_by_annotator=marked)


TURNS = [
    _turn("q1", "c1", ("a", "b"), ("b", "c")),
    _turn("q2", "c1", ("d",), ()),
    _turn("q3", "c2", ("e",)),
    _turn("q4", "c2", ("f", "f"), ("f",)),
]


def test_captures_of_turns():
    found = annotator_captures(TURNS)
    assert found.to_numpy().tolist() == [
        ["q1", "c1", 2, 2, 1],
        ["q2", "c1", 1, 0, 0],
        ["q4", "c2", 1, 1, 1],
    ]
    assert annotator_captures(TURNS, both_marked=True)["query_id"].tolist() == ["q1", "q4"]


def test_captures_of_judges_keep_queries_that_both_worked_on():
    found = captures({"q2": ["a"], "q1": []}, {"q2": {"a", "b"}, "q9": {"c"}}, {"q2": "c"})
    assert found.to_numpy().tolist() == [["q2", "c", 1, 2, 1]]


def test_table_by_hand():
    # first 4, second 3, both 2: union 5, Chapman 5 * 4 / 3 - 1 = 17 / 3
    table = completeness(annotator_captures(TURNS), resamples=20, confidence=0.9, rng=rng())
    assert table["odds_ratio"].tolist() == [w for w in (0, 1, 2, 4) for _ in range(3)]
    independent = table[table["odds_ratio"] == 1].set_index("of")
    assert independent["value"].to_dict() == pytest.approx(
        {"first": 12 / 17, "second": 9 / 17, "union": 15 / 17}
    )
    assert independent["n_relevant"].tolist() == pytest.approx([17 / 3] * 3)
    assert independent["n_marked"].tolist() == [4, 3, 5]
    assert set(table["n_queries"]) == {3}
    assert set(table["n_conversations"]) == {2}
    ceiling = table[table["odds_ratio"] == 0].set_index("of")
    assert ceiling.loc["union", "value"] == 1
    assert ceiling.loc["first", "value"] == pytest.approx(4 / 5)
    assert (table.groupby("of")["value"].diff().dropna() <= 0).all()


def test_nothing_marked_is_refused_and_one_conversation_has_no_interval():
    with pytest.raises(InputError, match="two annotators"):
        completeness(annotator_captures(TURNS[2:3]), resamples=5, confidence=0.9, rng=rng())
    table = completeness(annotator_captures(TURNS[:1]), resamples=5, confidence=0.9, rng=rng())
    assert math.isnan(table.loc[3, "ci_low"])


def simulated(seed: int, shared_difficulty: float) -> tuple[pd.DataFrame, dict[str, float]]:
    """50 conversations of 5 turns with 1 to 4 relevant passages, and the true completeness.

    With ``shared_difficulty`` d each passage shifts the log-odds of both annotators by a
    normal draw times d: plain passages are found by both.
    """
    draw = rng(seed)
    conversations = np.repeat(np.arange(50), draw.integers(1, 5, size=(50, 5)).sum(axis=1))
    shift = shared_difficulty * draw.normal(size=len(conversations))
    chances = [1 / (1 + np.exp(-np.log(r / (1 - r)) - shift)) for r in RECALLS]
    first, second = (draw.random(len(conversations)) < c for c in chances)
    found = pd.DataFrame(
        {
            "query_id": range(len(conversations)),
            "conversation_id": conversations,
            "first": first,
            "second": second,
            "both": first & second,
        }
    )
    truth = {"first": first.mean(), "second": second.mean(), "union": (first | second).mean()}
    return found, truth


def _of_simulations(n: int, shared_difficulty: float) -> pd.DataFrame:
    rows = []
    for seed in range(n):
        found, truth = simulated(seed, shared_difficulty)
        table = completeness(
            found, odds_ratios=(1,), resamples=200, confidence=0.95, rng=rng(seed)
        ).set_index("of")
        rows += [
            (of, table.loc[of, "value"] - share,
             table.loc[of, "ci_low"] <= share <= table.loc[of, "ci_high"])
            for of, share in truth.items()
        ]  # fmt: skip
    return pd.DataFrame(rows, columns=["of", "error", "covered"])


def test_interval_covers_the_truth_of_independent_annotators():
    results = _of_simulations(200, 0.0).groupby("of")
    assert (results["covered"].mean() >= 0.90).all(), results["covered"].mean()
    assert (results["error"].mean().abs() < 0.01).all()


def test_shared_difficulty_makes_the_estimate_an_upper_bound():
    results = _of_simulations(40, 2.0).groupby("of")
    assert (results["error"].mean() > 0.05).all()
    # an odds ratio above 1 moves it the right way
    found, truth = simulated(0, 2.0)
    table = completeness(found, odds_ratios=(1, 4), resamples=2, confidence=0.95, rng=rng())
    union = table[table["of"] == "union"].set_index("odds_ratio")["value"]
    assert abs(union[4] - truth["union"]) < abs(union[1] - truth["union"])
    assert union[4] < union[1]


def test_dropping_turns_where_one_found_nothing_raises_completeness():
    draw = rng(7)
    turns = []
    for n in range(600):
        passages = [f"p{n}_{i}" for i in range(draw.integers(1, 4))]
        marked = [tuple(p for p in passages if draw.random() < r) for r in RECALLS]
        turns.append(_turn(f"q{n}", f"c{n // 6}", *marked))
    how = {"odds_ratios": (1,), "resamples": 2, "confidence": 0.95}
    right, raised = (
        completeness(annotator_captures(turns, both_marked=b), **how, rng=rng())["value"]
        for b in (False, True)
    )
    assert right[0] == pytest.approx(RECALLS[0], abs=0.04)
    assert (raised > right + 0.05).all()
