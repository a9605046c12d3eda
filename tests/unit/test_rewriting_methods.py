"""Coreference, decomposition, multi-query, HyDE over a fake retriever: gates, vetoes, fusion."""

from __future__ import annotations

import math

import numpy as np
import pytest
from listed_searcher import Lists

from mtrlib.data.schema import Passage, Qrels, Turn, Utterance
from mtrlib.errors import InputError
from mtrlib.rewriting.contamination import contamination_rate
from mtrlib.rewriting.coreference import Coreference, over_completion
from mtrlib.rewriting.corpus_words import CorpusWords
from mtrlib.rewriting.costs import cost_table, reasons
from mtrlib.rewriting.decomposition import Decomposition, overlap
from mtrlib.rewriting.diversity import diverse, token_vectors
from mtrlib.rewriting.gates import Gates
from mtrlib.rewriting.hyde import Hyde, with_careful
from mtrlib.rewriting.mentions import Mentioned
from mtrlib.rewriting.methods import apply_method
from mtrlib.rewriting.multi_query import MultiQuery
from mtrlib.rewriting.plans import Fusion, Path, Planned
from mtrlib.rewriting.remembered import Remembered, remembered
from mtrlib.rewriting.rewrites import Rewrite
from mtrlib.rewriting.standard import standard_fusion, standard_methods

HISTORY = (Utterance("user", "云网关支持私有化吗"), Utterance("agent", "支持。"))


class Says:
    """A rewriter with fixed replies by query id and kind; counts what it is asked."""

    name = "says"

    def __init__(self, **by_kind):
        self.by_kind = by_kind
        self.asked = []

    def rewrite(self, kind, tasks):
        self.asked += [(kind, t.query_id) for t in tasks]
        found = self.by_kind.get(kind, {})
        return [
            found.get(t.query_id, Rewrite(t.query_id, failed="nothing usable", calls=1))
            for t in tasks
        ]


def gives(query_id, *texts, **fields):
    return Rewrite(query_id, texts, calls=1, **fields)


def turn(query_id, text, history=()):
    return Turn(query_id, f"c-{query_id}", 1, text, history)


def ids(prefix, n):
    return [f"{prefix}{i}" for i in range(n)]


# --- case 07


CASE_07 = {
    "h1": "怎么让系统别那么卡",
    "h2": "ERR_2041 怎么处理",
    "h3": "订单 20260311-8841 发货了吗",
    "h4": '"maxSkew" 是什么意思',
}


def test_case_07_hyde_gate_decides_before_any_call():
    rewriter = Says(hypothetical={"h1": gives("h1", "系统卡顿多由响应延迟抖动引起，可调整并发。")})
    search = Lists()
    turns = [turn(q, text) for q, text in CASE_07.items()]
    run = apply_method(Hyde(rewriter), search, turns)
    assert {q: bool(p.paths) for q, p in run.plans.items()} == {
        "h1": True, "h2": False, "h3": False, "h4": False,
    }  # fmt: skip
    assert rewriter.asked == [("hypothetical", "h1")]
    assert [run.plans[q].calls for q in CASE_07] == [1, 0, 0, 0]
    assert [run.plans[q].off for q in CASE_07] == ["", "identifier", "date", "quoted term"]
    (searched,) = search.calls
    assert set(CASE_07.values()) <= set(searched.values())


def test_case_07_original_is_a_path_of_its_own():
    variants = gives("q", "网关限流阈值如何配置", "接口 v2. 流量控制的默认上限是多少", wanted=3)
    search = Lists()
    run = apply_method(MultiQuery(Says(variants={"q": variants}), None), search,
                       [turn("q", "限流怎么设")])  # fmt: skip
    assert len(search.calls) == 1 and len(search.calls[0]) == 3
    cases = run.cases().loc["q"]
    assert (cases["searches"], cases["wanted"], cases["got"]) == (3, 3, 2)


# --- case 08: fusion inside a method


def test_case_08_and_pitfall_20_repeats_and_ties():
    found = {"orig": ["d1", "d2", "d3"], "v one": ["d2", "d2", "d5"], "v two": ["d2", "d1"]}
    run = apply_method(
        MultiQuery(Says(variants={"q": gives("q", "v one", "v two")}), None),
        Lists(found),
        [turn("q", "orig")],
    )
    assert run.run.ids("q") == ["d2", "d1", "d5", "d3"]
    tied = {"orig": [], "v one": ["x", "y"], "v two": ["y", "x"]}
    orders = set()
    for texts in (("v one", "v two"), ("v two", "v one")):
        method = MultiQuery(Says(variants={"q": gives("q", *texts)}), None)
        orders.add(tuple(apply_method(method, Lists(tied), [turn("q", "orig")]).run.ids("q")))
    assert len(orders) == 1


def test_weights_move_a_path():
    found = {"orig": ["a", "b"], "variant": ["b", "c"]}
    variants = {"q": gives("q", "variant")}
    heavy, light = (
        apply_method(
            MultiQuery(Says(variants=variants), None, weight=w), Lists(found), [turn("q", "orig")]
        ).run.ids("q")
        for w in (1.0, 0.01)
    )
    assert heavy == ["b", "a", "c"] and light == ["a", "b", "c"]


# --- multi-query and diversity


def angled(*cosines):
    """Vectors of a first text and others at these cosines to it."""
    rows = {"original": np.array([1.0, 0.0])}
    for i, c in enumerate(cosines):
        rows[f"variant {i}"] = np.array([c, math.sqrt(1 - c * c)])
    return lambda texts: np.array([rows[t] for t in texts])


@pytest.mark.parametrize(("cosine", "kept"), [(0.87, 1), (0.88, 1), (0.8801, 0), (1.0, 0)])
def test_exactly_88_is_kept_and_above_is_dropped(cosine, kept):
    found = diverse({"q": ("original", ["variant 0"])}, angled(cosine), most=0.88)["q"]
    assert len(found.kept) == kept and len(found.dropped) == 1 - kept


def test_a_variant_too_close_to_an_accepted_one_is_dropped_too():
    vectors = angled(0.1, 0.11, -0.5)
    found = diverse({"q": ("original", ["variant 0", "variant 1", "variant 2"])}, vectors)["q"]
    assert found.kept == ("variant 0", "variant 2")
    assert found.dropped[0][0] == "variant 1"
    assert -1 <= found.mean_all <= 1 and found.mean_kept < found.mean_all


def test_zero_vectors_are_similar_to_nothing_and_nothing_has_no_mean():
    found = diverse({"q": ("a", ["b"])}, lambda texts: np.zeros((len(texts), 2)))["q"]
    assert found.kept == ("b",) and math.isnan(found.mean_all)
    assert diverse({}, token_vectors) == {}
    assert token_vectors(["…", "?"]).shape == (2, 1)


def test_token_vectors_see_chinese():
    found = diverse(
        {"q": ("限流怎么设", ["限流怎么设呢", "网关流量控制的默认上限"])}, token_vectors, most=0.8
    )["q"]
    assert found.kept == ("网关流量控制的默认上限",)


def test_more_than_five_variants_warn():
    with pytest.warns(UserWarning, match="above 5"):
        MultiQuery(Says(), None, variants=6)
    MultiQuery(Says(), None, variants=5)
    with pytest.raises(InputError, match="variants=0"):
        MultiQuery(Says(), None, variants=0)


def test_when_all_variants_are_dropped_the_original_is_searched():
    run = apply_method(
        MultiQuery(
            Says(variants={"q": gives("q", "original again")}), lambda t: np.ones((len(t), 1))
        ),
        Lists({"original": ["d"]}),
        [turn("q", "original")],
    )
    assert run.plans["q"].off == "all variants too similar" and run.run.ids("q") == ["d"]
    assert run.used == []


# --- decomposition


def plan(query_id, *texts, single=False):
    return gives(query_id, *texts, need_decompose=True, single_chunk=single)


@pytest.mark.parametrize(("shared", "fused"), [(13, True), (14, True), (15, False)])
def test_overlap_of_exactly_70_percent_is_allowed(shared, fused):
    a = ids("s", 20)
    b = a[:shared] + ids("b", 20 - shared)
    run = apply_method(
        Decomposition(Says(decomposition={"q": plan("q", "one", "two")})),
        Lists({"one": a, "two": b, "cats and dogs": ["d"]}),
        [turn("q", "cats and dogs")],
    )
    assert bool(run.used) is fused
    assert run.plans["q"].notes["overlap"] == pytest.approx(shared / 20)
    if not fused:
        assert run.plans["q"].off == "sub-queries overlap" and run.run.ids("q") == ["d"]


def test_overlap_is_over_the_shorter_list_and_the_largest_pair():
    assert overlap(["a", "b", "c"], ["b", "d"]) == 0.5
    assert overlap([], ["a"]) == 0 and overlap([], []) == 0
    lists = {"original": (), "sub 1": ("a",), "sub 2": ("b",), "sub 3": ("b", "c")}
    three = Planned("q", tuple(Path(f"sub {i}", "x") for i in (1, 2, 3)))
    assert Decomposition(None).settle(three, lists).notes["overlap"] == 1.0
    one = Planned("q", three.paths[:1])
    assert Decomposition(None).settle(one, lists).notes["overlap"] == 0


def test_vetoes_each_have_a_switch():
    turns = [turn("plain", "cats"), turn("both", "cats and dogs"), turn("chunk", "tea and milk")]
    rewriter = Says(
        decomposition={
            "plain": plan("plain", "one", "two"),
            "both": plan("both", "one", "two"),
            "chunk": plan("chunk", "one", "two", single=True),
        }
    )
    found = {"one": ids("a", 20), "two": ids("a", 20)}
    offs = {}
    for switch in ("", "connective", "single_chunk", "overlap"):
        method = Decomposition(rewriter, **({switch: False} if switch else {}))
        offs[switch] = {
            q: p.off for q, p in apply_method(method, Lists(found), turns).plans.items()
        }
    assert offs[""] == {
        "plain": "no connective", "both": "sub-queries overlap", "chunk": "conflict",
    }  # fmt: skip
    assert offs["connective"]["plain"] == "sub-queries overlap"
    assert offs["single_chunk"]["chunk"] == "sub-queries overlap"
    assert offs["overlap"]["both"] == ""


def test_no_connective_costs_no_call_and_conflicts_are_counted():
    rewriter = Says(decomposition={"b": plan("b", "一", "二", single=True)})
    turns = [turn("a", "网关怎么限流"), turn("b", "网关和总线分别怎么限流")]
    run = apply_method(Decomposition(rewriter), Lists(), turns)
    assert rewriter.asked == [("decomposition", "b")]
    table = reasons(run)
    assert table.set_index("why")["queries"].to_dict() == {"conflict": 1, "no connective": 1}
    assert run.plans["b"].notes["conflict"]


def test_chinese_sub_queries_are_fused_by_rank_not_concatenated():
    found = {
        "网关和总线的权限有什么区别": ["o"],
        "网关的权限": ["g1", "g2", "g3"],
        "总线的权限": ["b1", "b2", "b3"],
    }
    method = Decomposition(Says(decomposition={"q": plan("q", "网关的权限", "总线的权限")}))
    run = apply_method(method, Lists(found), [turn("q", "网关和总线的权限有什么区别")])
    assert set(run.run.ids("q", 3)) == {"o", "g1", "b1"}  # the heads of all paths first


# --- coreference


def standalone(text, confidence, *entities):
    return gives("q", text, confidence=confidence, entities=entities)


@pytest.mark.parametrize(
    ("confidence", "low"), [(0.6, False), (0.5999, True), (0.61, False), (None, True)]
)
def test_exactly_60_percent_is_not_low(confidence, low):
    method = Coreference(Says(standalone={"q": standalone("tides", confidence)}))
    asked = turn("q", "is it high?", (Utterance("user", "tides"),))
    (planned,) = method.plan([asked], {"q": "is it high?"})
    assert planned.notes["low_confidence"] is low


@pytest.mark.parametrize(
    ("keep", "confidence", "paths"),
    [
        ("always", 0.9, 2), ("always", 0.1, 2),
        ("low_confidence", 0.6, 1), ("low_confidence", 0.59, 2), ("low_confidence", None, 2),
        ("never", 0.1, 1),
    ],
)  # fmt: skip
def test_when_the_original_is_kept(keep, confidence, paths):
    found = {"它要多少钱": ["o"], "云网关要多少钱": ["s"]}
    rewriter = Says(standalone={"q": standalone("云网关要多少钱", confidence, "云网关")})
    run = apply_method(
        Coreference(rewriter, keep_original=keep), Lists(found), [turn("q", "它要多少钱", HISTORY)]
    )
    assert run.cases().loc["q", "searches"] == paths
    assert ("o" in run.run.ids("q")) is (paths == 2)


def test_no_history_no_call():
    rewriter = Says()
    run = apply_method(Coreference(rewriter), Lists(), [turn("q", "它要多少钱")])
    assert rewriter.asked == [] and run.plans["q"].off == "no history"


def test_triggers_have_switches():
    method = Coreference(Says())
    cases = {
        "它要多少钱": "pronoun",
        "支持退款吗": "subject",
        "how long did it rain": "pronoun",
        "opening hours?": "entity",
        "When did Arlen bridge open to everybody?": "",
    }
    for text, why in cases.items():
        assert method.trigger(turn("q", text, HISTORY), text) == why
    off = Coreference(Says(), pronoun=False, subject=False, entity=False)
    assert not any(off.trigger(turn("q", text, HISTORY), text) for text in cases)
    with pytest.raises(InputError, match="keep_original"):
        Coreference(Says(), keep_original="sometimes")


def test_failed_rewrites_fall_back_and_are_counted():
    run = apply_method(Coreference(Says()), Lists({"它要多少钱": ["o"]}),
                       [turn("q", "它要多少钱", HISTORY)])  # fmt: skip
    assert run.run.ids("q") == ["o"] and run.plans["q"].failed == "nothing usable"
    assert cost_table({"coreference": run})["fell_back"].tolist() == [1]


def test_a_query_that_comes_back_as_it_was_adds_no_path():
    rewriter = Says(standalone={"q": standalone("它要多少钱？", 0.9)})
    run = apply_method(Coreference(rewriter, keep_original="never"), Lists({"它要多少钱": ["o"]}),
                       [turn("q", "它要多少钱", HISTORY)])  # fmt: skip
    assert run.plans["q"].off == "unchanged" and run.run.ids("q") == ["o"]


@pytest.mark.parametrize(("holding", "review"), [(16, False), (17, True)])
def test_over_completion_above_80_percent_goes_to_review(holding, review):
    passages = {
        f"p{i}": Mentioned("云网关的价格" if i < holding else "总线的价格") for i in range(20)
    }
    rewriter = Says(standalone={"q": standalone("云网关要多少钱", 0.9, "云网关", "多少钱")})
    run = apply_method(
        Coreference(rewriter, keep_original="never"),
        Lists({"云网关要多少钱": list(passages)}),
        [turn("q", "它要多少钱", HISTORY)],
    )
    table = over_completion(run, passages, above=0.8)
    assert table["entity"].tolist() == ["云网关"]  # the other stands in the query already
    assert table["share"].tolist() == [holding / 20]
    assert table["review"].tolist() == [review]


# --- HyDE


def test_pitfall_24_other_reasons_to_keep_hyde_off():
    words = CorpusWords(
        [Passage("p", "网关限流手册"), *[Passage(f"f{i}", "天气") for i in range(9)]]
    )
    gate = Hyde(Says(), words, latency_budget_ms=800)
    closed = {text: gate.closed(text) for text in ("怎么退货", "远程办公的优缺点", "网关太慢")}
    assert closed == {
        "怎么退货": "",
        "远程办公的优缺点": "several sides",
        "网关太慢": "domain word",
    }
    assert gate.closed("为什么我每天早上打开那个写日报的页面都要等上很久") == "not short"
    assert Hyde(Says(), latency_budget_ms=299).closed("怎么退货") == "latency budget"
    assert Hyde(Says(), latency_budget_ms=300).closed("怎么退货") == ""
    free = Hyde(Says(), words, exact=False, sides=False, short=False, domain=False)
    assert free.closed("ERR_2041 网关的优缺点是什么") == ""


def test_hyde_is_never_alone_and_takes_ten_of_each():
    found = {"怎么退货": ids("o", 20), "退货流程说明": ids("h", 20)}
    rewriter = Says(hypothetical={"q": gives("q", "退货流程说明")})
    run = apply_method(Hyde(rewriter), Lists(found), [turn("q", "怎么退货")])
    assert set(run.run.ids("q")) == {*ids("o", 10), *ids("h", 10)}
    same = apply_method(Hyde(rewriter), Lists(dict.fromkeys(found, ids("o", 20))),
                        [turn("q", "怎么退货")])  # fmt: skip
    assert same.run.ids("q") == ids("o", 20)  # filled up, so that lists are of one length
    short = apply_method(
        Hyde(rewriter), Lists(dict.fromkeys(found, ids("o", 20))), [turn("q", "怎么退货")],
        fusion=Fusion(fill=False),
    )  # fmt: skip
    assert short.run.ids("q") == ids("o", 10)


@pytest.mark.parametrize(("dirty", "careful"), [(2, False), (3, True)])
def test_careful_prompt_above_20_percent_of_contamination(dirty, careful):
    passages = {f"h{i}": Mentioned("价格 4711 元" if i < dirty else "价格说明") for i in range(10)}
    rewriter = Says(
        hypothetical={"q": gives("q", "退货费是 4711 元")},
        hypothetical_careful={"q": gives("q", "退货；退款")},
    )
    found = {"退货费是 4711 元": list(passages), "退货；退款": ["h9"], "怎么退货": ["h8"]}
    known = {"q": ["怎么退货", "退货免费"]}
    first, second = with_careful(
        Hyde(rewriter), Lists(found), [turn("q", "怎么退货")], known, passages, above=0.2
    )
    assert contamination_rate(first, known, passages) == dirty / 10
    assert (second is not None) is careful
    if second is not None:
        assert second.plans["q"].notes["careful"]
        assert contamination_rate(second, known, passages) == 0


# --- shared parts


def test_all_texts_of_all_queries_go_into_one_search():
    rewriter = Says(variants={f"q{i}": gives(f"q{i}", f"text {i}") for i in range(5)})
    search = Lists()
    turns = [turn(f"q{i}", f"question {i}") for i in range(5)]
    apply_method(MultiQuery(rewriter, None), search, turns)
    assert len(search.calls) == 1 and len(search.calls[0]) == 10


def test_a_method_may_be_kept_to_some_queries():
    rewriter = Says(variants={"a": gives("a", "other a"), "b": gives("b", "other b")})
    run = apply_method(MultiQuery(rewriter, None), Lists(), [turn("a", "x"), turn("b", "y")],
                       only={"b"})  # fmt: skip
    assert run.used == ["b"] and run.plans["a"].off == "not chosen"
    assert rewriter.asked == [("variants", "b")]


def test_untouched_queries_keep_their_list_exactly():
    run = apply_method(Hyde(Says()), Lists({"ERR_1": ids("d", 30)}), [turn("q", "ERR_1")])
    assert run.run.rankings == run.before.rankings and run.run.ids("q") == ids("d", 20)


def test_remembered_lists_are_cut_not_searched_again():
    search = Lists({"a": ids("d", 50)})
    kept = remembered(search, 40)
    assert remembered(kept) is kept
    assert kept.search({"x": "a"}, 5).ids("x") == ids("d", 5)
    assert len(kept.search({"y": "a"}, 40).ids("y")) == 40 and len(search.calls) == 1
    assert kept.seconds("a") >= 0
    with pytest.raises(InputError, match="exceeds the 40"):
        kept.search({"x": "a"}, 41)
    with pytest.raises(InputError, match="'x' is empty"):
        Remembered(search).search({"x": " "}, 5)


def test_fusion_settings_are_checked():
    with pytest.raises(InputError, match="prompt_size=21"):
        Fusion(prompt_size=21)


def test_gold_reaches_no_method():
    """Methods take turns, whose gold must not matter."""
    found = {"orig": ["a"], "other": ["b"]}
    runs = [
        apply_method(
            MultiQuery(Says(variants={"q": gives("q", "other")}), None),
            Lists(found),
            [Turn("q", "c", 1, "orig", gold=gold)],
        ).run.rankings
        for gold in ((), ("b",))
    ]
    assert runs[0] == runs[1]
    assert Qrels({"q": {"b": 1}}).gold("q") == {"b"}


def test_defaults_of_the_methods_are_those_of_the_gate_file():
    gates, says = Gates.read(), Says()
    methods = standard_methods(says, gates, vectors=None, words=None)
    assert methods[:3] == (Coreference(says), Decomposition(says), MultiQuery(says, None))
    assert methods[3] == Hyde(says, latency_budget_ms=800)
    assert standard_fusion(gates) == Fusion()


def test_same_seed_same_bytes_in_every_process(same_in_every_process):
    code = """
import numpy as np
from mtrlib.data.schema import Passage, Qrels, Turn, Utterance
from mtrlib.retrieval.search import searcher
from mtrlib.rewriting.attribution import attribute
from mtrlib.rewriting.corpus_words import CorpusWords
from mtrlib.rewriting.decisions import decide, decision_table
from mtrlib.rewriting.diversity import token_vectors
from mtrlib.rewriting.gates import Gates
from mtrlib.rewriting.harness import measured, summary
from mtrlib.rewriting.hubness import hubness
from mtrlib.rewriting.interaction import interaction_table, run_pairs
from mtrlib.rewriting.rewrites import Rewrite
from mtrlib.rewriting.standard import standard_methods
from mtrlib.rewriting.truth import Truth

class Says:
    name = "says"
    def rewrite(self, kind, tasks):
        return [Rewrite(t.query_id, (f"mill {t.query_id}", f"水 {i}", "river hill"), seconds=0.0,
                        need_decompose=True, single_chunk=False, confidence=0.9)
                for i, t in enumerate(tasks)]

texts = ["mill river hill", "the river 水 rises", "hill and valley", "水 level gauge", "a flood"]
corpus = [Passage(f"p{i}", f"{texts[i % 5]} number {i}", f"T{i % 7}") for i in range(60)]
turns = [Turn(f"q{i}", f"c{i % 4}", 2, f"it and the {texts[i % 5]}", (Utterance("user", "x"),))
         for i in range(12)]
qrels = Qrels({t.query_id: {f"p{5 * i % 60}": 1} for i, t in enumerate(turns)})
bm25, gates = searcher("bm25", corpus), Gates.read()
truth = Truth(turns, qrels, {p.passage_id: p for p in corpus})
methods = standard_methods(Says(), gates, vectors=token_vectors, words=CorpusWords(corpus))
runs = run_pairs(methods, bm25, turns)
tables = {k: measured(r, truth).drop(columns="seconds") for k, r in runs.items()}
how = dict(resamples=200, confidence=0.9, rng=np.random.default_rng(3))
for key, table in tables.items():
    print(key, table.to_csv(), summary(table, truth.groups, **how).to_csv())
    print(hubness(runs[key], truth.groups).to_csv())
    made = decide(key[0], table.assign(seconds=0.1), truth.groups, gates, **how)
    print(decision_table([made]).to_csv())
print(interaction_table(tables, truth.groups, **how).to_csv())
print(attribute(bm25, corpus, turns, qrels).failures.to_csv())
"""
    assert "coreference" in same_in_every_process(code)
