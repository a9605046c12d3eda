"""Rank fusion: repeats, absent passages, weights, ties, and whole runs."""

from __future__ import annotations

import itertools
import math

import pytest

from mtrlib.data.schema import Run
from mtrlib.errors import InputError
from mtrlib.retrieval.fusion import fuse_runs, reciprocal_rank_fusion

# Case 08: the second path returns d2 twice.
CASE_08 = [["d1", "d2", "d3"], ["d2", "d2", "d5"], ["d2", "d1"]]
CASE_08_SCORES = {"d2": 0.048916, "d1": 0.032522, "d5": 0.016129, "d3": 0.015873}


def ids(fused: tuple[tuple[str, float], ...]) -> list[str]:
    return [passage_id for passage_id, _ in fused]


def test_case_08_scores_and_order() -> None:
    fused = reciprocal_rank_fusion(CASE_08, k=60)
    assert dict(fused) == pytest.approx(CASE_08_SCORES, abs=5e-7)
    assert ids(fused) == ["d2", "d1", "d5", "d3"]


def test_case_08_ties_do_not_depend_on_the_order_of_lists() -> None:
    lists = [["x", "y"], ["y", "x"]]
    assert ids(reciprocal_rank_fusion(lists)) == ids(reciprocal_rank_fusion(lists[::-1]))
    # the one tie rule: id descending
    assert ids(reciprocal_rank_fusion(lists)) == ["y", "x"]


def test_case_08_ties_do_not_depend_on_the_process(same_in_every_process) -> None:
    code = (
        "from mtrlib.retrieval.fusion import reciprocal_rank_fusion as fuse\n"
        "names = [f'p{i}' for i in range(30)]\n"
        "print(fuse([names, names[::-1]] + [[n] for n in set(names)]))"
    )
    output = same_in_every_process(code)
    assert output.count("p") == 30


def test_result_is_the_same_to_the_last_bit_for_every_order_of_lists() -> None:
    lists = [[f"d{(i * step) % 11}" for i in range(11)] for step in (1, 2, 3, 5, 7)]
    weights = [0.1, 0.7, 1.3, 1e-3, 2.0]
    expected = reciprocal_rank_fusion(lists, weights=weights)
    for order in itertools.permutations(range(5)):
        permuted = reciprocal_rank_fusion(
            [lists[i] for i in order], weights=[weights[i] for i in order]
        )
        assert permuted == expected


def test_weights_count_and_a_weight_of_zero_removes_the_list() -> None:
    lists = [["a", "b"], ["b", "c"]]
    fused = dict(reciprocal_rank_fusion(lists, k=0, weights=[2, 0.5]))
    assert fused == pytest.approx({"a": 2.0, "b": 2 / 2 + 0.5 / 1, "c": 0.5 / 2})
    assert reciprocal_rank_fusion(lists, weights=[1, 0]) == reciprocal_rank_fusion(lists[:1])


def test_depth_cuts_after_ranking() -> None:
    assert ids(reciprocal_rank_fusion(CASE_08, depth=2)) == ["d2", "d1"]
    # the tie is decided before the cut
    assert ids(reciprocal_rank_fusion([["x", "y"], ["y", "x"]], depth=1)) == ["y"]


def test_a_long_list_keeps_its_order_under_float32() -> None:
    ranking = [f"d{i:05}" for i in range(20_000)]
    assert ids(reciprocal_rank_fusion([ranking])) == ranking


def test_sums_equal_on_paper_are_tied() -> None:
    # a: 1/10 + 1/30 + 1/30, b: 1/6: equal on paper, not as float64
    long_list = ["f1", "f2", "f3", "f4", "f5"]
    lists = [
        [*(f"u{i}" for i in range(9)), "a"],
        [*(f"v{i}" for i in range(29)), "a"],
        [*(f"w{i}" for i in range(29)), "a"],
        [*long_list, "b"],
    ]
    fused = reciprocal_rank_fusion(lists, k=0)
    scores = dict(fused)
    assert scores["a"] == pytest.approx(scores["b"], rel=1e-12)
    assert ids(fused).index("b") < ids(fused).index("a")
    renamed = [["c" if p == "a" else p for p in ranking] for ranking in lists]
    order = ids(reciprocal_rank_fusion(renamed, k=0))
    assert order.index("c") < order.index("b")


def test_nothing_in_nothing_out() -> None:
    assert reciprocal_rank_fusion([]) == ()
    assert reciprocal_rank_fusion([[], []]) == ()


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"k": -1}, "k=-1"),
        ({"k": math.nan}, "k=nan"),
        ({"depth": 0}, "depth=0"),
        ({"weights": [1, 1]}, "2 weights for 3 lists"),
        ({"weights": [1, 1, -1]}, "not negative"),
        ({"weights": [1, 1, math.inf]}, "finite"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong, named) -> None:
    with pytest.raises(InputError, match=named):
        reciprocal_rank_fusion(CASE_08, **wrong)


def run_of(system: str, n_duplicate_rows: int = 0, **rankings: str) -> Run:
    listed = {q: tuple((p, 1.0) for p in ids.split()) for q, ids in rankings.items()}
    return Run(system, listed, n_duplicate_rows)


def test_runs_are_fused_over_the_union_of_their_queries() -> None:
    runs = [run_of("a", q2="d1 d2 d3", q1="d9"), run_of("b", q2="d2 d2 d5", q0="d7", empty="")]
    fused = fuse_runs([*runs, run_of("c", q2="d2 d1")], system="a+b+c")
    assert fused.system == "a+b+c"
    assert list(fused.rankings) == ["empty", "q0", "q1", "q2"]
    assert fused.rankings["q2"] == reciprocal_rank_fusion(CASE_08)
    assert (fused.ids("q0"), fused.ids("q1"), fused.ids("empty")) == (["d7"], ["d9"], [])


def test_fused_run_reports_the_repeats_of_its_paths() -> None:
    runs = [run_of("a", 3, q="x y"), run_of("b", q="y y x x")]
    assert fuse_runs(runs, system="ab").n_duplicate_rows == 3 + 2


def test_settings_reach_every_query() -> None:
    runs = [run_of("a", q="x y z"), run_of("b", q="z y x")]
    fused = fuse_runs(runs, system="ab", k=1, weights=[1, 3], depth=2)
    assert fused.rankings["q"] == reciprocal_rank_fusion(
        [["x", "y", "z"], ["z", "y", "x"]], k=1, weights=[1, 3], depth=2
    )
    assert len(fused.rankings["q"]) == 2


def test_no_runs_and_a_wrong_number_of_weights_are_refused() -> None:
    with pytest.raises(InputError, match="no runs"):
        fuse_runs([], system="none")
    with pytest.raises(InputError, match="1 weights for 2"):
        fuse_runs([run_of("a"), run_of("b")], system="ab", weights=[1])
