"""What must hold for any reply, any lists and any table: guards, fusion, bounds, rates."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from listed_searcher import Lists

from mtrlib.data.schema import Qrels, Turn
from mtrlib.rewriting.bound import best_of, oracle_bound
from mtrlib.rewriting.conditions import condition
from mtrlib.rewriting.decomposition import overlap
from mtrlib.rewriting.gates import NetGate, OracleGate
from mtrlib.rewriting.guards import read_single
from mtrlib.rewriting.harness import measured
from mtrlib.rewriting.mentions import Mentioned, plain
from mtrlib.rewriting.methods import apply_method
from mtrlib.rewriting.multi_query import MultiQuery
from mtrlib.rewriting.net_benefit import net_benefit
from mtrlib.rewriting.reply_forms import READERS
from mtrlib.rewriting.rewrites import Rewrite, Task
from mtrlib.rewriting.sample_size import n_to_settle
from mtrlib.rewriting.truth import Truth
from mtrlib.rewriting.variant_list import read_variants

WORDS = st.sampled_from(
    "tide water high low table 潮水 什么时候 涨 高潮位 1. 2) - ① v2. ? 好的 : {".split()
)
REPLIES = st.lists(WORDS, max_size=12).map(" ".join) | st.text(max_size=80)
LISTS = st.lists(st.sampled_from("abcdefgh"), max_size=8)
RANKED = st.lists(st.sampled_from("abcdefgh"), max_size=8, unique=True)
TEXTS = ("original", "first", "second")


class Says:
    name = "says"

    def rewrite(self, kind, tasks):
        return [Rewrite(t.query_id, TEXTS[1:]) for t in tasks]


@settings(deadline=None)
@given(reply=st.lists(REPLIES, max_size=6).map("\n".join), wanted=st.integers(1, 5))
def test_variants_are_few_different_and_never_the_original(reply, wanted):
    original = "when is high water"
    found = read_variants(reply, original, wanted)
    keys = [plain(v) for v in found.variants]
    assert len(keys) == len(set(keys)) <= wanted
    assert plain(original) not in keys and all(v.strip() for v in found.variants)
    assert bool(found.variants) != bool(found.failed)


@settings(deadline=None)
@given(reply=st.text(max_size=200), kind=st.sampled_from(sorted(READERS)))
def test_any_reply_is_texts_or_a_reason(reply, kind):
    found = READERS[kind](reply, Task("q", "潮水什么时候涨", wanted=3))
    decided = found.get("need_decompose") is False
    assert bool(found.get("texts")) or bool(found.get("failed")) or decided
    text, failed = read_single(reply, "潮水什么时候涨")
    assert bool(failed) or plain(text)


@given(st.one_of(st.floats(), st.text(max_size=5), st.booleans(), st.none()))
def test_a_confidence_is_on_the_scale(value):
    reply = json.dumps({"standalone_query": "tides", "confidence": value})
    confidence = READERS["standalone"](reply, Task("q", "tide times")).get("confidence")
    assert confidence is None or 0 <= confidence <= 1


@given(a=LISTS, b=LISTS)
def test_overlap_is_a_symmetric_fraction(a, b):
    assert 0 <= overlap(a, b) == overlap(b, a) <= 1
    assert not a or overlap(a, a) == 1


@given(text=st.text(max_size=60), term=st.text(max_size=6))
def test_mentions_never_match_nothing(text, term):
    if not any(c.isalnum() for c in term):
        assert not Mentioned(text).has(term)


@settings(deadline=None)
@given(
    lists=st.tuples(RANKED, RANKED, RANKED), gold=st.sets(st.sampled_from("abcdefgh"), min_size=1)
)
def test_a_fused_list_is_a_set_and_rates_stay_in_range(lists, gold):
    turns = [Turn("q", "c", 1, TEXTS[0])]
    run = apply_method(MultiQuery(Says(), None), Lists(dict(zip(TEXTS, lists, strict=True))), turns)
    ids = run.run.ids("q")
    assert len(ids) == len(set(ids)) and set(ids) == {p for own in lists for p in own}
    row = measured(run, Truth(turns, Qrels({"q": dict.fromkeys(gold, 1)}), {})).loc["q"]
    assert row["new_in_prompt"] <= row["room"] <= row["new"] <= row["new_on_paths"]
    for name in ("recall_before", "recall_after", "ndcg_before", "ndcg_after"):
        assert 0 <= row[name] <= 1
    assert row["recall_after"] >= row["recall_before"]  # all fit into 20: nothing is lost


@settings(max_examples=30, deadline=None)
@given(
    found=st.lists(st.tuples(RANKED, RANKED, RANKED), min_size=2, max_size=6),
    seed=st.integers(0, 9),
)
def test_the_ceiling_is_never_below_a_bound(found, seed):
    turns = [Turn(f"q{i}", f"c{i}", 1, f"original {i}") for i in range(len(found))]
    by_text = {
        f"{name} {i}": own
        for i, lists in enumerate(found)
        for name, own in zip(TEXTS, lists, strict=True)
    }
    qrels = Qrels({t.query_id: {"a": 1, "b": 1} for t in turns})
    kinds = {n: {t.query_id: f"{n} {t.query_id[1:]}" for t in turns} for n in TEXTS[1:]}

    def how():
        return {"gate": OracleGate(3, 8), "resamples": 50, "confidence": 0.9,
                "rng": np.random.default_rng(seed)}  # fmt: skip

    ceiling = best_of(Lists(by_text), turns, qrels, kinds, **how())
    assert ceiling.points.value >= 0 and ceiling.points.n_lost == 0
    for rewrites in kinds.values():
        one = oracle_bound(Lists(by_text), turns, qrels, rewrites, **how())
        assert ceiling.points.value >= one.points.value - 1e-9
        assert one.points.n_gained + one.points.n_lost + one.points.n_same == len(turns)


@settings(deadline=None)
@given(
    value=st.floats(-50, 50), below=st.floats(0, 20), above=st.floats(0, 20),
    border=st.floats(-50, 50), n=st.integers(2, 500),
)  # fmt: skip
def test_settling_takes_no_fewer_queries_than_there_are(value, below, above, border, n):
    needed = n_to_settle(value, value - below, value + above, n, (border,))
    assert needed is None or needed >= n
    c = condition("x", value, border, "above", low=value - below, high=value + above, n=n)
    assert (c.state == "undecided") or c.n_needed is None


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(
        st.tuples(*[st.floats(0, 1)] * 4, st.integers(0, 20), st.integers(0, 5)),
        min_size=2, max_size=8,
    ),
    seed=st.integers(0, 5),
)  # fmt: skip
def test_net_benefit_never_exceeds_the_gain_and_ignores_row_order(rows, seed):
    columns = ["recall_before", "recall_after", "ndcg_before", "ndcg_after", "new", "new_in_prompt"]
    table = pd.DataFrame(rows, columns=columns, index=[f"q{i}" for i in range(len(rows))])
    table["new_in_prompt"] = table[["new", "new_in_prompt"]].min(axis=1)
    groups = {q: f"c{i % 3}" for i, q in enumerate(table.index)}

    def found(given_table):
        rng = np.random.default_rng(seed)
        gate = NetGate(0.6, 0.3)
        return net_benefit(given_table, groups, gate, resamples=60, confidence=0.9, rng=rng)

    net = found(table)
    assert net.value <= net.recall_gain + 1e-9 and net.ndcg_loss >= 0
    assert np.isnan(net.noise_rate) or 0 <= net.noise_rate <= 1
    assert net == found(table.iloc[::-1]) or np.isnan(net.noise_rate)
