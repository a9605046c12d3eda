"""Measures on rankings small enough to check by hand, and the counts beside every mean."""

from __future__ import annotations

import math

import pytest

from mtrlib.data.ranking import rank_by_score
from mtrlib.data.schema import Qrels, Run
from mtrlib.errors import InputError
from mtrlib.evaluation.evaluate import evaluate
from mtrlib.evaluation.measures import (
    MEASURES,
    hole_rate_at_k,
    mrr_at_k,
    ndcg_at_k,
    recall_at_k,
    success_at_k,
)


def run_of(**rankings: str) -> Run:
    """A run from space-separated ids; repeats stay in, unlike in Run.from_rankings."""
    listed = {q: ids.split() for q, ids in rankings.items()}
    return Run("t", {q: tuple((p, -float(i)) for i, p in enumerate(x)) for q, x in listed.items()})


# Case 01: q1 repeats d1, q2 has gold and is absent from the run.
CASE_01 = Qrels({"q1": {"d1": 1, "d2": 1}, "q2": {"d5": 1}, "q3": {"d7": 1}})
CASE_01_MEASURES = ["Recall@3", "nDCG@3", "MRR@3"]
CASE_01_PER_QUERY = {"q1": (1.0, 0.919721, 1.0), "q2": (0.0, 0.0, 0.0), "q3": (1.0, 1.0, 1.0)}


@pytest.mark.parametrize("counted_by", ["evaluate", "from_rankings"])
def test_case_01_repeated_passage_and_missing_query(counted_by: str) -> None:
    run = run_of(q1="d1 d1 d3 d2", q3="d7")
    if counted_by == "from_rankings":
        run = Run.from_rankings("t", run.rankings)
    scores = evaluate(CASE_01, run, CASE_01_MEASURES)
    for query_id, expected in CASE_01_PER_QUERY.items():
        assert tuple(scores.per_query.loc[query_id]) == pytest.approx(expected, abs=5e-7)
    assert tuple(scores.means) == pytest.approx((0.666667, 0.639907, 0.666667), abs=5e-7)
    assert scores.counts == {
        "n_queries": 3,
        "n_missing_from_run": 1,
        "n_without_gold": 0,
        "n_duplicate_rows": 1,
        "n_not_in_qrels": 0,
    }
    assert list(scores.n_averaged) == [3, 3, 3]


GRADED = Qrels({"q": {"a": 3, "b": 2, "c": 1, "z": 0, "n": -1}})


def test_recall_divides_by_all_gold() -> None:
    run = run_of(q="a z b")
    assert recall_at_k(GRADED, run, k=1)["q"] == pytest.approx(1 / 3)
    assert recall_at_k(GRADED, run, k=3)["q"] == pytest.approx(2 / 3)
    assert recall_at_k(GRADED, run, k=3, rel=3)["q"] == 1


def test_ndcg_has_linear_gains_and_an_ideal_cut_at_k() -> None:
    run = run_of(q="n c u a")
    dcg = 1 / math.log2(3) + 3 / math.log2(5)
    assert ndcg_at_k(GRADED, run, k=4)["q"] == pytest.approx(
        dcg / (3 + 2 / math.log2(3) + 1 / math.log2(4))
    )
    assert ndcg_at_k(GRADED, run, k=2)["q"] == pytest.approx(
        (1 / math.log2(3)) / (3 + 2 / math.log2(3))
    )
    # the lowest gold grade does not change a gain
    assert ndcg_at_k(GRADED, run, k=4, rel=3)["q"] == ndcg_at_k(GRADED, run, k=4)["q"]


def test_reciprocal_rank_and_success_stop_at_k() -> None:
    run = run_of(q="z n c a")
    assert [mrr_at_k(GRADED, run, k=k)["q"] for k in (2, 3, 9)] == [0, 1 / 3, 1 / 3]
    assert [success_at_k(GRADED, run, k=k)["q"] for k in (2, 3)] == [0, 1]
    assert mrr_at_k(GRADED, run, k=9, rel=3)["q"] == 1 / 4


def test_a_grade_of_zero_or_less_is_no_hole() -> None:
    run = run_of(q="z n u a v")
    assert hole_rate_at_k(GRADED, run, k=2)["q"] == 0
    assert hole_rate_at_k(GRADED, run, k=3)["q"] == pytest.approx(1 / 3)
    assert hole_rate_at_k(GRADED, run, k=50)["q"] == pytest.approx(2 / 5)


def test_hole_rate_of_an_empty_list_is_left_out_and_counted() -> None:
    qrels = Qrels({"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}})
    scores = evaluate(qrels, run_of(q1="a u", q2=""), ["Hole@5", "Recall@5"])
    assert scores.means.to_dict() == pytest.approx({"Hole@5": 0.5, "Recall@5": 1 / 3})
    assert scores.n_averaged.to_dict() == {"Hole@5": 1, "Recall@5": 3}
    assert scores.per_query["Hole@5"].isna().to_dict() == {"q1": False, "q2": True, "q3": True}
    # an empty list and an absent one are the same thing: a run file cannot tell them apart
    assert scores.n_missing_from_run == 2


def test_nothing_returned_at_all_leaves_the_hole_rate_undefined() -> None:
    scores = evaluate(CASE_01, Run("t", {}), ["Hole@5", "MRR@5"])
    assert math.isnan(scores.means["Hole@5"])
    assert scores.n_averaged["Hole@5"] == 0
    assert scores.means["MRR@5"] == 0


def test_queries_without_gold_are_counted_and_not_averaged() -> None:
    qrels = Qrels({"q1": {"a": 1}, "empty": {}, "zero": {"a": 0}})
    scores = evaluate(qrels, run_of(q1="a", zero="a", other="a", another="b"), ["Recall@1"])
    assert scores.means["Recall@1"] == 1
    assert list(scores.per_query.index) == ["q1"]
    assert (scores.n_queries, scores.n_without_gold, scores.n_not_in_qrels) == (1, 2, 2)
    assert scores.n_missing_from_run == 0


def test_gold_moves_with_rel() -> None:
    qrels = Qrels({"q1": {"a": 1}, "q2": {"b": 2}})
    scores = evaluate(qrels, run_of(q1="a", q2="b"), ["Success@1"], rel=2)
    assert (scores.n_queries, scores.n_without_gold) == (1, 1)
    assert list(scores.per_query.index) == ["q2"]


def test_the_order_given_is_trusted_over_the_scores() -> None:
    run = Run("t", {"q": (("b", 0.1), ("a", 0.9))})
    assert mrr_at_k(Qrels({"q": {"a": 1}}), run, k=2)["q"] == 0.5


def test_share_of_ties_counts_float32_neighbours() -> None:
    run = Run(
        "t",
        {"q1": (("a", 1.0 + 1e-9), ("b", 1.0), ("c", 0.5)), "q9": (("a", 1.0), ("b", 1.0))},
    )
    qrels = Qrels({"q1": {"a": 1}, "q2": {"a": 1}})
    assert evaluate(qrels, run, ["MRR@1"]).share_tied == pytest.approx(2 / 3)
    assert evaluate(qrels, Run("t", {}), ["MRR@1"]).share_tied == 0


def test_mean_does_not_depend_on_the_order_of_queries() -> None:
    ranking = " ".join(f"d{i}" for i in range(30))
    judged = {f"q{i}": {f"d{i}": 1} for i in range(30)}
    run = run_of(**dict.fromkeys(judged, ranking))
    forth = evaluate(Qrels(judged), run, ["MRR@30"])
    back = evaluate(Qrels(dict(reversed(judged.items()))), run, ["MRR@30"])
    assert forth.means["MRR@30"] == back.means["MRR@30"]
    # a plain sum of the same numbers does depend on it
    assert sum(forth.per_query["MRR@30"]) != sum(back.per_query["MRR@30"])


@pytest.mark.parametrize("name", ["Recall", "recall@20", "P@5", "Recall@0", "Recall@05", "MRR@-1"])
def test_unknown_measure_lists_the_known_ones(name: str) -> None:
    with pytest.raises(InputError) as caught:
        evaluate(CASE_01, run_of(q1="d1"), ["Recall@3", name])
    assert repr(name) in str(caught.value)
    assert all(f"{base}@k" in str(caught.value) for base in MEASURES)


@pytest.mark.parametrize("wrong", [{"k": 0}, {"k": 2.0}, {"k": True}, {"rel": 0}])
@pytest.mark.parametrize("measure", MEASURES.values())
def test_cutoff_and_rel_must_be_whole_numbers_from_1(measure, wrong) -> None:
    with pytest.raises(InputError, match="whole number from 1"):
        measure(CASE_01, run_of(q1="d1"), **wrong)


def test_no_gold_anywhere_is_an_error_and_no_measure_too() -> None:
    with pytest.raises(InputError, match="none of the 1 queries"):
        evaluate(Qrels({"q": {"a": 0}}), run_of(q="a"))
    with pytest.raises(InputError, match="No measure"):
        evaluate(CASE_01, run_of(q1="d1"), [])


def test_ties_go_by_id_descending_in_code_point_order() -> None:
    scores = {"a": 1.0, "Z": 1.0, "é": 1.0, "10": 1.0, "9": 1.0, "中": 1.0, "😀": 1.0, "best": 2.0}
    assert [p for p, _ in rank_by_score(scores)] == ["best", "😀", "中", "é", "a", "Z", "9", "10"]


def test_scores_equal_as_float32_are_tied_but_returned_as_given() -> None:
    assert rank_by_score({"a": 1 + 1e-9, "b": 1.0}) == (("b", 1.0), ("a", 1 + 1e-9))
    assert rank_by_score({"a": 1 + 1e-6, "b": 1.0}) == (("a", 1 + 1e-6), ("b", 1.0))
    assert rank_by_score({"a": 0.0, "b": -0.0, "c": -1.0})[0] == ("b", -0.0)
    assert rank_by_score({}) == ()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e39])
def test_a_score_that_cannot_be_ordered_names_its_passage(bad: float) -> None:
    with pytest.raises(InputError, match="'d7'"):
        rank_by_score({"d1": 1.0, "d7": bad})
