"""Measures of a method: rates with their borders, net benefit, hubness, costs, comparison rows."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from listed_searcher import Lists

from mtrlib.data.schema import Passage, Qrels, Run, Turn
from mtrlib.errors import InputError
from mtrlib.retrieval.registry import retriever_spec
from mtrlib.rewriting.comparison import comparison_rows, reranked
from mtrlib.rewriting.costs import cost_table
from mtrlib.rewriting.decomposition import Decomposition
from mtrlib.rewriting.gates import Gates, NetGate
from mtrlib.rewriting.harness import measured, summary
from mtrlib.rewriting.hubness import hubness
from mtrlib.rewriting.index_look import bm25_parameters, joined, look_at_index
from mtrlib.rewriting.interaction import effect_by_label
from mtrlib.rewriting.labels import LABELS, Attribution
from mtrlib.rewriting.methods import apply_method
from mtrlib.rewriting.multi_query import MultiQuery
from mtrlib.rewriting.net_benefit import net_benefit, net_table, noise_story
from mtrlib.rewriting.rewrites import Rewrite
from mtrlib.rewriting.truth import Truth, answer_share

NET = NetGate(0.6, 0.3)


class Says:
    name = "says"

    def __init__(self, **by_kind):
        self.by_kind = by_kind

    def rewrite(self, kind, tasks):
        return [self.by_kind[kind](t) for t in tasks]


def how(seed=1):
    return {"resamples": 300, "confidence": 0.95, "rng": np.random.default_rng(seed)}


def ids(prefix, n):
    return [f"{prefix}{i}" for i in range(n)]


def multi(found, turns):
    says = Says(variants=lambda t: Rewrite(t.query_id, (f"variant of {t.text}",), calls=1))
    return apply_method(MultiQuery(says, None), Lists(found), turns)


def test_new_passages_and_those_that_reach_the_prompt():
    turns = [Turn("q", "c", 1, "orig")]
    # the variant puts a known passage first and brings four new ones
    found = {"orig": ids("o", 20), "variant of orig": ["o0", "n1", "n2", "n3", "n4"]}
    run = multi(found, turns)
    assert run.run.ids("q", 5) == ["o0", "o1", "n1", "o2", "n2"]
    table = measured(run, Truth(turns, Qrels({"q": {"n1": 1}}), {}))
    row = table.loc["q"]
    assert (row["new"], row["new_in_prompt"], row["new_on_paths"], row["room"]) == (4, 2, 4, 4)
    assert (row["recall_before"], row["recall_after"]) == (0, 1)
    assert row["searches"] == 1 and row["calls"] == 1
    assert math.isnan(row["answer_before"]) and math.isnan(row["pieces"])


def test_pitfall_06_no_rate_leaves_its_range():
    turns = [Turn("q", "c", 1, "orig")]
    found = {"orig": ["a", "a", "b"], "variant of orig": ["b", "b", "c", "c"]}
    table = measured(multi(found, turns), Truth(turns, Qrels({"q": {"a": 1, "c": 1}}), {}))
    assert table["recall_after"].tolist() == [1.0] and table["ndcg_after"].le(1).all()
    assert table.loc["q", "new"] == 1


def test_pitfalls_04_and_05_missing_and_gold_less_queries():
    turns = [Turn(q, q, 1, q) for q in ("found", "missing", "gold_less")]
    run = multi({"found": ["g"]}, turns)
    truth = Truth(turns, Qrels({"found": {"g": 1}, "missing": {"g": 1}, "gold_less": {}}), {})
    table = measured(run, truth)
    assert table["recall_before"].to_dict() == {"found": 1.0, "missing": 0.0}
    with pytest.raises(InputError, match="no query has gold"):
        measured(run, Truth(turns, Qrels({}), {}))


def test_coverage_counts_pieces_found_by_any_sub_query():
    turns = [Turn("q", "c", 1, "cats and dogs")]
    plan = Rewrite("q", ("cats", "dogs"), need_decompose=True, single_chunk=False)
    run = apply_method(
        Decomposition(Says(decomposition=lambda t: plan)),
        Lists({"cats and dogs": ["c1"], "cats": ["c1", "c2"], "dogs": ["d2"]}),
        turns,
    )
    evidence = {"q": (("c1", "c9"), ("d1", "d2"), ("e1",))}
    row = measured(run, Truth(turns, Qrels({"q": {"c1": 1, "d2": 1}}), {}, {}, evidence)).loc["q"]
    assert (row["pieces"], row["covered_before"], row["covered_after"]) == (3, 1, 2)


def test_answer_in_prompt_wants_every_part():
    passages = {
        "a": Passage("a", "由奥托设计。"), "b": Passage("b", "Opened in 1932.", "Arlen bridge")
    }  # fmt: skip
    mentions = Truth([], Qrels({}), passages).mentions
    texts = [mentions["a"], mentions["b"]]
    assert answer_share([["奥托"], ["1932"]], texts) == 1
    assert answer_share([["奥托"], ["1933", "in 1932"]], texts) == 1
    assert answer_share([["奥托"], ["1933"]], texts) == 0
    assert answer_share([["Arlen bridge"]], texts) == 1  # the title is read too
    assert answer_share([[""]], texts) == 0  # pitfall 50: an empty answer matches nothing


def rows(**columns):
    n = len(next(iter(columns.values())))
    base = {
        "used": [True] * n, "failed": [""] * n, "new": [0] * n, "new_in_prompt": [0] * n,
        "recall_before": [0.0] * n, "recall_after": [0.0] * n, "ndcg_before": [0.0] * n,
        "ndcg_after": [0.0] * n, "answer_before": [math.nan] * n, "answer_after": [math.nan] * n,
    }  # fmt: skip
    index = pd.Index([f"q{i}" for i in range(n)], name="query_id")
    return pd.DataFrame(base | columns, index=index), {f"q{i}": f"c{i}" for i in range(n)}


def test_net_benefit_in_both_readings():
    table, groups = rows(
        recall_after=[0.2, 0.0], ndcg_before=[0.5, 0.5], ndcg_after=[0.4, 0.5],
        new=[8, 2], new_in_prompt=[1, 1],
    )  # fmt: skip
    points = net_benefit(table, groups, NET, **how())
    assert points.value == pytest.approx(10 - 0.6 * 0.8 - 0.3 * 5)
    assert (points.recall_gain, points.ndcg_loss) == pytest.approx((10, 5))
    assert points.noise_rate == pytest.approx(0.8) and points.new == 10
    fractions = net_benefit(table, groups, NET, reading="fractions", **how())
    assert fractions.value == pytest.approx(0.1 - 0.6 * 0.8 - 0.3 * 0.05)
    assert fractions.value < 0 < points.value  # why the reading has to be said


def test_no_new_documents_no_penalty_and_a_dash():
    table, groups = rows(recall_after=[0.2, 0.1])
    found = net_benefit(table, groups, NET, **how())
    assert found.value == pytest.approx(15) and math.isnan(found.noise_rate)
    assert net_table({"x": found})["noise_rate"].tolist() == ["–"]


def test_an_ndcg_gain_is_no_bonus():
    table, groups = rows(ndcg_after=[0.9, 0.9])
    assert net_benefit(table, groups, NET, **how()).value == 0


def test_one_conversation_has_no_interval():
    table, _ = rows(recall_after=[0.2, 0.1])
    found = net_benefit(table, dict.fromkeys(table.index, "c"), NET, **how())
    assert math.isnan(found.low) and found.n_needed is None


def test_an_interval_over_zero_says_how_many_queries_it_takes():
    table, groups = rows(recall_after=[1.0, -0.9, 0.5, -0.3, 0.2])
    found = net_benefit(table, groups, NET, **how())
    assert found.low < 0 < found.high and found.n_needed > 5


def test_summary_pools_rates_and_says_how_many_are_behind():
    turns = [Turn(f"q{i}", f"c{i}", 1, f"orig {i}") for i in range(4)]
    found = {f"variant of orig {i}": ["g"] for i in range(3)}
    truth = Truth(turns, Qrels({t.query_id: {"g": 1} for t in turns}), {"g": Passage("g", "Otto")},
                  {"q0": [["Otto"]]})  # fmt: skip
    table = summary(measured(multi(found, turns), truth), truth.groups, **how())
    assert table.loc["recall@20", ["before", "after", "value"]].tolist() == [0, 0.75, 0.75]
    assert table.loc["in-prompt rate", "value"] == 1 and table.loc["in-prompt rate", "n"] == 4
    assert table.loc["answer in prompt", "n"] == 1
    assert math.isnan(table.loc["contamination", "value"])
    low, value, high = table.loc["recall@20", ["ci_low", "value", "ci_high"]]
    assert low <= value <= high


def test_hubs_are_passages_of_many_conversations():
    turns = [Turn(f"q{i}", f"c{i}", 1, f"orig {i}") for i in range(5)]
    found = {f"orig {i}": [f"own{i}"] for i in range(5)}
    found |= {f"variant of orig {i}": ["overview", f"new{i}"] for i in range(5)}
    run = multi(found, turns)
    table = hubness(run, {t.query_id: t.conversation_id for t in turns})
    assert table.loc["original", "other_conversations"] == 0
    assert table.loc["rewrites only", "other_conversations"] == 2  # 4 for one, 0 for the other
    assert table.loc["rewrites only", "passages"] == 10
    same = hubness(run, dict.fromkeys([t.query_id for t in turns], "c"))
    assert same.loc["rewrites only", "other_conversations"] == 0


def test_the_noise_story_is_told_where_it_occurs():
    table, _ = rows(recall_after=[0.5, 0.0], ndcg_before=[0.9, 0.2], ndcg_after=[0.5, 0.2],
                    answer_before=[1.0, 0.0], answer_after=[0.0, 0.0])  # fmt: skip
    calm, _ = rows(recall_after=[0.5, 0.0])
    told = noise_story({"noisy": table, "calm": calm}).set_index("method")
    assert told.loc["noisy", "occurs"] and not told.loc["calm", "occurs"]
    assert told.loc["noisy", ["queries", "in_prompt_lost"]].tolist() == [1, 1]
    assert math.isnan(told.loc["calm", "in_prompt_lost"])


def test_costs_say_calls_searches_and_unknown_seconds():
    turns = [Turn("a", "a", 1, "x"), Turn("b", "b", 1, "y")]
    says = Says(variants=lambda t: Rewrite(t.query_id, (f"v {t.text}",), calls=1, seconds=math.nan))
    run = apply_method(MultiQuery(says, None), Lists({}), turns)
    row = cost_table({"multi_query": run}).iloc[0]
    assert (row["calls"], row["searches"], row["rewriter"]) == (1, 2, "says")
    assert math.isnan(row["rewrite_seconds"]) and row["search_seconds"] >= 0


def test_effect_per_label():
    table, groups = rows(recall_after=[1.0, 1.0, 0.0], recall_before=[0.0, 0.0, 1.0])
    failures = pd.DataFrame(
        {"text": "", **{x: x == "ranking" for x in LABELS}, "primary": "ranking", "gold_rank": 30},
        index=pd.Index(["q0", "q1"], name="query_id"),
    )
    found = effect_by_label(
        {"hyde": table}, Attribution("s", failures, 3, 0, 0, 30), groups, **how()
    )
    assert found.set_index("label")["points"].to_dict() == {"ranking": 100, "found before": -100}
    assert found["note"].tolist() == ["too few to decide on"] * 2
    assert (found["p_holm"] >= found["p_value"]).all()


# --- rows that are no rewriting


def test_a_reranker_mends_what_it_is_given():
    turns = [Turn("a", "a", 1, "限流"), Turn("b", "b", 1, "退款")]
    passages = {"x": Passage("x", "天气"), "y": Passage("y", "限流 退款")}
    search = Lists({"限流": ["x", "y"], "退款": ["x", "y"]})

    def shared(pairs):
        return [float(any(c in text for c in query)) for query, text in pairs]

    run = reranked(search, turns, passages, shared, only={"a"})
    assert (run.ids("a"), run.ids("b")) == (["y", "x"], ["x", "y"])
    with pytest.raises(InputError, match="1 scores for 4 pairs"):
        reranked(search, turns, passages, lambda pairs: [1.0])


def test_comparison_rows():
    before = Run.from_rankings("bm25", {"a": [("x", 1.0)], "b": [("y", 1.0)]})
    better = Run.from_rankings("hybrid", {"a": [("g", 1.0)], "b": [("g", 1.0)]})
    qrels = Qrels({"a": {"g": 1}, "b": {"g": 1}})
    table = comparison_rows(before, {"hybrid": better}, qrels, {"a": "a", "b": "b"}, **how())
    assert table["points"].tolist() == [100, 100] and table["n"].tolist() == [2, 2]
    one = comparison_rows(before, {"hybrid": better}, qrels, {"a": "a", "b": "b"}, only={"a"},
                          **how())  # fmt: skip
    assert one["n"].tolist() == [1, 1]


def test_a_look_at_chunks_and_parameters():
    passages = [Passage(f"p{i}", f"filler {i} about rivers and hills", "T") for i in range(30)]
    passages[10] = Passage("p10", "the gold word zirconium", "T")
    chunks = joined(passages, 3)
    assert len(chunks.passages) == 10 and chunks.origins["p9+3"] == ("p9", "p10", "p11")
    assert joined(passages, 1).passages == tuple(passages)
    turns = [Turn("q", "c", 1, "zirconium"), Turn("none", "c", 2, "x")]
    builds = bm25_parameters(retriever_spec("bm25"), [(0.9, 0.4), (1.2, 0.75)])
    table = look_at_index(
        passages, turns, Qrels({"q": {"p10": 1}, "none": {}}), builds, [chunks], k=4
    )
    assert table["what"].tolist() == ["k1=0.9, b=0.4", "k1=1.2, b=0.75", "3 passages a chunk"]
    assert table["recall"].tolist() == [1, 1, 1] and table["n"].tolist() == [1, 1, 1]
    tight = look_at_index(passages, turns, Qrels({"q": {"p10": 1}}), builds, [chunks], k=2)
    assert tight["recall"].tolist() == [1, 1, 0]  # longer chunks are not read for free
    with pytest.raises(InputError, match="size=0"):
        joined(passages, 0)
    with pytest.raises(InputError, match="no retriever"):
        look_at_index(passages, turns, Qrels({}), {})


def test_gate_file_holds_the_weights():
    assert Gates.read().net_benefit == NET
