"""The chain: its order rule, its switches, and pairs beyond the sum."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from listed_searcher import Lists

from mtrlib.data.schema import Qrels, Turn, Utterance
from mtrlib.errors import InputError
from mtrlib.rewriting.chain import Chain
from mtrlib.rewriting.coreference import Coreference
from mtrlib.rewriting.decomposition import Decomposition
from mtrlib.rewriting.harness import measured
from mtrlib.rewriting.hyde import Hyde
from mtrlib.rewriting.interaction import interaction_table, run_pairs
from mtrlib.rewriting.methods import apply_method
from mtrlib.rewriting.multi_query import MultiQuery
from mtrlib.rewriting.rewrites import Rewrite
from mtrlib.rewriting.truth import Truth

HISTORY = (Utterance("user", "云网关支持私有化吗"), Utterance("agent", "支持。"))
TURN = Turn("q", "c", 2, "它和总线分别多少钱", HISTORY)


class Says:
    name = "says"

    def __init__(self, **by_kind):
        self.by_kind = by_kind
        self.asked = []

    def rewrite(self, kind, tasks):
        self.asked += [(kind, t.text) for t in tasks]
        made = self.by_kind.get(kind)
        return [
            made(t) if made else Rewrite(t.query_id, failed="nothing usable", calls=1)
            for t in tasks
        ]


def resolved(task):
    return Rewrite(task.query_id, ("云网关和总线分别多少钱",), calls=1, confidence=0.9)


def variants(task):
    return Rewrite(task.query_id, ("网关价格", "总线报价"), wanted=2, calls=1)


def plan(task):
    return Rewrite(
        task.query_id, ("网关价格", "总线价格"), calls=1, need_decompose=True, single_chunk=False
    )


def answer(task):
    return Rewrite(task.query_id, ("网关按调用量计费",), calls=1)


def full(**switches):
    says = Says(standalone=resolved, variants=variants, decomposition=plan, hypothetical=answer)
    steps = (
        Coreference(says, **switches.get("coreference", {})),
        Decomposition(says),
        MultiQuery(says, None),
        Hyde(says),
    )
    return says, steps


def test_references_are_resolved_before_anything_is_made_of_them():
    _, (coreference, decomposition, multi, hyde) = full()
    for steps in ((multi, coreference), (decomposition, coreference), (hyde, multi, coreference)):
        with pytest.raises(InputError, match=r"must be resolved before.*Mend: \['coreference'"):
            Chain(steps)
    with pytest.raises(InputError, match="earlier one should have seen"):
        Chain((hyde, multi))
    Chain((coreference, decomposition, multi, hyde))
    Chain((decomposition, hyde))


def test_wrong_chains_are_refused():
    _, steps = full()
    with pytest.raises(InputError, match="one or more different"):
        Chain(())
    with pytest.raises(InputError, match="one or more different"):
        Chain((steps[2], steps[2]))
    with pytest.raises(InputError, match="'hyde' is switched off"):
        Chain(steps[:2], off=frozenset({"hyde"}))


def test_later_steps_see_the_standalone_query():
    says, steps = full()
    chain = Chain(steps)
    run = apply_method(chain, Lists(), [TURN])
    later = [text for kind, text in says.asked if kind != "standalone"]
    assert later and set(later) == {"云网关和总线分别多少钱"}
    assert run.method == "coreference + decomposition + multi_query + hyde"
    assert run.plans["q"].calls == 4


def test_equal_texts_of_two_steps_are_one_path():
    _, steps = full()
    search = Lists({"网关价格": ["g"], "总线价格": ["b"]})
    run = apply_method(Chain(steps[1:3]), search, [TURN])
    texts = [p.text for p in run.plans["q"].paths]
    assert texts == ["网关价格", "总线价格", "总线报价"]
    assert len(search.calls) == 1 and len(search.calls[0]) == 4


@pytest.mark.parametrize("off", ["coreference", "decomposition", "multi_query", "hyde"])
def test_every_step_can_be_switched_off_alone(off):
    says, steps = full()
    chain = Chain(steps, off=frozenset({off}))
    apply_method(chain, Lists(), [TURN])
    kinds = {"coreference": "standalone", "decomposition": "decomposition",
             "multi_query": "variants", "hyde": "hypothetical"}  # fmt: skip
    assert kinds[off] not in {kind for kind, _ in says.asked}
    assert off not in chain.name


def test_all_off_is_the_baseline():
    _, steps = full()
    chain = Chain(steps, off=frozenset(s.name for s in steps))
    run = apply_method(chain, Lists({TURN.raw_utterance: ["d"]}), [TURN])
    assert chain.name == "nothing" and run.run.ids("q") == ["d"] and run.used == []


def test_a_veto_inside_the_chain_drops_its_paths_alone():
    _, steps = full()
    same = {"网关价格": ["a", "b"], "总线价格": ["a", "b"], "总线报价": ["m"]}
    run = apply_method(Chain(steps[1:3]), Lists(same), [TURN])
    assert [p.name for p in run.plans["q"].paths] == [
        "multi_query: variant 1", "multi_query: variant 2",
    ]  # fmt: skip
    assert set(run.run.ids("q")) == {"a", "b", "m"}


def test_a_chain_can_replace_the_original():
    _, steps = full(coreference={"keep_original": "never"})
    found = {TURN.raw_utterance: ["o"], "云网关和总线分别多少钱": ["s"]}
    run = apply_method(Chain(steps[:1]), Lists(found), [TURN])
    assert run.run.ids("q") == ["s"]


def test_pairs_share_their_searches_and_show_the_interaction():
    turns = [Turn(f"q{i}", f"c{i}", 2, f"它和总线{i}分别多少钱", HISTORY) for i in range(6)]
    says = Says(
        standalone=lambda t: Rewrite(t.query_id, (f"云网关 {t.query_id}",), confidence=0.9),
        variants=lambda t: Rewrite(t.query_id, (f"变体 {t.query_id}",)),
    )
    found = {f"云网关 q{i}": ["g"] for i in range(6)} | {f"变体 q{i}": ["g"] for i in range(6)}
    search = Lists(found)
    runs = run_pairs([MultiQuery(says, None), Coreference(says)], search, turns)
    assert set(runs) == {("coreference",), ("multi_query",), ("coreference", "multi_query")}
    assert sum(len(call) for call in search.calls) == 18  # each text once
    truth = Truth(turns, Qrels({t.query_id: {"g": 1} for t in turns}), {})
    tables = {steps: measured(run, truth) for steps, run in runs.items()}
    table = interaction_table(
        tables, truth.groups, resamples=200, confidence=0.95, rng=np.random.default_rng(0)
    )
    row = table.iloc[0]
    assert (row["alone_first"], row["alone_second"], row["together"]) == (100, 100, 100)
    assert row["interaction"] == -100 and row["reading"] == "less than the sum"
    with pytest.raises(InputError, match="was not run alone"):
        interaction_table(
            {("a", "b"): pd.DataFrame()}, {}, resamples=9, confidence=0.9,
            rng=np.random.default_rng(0),
        )  # fmt: skip
