"""What must hold for every ranking and every judgement, searched by Hypothesis."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtrlib.data.ranking import rank_by_score
from mtrlib.data.schema import Qrels, Run
from mtrlib.evaluation.measures import (
    MEASURES,
    hole_rate_at_k,
    mrr_at_k,
    ndcg_at_k,
    recall_at_k,
    success_at_k,
)

PASSAGES = [f"d{i}" for i in range(8)]
RELEVANCE_MEASURES = [recall_at_k, ndcg_at_k, mrr_at_k, success_at_k]

passage = st.sampled_from(PASSAGES)
rankings = st.lists(passage, max_size=12)  # with repeats
judgements = st.dictionaries(passage, st.integers(-1, 3), min_size=1).filter(
    lambda grades: max(grades.values()) > 0
)
cutoffs = st.integers(1, 10)

fast = settings(max_examples=100, deadline=None)


def run_of(ids: list[str]) -> Run:
    """A run that still holds its repeats."""
    return Run("t", {"q": tuple((p, -float(rank)) for rank, p in enumerate(ids))})


def score(measure, grades: dict[str, int], ids: list[str], k: int) -> float:
    return float(measure(Qrels({"q": grades}), run_of(ids), k=k)["q"])


@fast
@given(judgements, rankings, cutoffs)
def test_every_value_lies_in_0_1(grades, ids, k) -> None:
    for measure in MEASURES.values():
        for value in measure(Qrels({"q": grades}), run_of(ids), k=k):
            assert 0 <= value <= 1


@fast
@given(judgements, rankings, cutoffs)
def test_recall_reciprocal_rank_and_success_never_fall_as_k_grows(grades, ids, k) -> None:
    for measure in (recall_at_k, mrr_at_k, success_at_k):
        assert score(measure, grades, ids, k) <= score(measure, grades, ids, k + 1)


@fast
@given(judgements, rankings, cutoffs)
def test_order_among_measures(grades, ids, k) -> None:
    assert score(mrr_at_k, grades, ids, 1) == score(success_at_k, grades, ids, 1)
    assert score(recall_at_k, grades, ids, k) <= score(success_at_k, grades, ids, k)
    assert score(mrr_at_k, grades, ids, k) <= score(success_at_k, grades, ids, k)
    assert (score(mrr_at_k, grades, ids, k) > 0) == (score(success_at_k, grades, ids, k) == 1)


@fast
@given(passage, rankings, cutoffs)
def test_recall_is_success_with_one_gold_passage(gold, ids, k) -> None:
    grades = {gold: 1}
    assert score(recall_at_k, grades, ids, k) == score(success_at_k, grades, ids, k)


@fast
@given(judgements, cutoffs)
def test_the_ideal_order_has_ndcg_1_exactly(grades, k) -> None:
    ideal = sorted(grades, key=lambda p: -grades[p])
    assert score(ndcg_at_k, grades, ideal, k) == 1


@fast
@given(judgements, st.permutations(PASSAGES), cutoffs)
def test_no_order_beats_the_ideal_one(grades, ids, k) -> None:
    ideal = sorted(PASSAGES, key=lambda p: -grades.get(p, 0))
    for measure in RELEVANCE_MEASURES:
        assert score(measure, grades, ids, k) <= score(measure, grades, ideal, k)


@fast
@given(judgements, rankings, st.integers(1, 5), cutoffs)
def test_an_unjudged_tail_changes_nothing(grades, ids, n, k) -> None:
    longer = ids + [f"unjudged{i}" for i in range(n)]
    for measure in RELEVANCE_MEASURES:
        assert score(measure, grades, ids, k) == score(measure, grades, longer, k)
    if len(set(ids)) >= k:
        assert score(hole_rate_at_k, grades, ids, k) == score(hole_rate_at_k, grades, longer, k)


@fast
@given(judgements, st.permutations(PASSAGES), st.integers(0, 7), st.integers(1, 8), cutoffs)
def test_repeats_change_nothing(grades, ids, source, gap, k) -> None:
    later = source + gap
    repeated = [*ids[:later], ids[source], *ids[later:]]
    for measure in MEASURES.values():
        assert score(measure, grades, repeated, k) == score(measure, grades, ids, k)


@fast
@given(judgements, st.permutations(PASSAGES), st.integers(0, len(PASSAGES) - 2), cutoffs)
def test_moving_a_better_passage_up_never_hurts(grades, ids, i, k) -> None:
    if grades.get(ids[i], 0) > grades.get(ids[i + 1], 0):
        ids = [*ids[:i], ids[i + 1], ids[i], *ids[i + 2 :]]
    swapped = [*ids[:i], ids[i + 1], ids[i], *ids[i + 2 :]]
    for measure in RELEVANCE_MEASURES:
        assert score(measure, grades, swapped, k) >= score(measure, grades, ids, k)


@fast
@given(
    st.permutations(["a", "B", "b", "10", "9", "é", "中"]),
    st.lists(st.sampled_from([0.0, 0.5, 1.0, 1 + 1e-9]), min_size=7, max_size=7),
)
def test_insertion_order_is_irrelevant_for_ranks(ids, values) -> None:
    scores = dict(zip(ids, values, strict=True))
    ranked = rank_by_score(scores)
    assert rank_by_score(dict(reversed(scores.items()))) == ranked
    assert rank_by_score(dict(sorted(scores.items()))) == ranked
    assert dict(ranked) == scores


@fast
@given(st.dictionaries(st.text(min_size=1), st.floats(-1e30, 1e30)))
def test_ranks_fall_by_score_and_ties_by_utf8_bytes(scores) -> None:
    ranked = [p for p, _ in rank_by_score(scores)]
    for upper, lower in itertools.pairwise(ranked):
        # equal up to float32, or larger
        assert scores[upper] >= scores[lower] - 1.2e-7 * abs(scores[lower]) - 1e-44
        if scores[upper] == scores[lower]:
            # trec_eval compares bytes; surrogates have no UTF-8 form and pass as they are
            assert upper.encode("utf-8", "surrogatepass") > lower.encode("utf-8", "surrogatepass")


def test_a_repeat_paid_twice_would_leave_0_1() -> None:
    naive = sum(1 / math.log2(rank + 1) for rank, p in enumerate("aab", start=1) if p == "a")
    assert naive == pytest.approx(1.63, abs=0.005)
    assert score(ndcg_at_k, {"a": 1}, list("aab"), 3) == 1
