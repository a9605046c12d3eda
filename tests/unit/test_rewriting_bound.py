"""The upper bound: tiers and their borders, intervals, ceilings, what falls back."""

from __future__ import annotations

import math

import numpy as np
import pytest
from listed_searcher import Lists

from mtrlib.data.schema import Qrels, Turn
from mtrlib.errors import InputError
from mtrlib.rewriting.bound import best_of, oracle_bound
from mtrlib.rewriting.gates import Gates, OracleGate
from mtrlib.rewriting.labels import LABELS, Attribution
from mtrlib.rewriting.next_step import next_step
from mtrlib.rewriting.sample_size import n_to_settle, projection
from mtrlib.rewriting.tiers import bound_table, tier_of

GATE = OracleGate(3, 8)
QREL = {"g": 1}


def how(seed=1):
    return {"resamples": 500, "confidence": 0.95, "rng": np.random.default_rng(seed)}


def benchmark(n, gained, *, per_conversation=1):
    """n queries of which the rewrite finds ``gained`` and the original none."""
    turns = [Turn(f"q{i}", f"c{i // per_conversation}", 1, f"question {i}") for i in range(n)]
    qrels = Qrels({t.query_id: QREL for t in turns})
    rewrites = {t.query_id: f"rewrite {i} of it" for i, t in enumerate(turns)}
    found = {f"rewrite {i} of it": ["g"] for i in range(gained)}
    return Lists(found), turns, qrels, rewrites


@pytest.mark.parametrize(
    ("points", "tier"),
    [
        (2.999, "below"), (3, "middle"), (3.001, "middle"), (7.999, "middle"), (8, "middle"),
        (8.001, "above"), (-5, "below"), (100 * (0.1 + 0.2) / 10, "middle"), (100 * 0.08, "middle"),
    ],
)  # fmt: skip
def test_borders_of_the_tiers_belong_to_the_middle(points, tier):
    assert tier_of(points, GATE) == tier


@pytest.mark.parametrize(
    ("gained", "tier"), [(2, "below"), (3, "middle"), (8, "middle"), (9, "above")]
)
def test_exactly_3_and_8_points_as_measured(gained, tier):
    bound = oracle_bound(*benchmark(100, gained), gate=GATE, **how())
    assert bound.points.value == pytest.approx(gained)
    assert bound.tier == tier


def test_a_wide_interval_is_undecided_and_says_how_many_it_takes():
    bound = oracle_bound(*benchmark(60, 4), gate=GATE, **how())
    assert bound.tier == "middle" and bound.tier_low == "below" and bound.tier_high == "above"
    assert bound.undecided and bound.n_needed > 60
    assert f"about {bound.n_needed:,} queries (now 60)" in bound.verdict
    assert "undecided, n is too small" in bound.verdict


def test_one_tier_throughout_gives_its_advice():
    bound = oracle_bound(*benchmark(200, 120), gate=GATE, **how())
    assert not bound.undecided and bound.n_needed is None
    assert "vocabulary gap" in bound.verdict
    low = oracle_bound(*benchmark(200, 0), gate=GATE, **how())
    assert low.tier == "below" and "chunking" in low.verdict


def test_one_conversation_has_no_interval_and_no_tier():
    bound = oracle_bound(*benchmark(20, 20, per_conversation=20), gate=GATE, **how())
    assert bound.undecided and math.isnan(bound.points.low)
    assert "one conversation" in bound.verdict


def test_a_value_on_a_border_is_never_settled():
    bound = oracle_bound(*benchmark(100, 3), gate=GATE, **how())
    assert bound.undecided and bound.n_needed is None and "no number" in bound.verdict


def test_projection_of_the_sample_size():
    assert n_to_settle(5.0, 1.0, 9.0, 100, (3.0, 8.0)) == 400
    assert n_to_settle(5.0, 4.0, 6.0, 100, (3.0, 8.0)) == 100
    assert n_to_settle(3.0, 1.0, 5.0, 100, (3.0,)) is None
    assert (
        n_to_settle(5.0, 3.0, 8.0, 100, (3.0, 8.0)) == 100
    )  # a border that an end touches is not inside
    assert projection(400, 100) == "about 400 queries (now 100)"


def test_pitfall_22_unusable_rewrites_fall_back_and_stay_in_the_mean():
    search, turns, qrels, rewrites = benchmark(10, 10)
    rewrites |= {"q0": "", "q1": None, "q2": "HTTP 500", "q3": "限流怎么设"}
    del rewrites["q4"]
    bound = oracle_bound(search, turns, qrels, rewrites, gate=GATE, **how())
    assert dict(bound.fell_back) == {
        "q0": "empty", "q1": "none", "q2": "error_text", "q3": "another script", "q4": "none",
    }  # fmt: skip
    assert bound.points.n == 10 and bound.points.value == pytest.approx(50)
    assert not any(text == "" for call in search.calls for text in call.values())


def test_pitfall_05_queries_without_gold_are_left_out_and_counted():
    search, turns, qrels, rewrites = benchmark(10, 5)
    judged = {q: qrels.grades(q) for q in qrels} | {"q8": {}, "q9": {"x": 0}}
    bound = oracle_bound(search, turns, Qrels(judged), rewrites, gate=GATE, **how())
    assert (bound.points.n, bound.n_without_gold) == (8, 2)
    assert (bound.points.n_gained, bound.points.n_lost, bound.points.n_same) == (5, 0, 3)
    with pytest.raises(InputError, match="no query has gold"):
        oracle_bound(search, turns, Qrels({}), rewrites, gate=GATE, **how())


def test_best_of_takes_the_best_of_all_and_never_falls_below_one():
    turns = [Turn(f"q{i}", f"c{i}", 1, f"question {i}") for i in range(3)]
    qrels = Qrels({t.query_id: QREL for t in turns})
    search = Lists({"question 0": ["g"], "voice 1": ["g"], "plain 2": ["g"]})
    kinds = {
        "author_voice": {f"q{i}": f"voice {i}" for i in range(3)},
        "standalone": {f"q{i}": f"plain {i}" for i in range(3)},
    }
    ceiling = best_of(search, turns, qrels, kinds, gate=GATE, **how())
    assert ceiling.after.tolist() == [1.0, 1.0, 1.0] and ceiling.points.n_lost == 0
    one = oracle_bound(search, turns, qrels, kinds["author_voice"], gate=GATE, **how())
    assert one.after.tolist() == [0.0, 1.0, 0.0]
    assert (one.points.n_gained, one.points.n_lost, one.points.n_same) == (1, 1, 1)
    table = bound_table([one, ceiling], ["last_turn", "last_turn"])
    assert table["bound"].tolist() == ["author_voice", "best_of"]
    assert table["fell_back"].tolist() == [0, 0]


def test_equal_texts_are_searched_once():
    search, turns, qrels, _ = benchmark(5, 0)
    same = {t.query_id: t.raw_utterance for t in turns}
    oracle_bound(search, turns, qrels, same, gate=GATE, **how())
    assert [len(call) for call in search.calls] == [5]


def test_chinese_queries_have_a_bound_too():
    turns = [Turn("q1", "c1", 1, "限流怎么设"), Turn("q2", "c2", 1, "页面老是卡")]
    search = Lists({"网关流量控制的阈值": ["g"], "响应延迟抖动的处理": ["g"]})
    voice = {"q1": "网关流量控制的阈值", "q2": "响应延迟抖动的处理"}
    qrels = Qrels({"q1": QREL, "q2": QREL})
    bound = oracle_bound(search, turns, qrels, voice, gate=GATE, **how())
    assert bound.points.value == 100 and not bound.fell_back


def test_same_seed_same_numbers():
    a, b = (oracle_bound(*benchmark(60, 10), gate=GATE, **how(7)) for _ in range(2))
    assert a.points == b.points


def attribution(**counts):
    import pandas as pd

    rows = [
        {"query_id": f"{label}{i}", "text": "", **{x: x == label for x in LABELS},
         "primary": label, "gold_rank": pd.NA}
        for label, n in counts.items()
        for i in range(n)
    ]  # fmt: skip
    columns = ["query_id", "text", *LABELS, "primary", "gold_rank"]
    failures = pd.DataFrame(rows, columns=columns).set_index("query_id")
    return Attribution("lists", failures, 200, 0, 0, 30)


def test_the_next_step_follows_tier_and_labels():
    high = oracle_bound(*benchmark(200, 120), gate=GATE, **how())
    line = next_step(high, attribution(missing_context=40, vocabulary_mismatch=31))
    assert "coreference" in line and "40 failures" in line
    assert "label more" in next_step(high, attribution(missing_context=29))
    low = oracle_bound(*benchmark(200, 0), gate=GATE, **how())
    assert "reranker" in next_step(low, attribution(ranking=3))
    unsure = oracle_bound(*benchmark(60, 4), gate=GATE, **how())
    assert next_step(unsure, attribution(ranking=40)) == unsure.verdict


def test_default_gates_are_those_of_the_source():
    assert Gates.read().oracle == GATE
