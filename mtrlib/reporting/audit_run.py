"""The audit of several benchmarks by several judges, and of damaged copies: what 01 shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mtrlib.audit.damage import KINDS, Damage, damaged
from mtrlib.audit.items import ItemSet, audit_items
from mtrlib.audit.judging import METRICS, Judge
from mtrlib.audit.llm_judge import LlmJudge
from mtrlib.audit.metrics import judgements, left_out, tasks
from mtrlib.audit.pair_judge import PairJudge
from mtrlib.audit.panel import item_scores
from mtrlib.data.authored.records import load_authored
from mtrlib.data.schema import Benchmark, Run
from mtrlib.profiles import Profile
from mtrlib.retrieval.search import search_view, searcher

RATES = (0.1, 0.2, 0.4)  # doses of the damaged copies; 0 is the sound benchmark
# model families that wrote a set, for the warning that a judge may favour its own wording
WRITERS = {"mtr-mini": "claude", "judgements-mini": "claude"}
VIEW = "full_history"  # what the retriever of hard negatives is asked with


def _hard_negatives(benchmark: Benchmark, profile: Profile) -> Run:
    """Ranked lists of the profile's NEGATIVES retriever, for the completeness test."""
    turns = list(benchmark.turns())
    documents = {p.passage_id: p.document for p in benchmark.passages}
    retriever = searcher(profile.NEGATIVES, benchmark.passages)
    run, _ = search_view(retriever, turns, VIEW, profile.DEPTH, documents=documents)
    return run


def item_set(benchmark: Benchmark, profile: Profile, negatives: Run | None = None) -> ItemSet:
    """The items of a benchmark with their hard negatives (searched for when not given)."""
    found = negatives or _hard_negatives(benchmark, profile)
    return audit_items(benchmark, found, most_negatives=profile.OPTIONS)


@dataclass(frozen=True)
class Copy:
    """A damaged copy and its items."""

    damage: Damage
    items: ItemSet


def damaged_copies(
    benchmark: Benchmark, profile: Profile, rejected: Mapping[str, Sequence[str]]
) -> dict[tuple[str, float], Copy]:
    """Copies of a benchmark at every rate of every kind of damage, by ``(kind, rate)``.

    Parameters
    ----------
    rejected : query id -> passages judged not to support, planted as noise.
    """
    negatives = _hard_negatives(benchmark, profile)  # the questions are the same in all copies
    copies = {}
    for kind in KINDS:
        for rate in RATES:
            damage = damaged(benchmark, kind, rate, seed=profile.SEED, rejected=rejected)
            copies[kind, rate] = Copy(damage, item_set(damage.benchmark, profile, negatives))
    return copies


def judge_all(
    sets: Sequence[ItemSet],
    judges: Sequence[Judge],
    profile: Profile,
    metrics: Sequence[str] = METRICS,
) -> pd.DataFrame:
    """Judgements of every judge on every set, one row per task."""
    how: dict[str, Any] = {"seed": profile.SEED, "most_options": profile.OPTIONS}
    tables = [judgements(items, judge, metrics, **how) for items in sets for judge in judges]
    return pd.concat(tables, ignore_index=True)


def dose_scores(
    copies: Mapping[tuple[str, float], Copy], judges: Sequence[Judge], profile: Profile
) -> dict[tuple[str, float], pd.DataFrame]:
    """Item scores of every damaged copy, by ``(kind, rate)``."""
    return {
        dose: item_scores(judge_all([copy.items], judges, profile)) for dose, copy in copies.items()
    }


def rejected_pool(benchmark: Benchmark) -> dict[str, list[str]]:
    """Passages judged not to support, by query id; empty for a set that was not judged."""
    judged = load_authored().judged.get(benchmark.name, {})
    return {
        query_id: [row["passage_id"] for row in pool if row["decision"] != "gold"]
        for query_id, pool in judged.items()
    }


def local_judges(judges: Sequence[Judge]) -> list[PairJudge]:
    """Those that need no LLM and no ratings, so that they can judge any copy."""
    return [judge for judge in judges if isinstance(judge, PairJudge)]


def cost_before(judges: Sequence[Judge], sets: Sequence[ItemSet], profile: Profile) -> pd.DataFrame:
    """Dry run of the LLM judges: what is stored, what would be asked, and the price range."""
    how: dict[str, Any] = {"seed": profile.SEED, "most_options": profile.OPTIONS}
    plans = {
        judge.name: judge.plan(
            [t for items in sets for m in METRICS for t in tasks(items, m, judge.name, **how)]
        )
        for judge in judges
        if isinstance(judge, LlmJudge)
    }
    return pd.concat(plans, names=["judge"]) if plans else pd.DataFrame()


def cost_after(judges: Sequence[Judge]) -> pd.DataFrame:
    """What the LLM judges used: calls, replies from the store, failures, tokens, price."""
    used = {j.name: j.client.usage.table() for j in judges if isinstance(j, LlmJudge)}
    return pd.concat(used, names=["judge"]) if used else pd.DataFrame()


def all_left_out(sets: Sequence[ItemSet], profile: Profile) -> pd.DataFrame:
    """Turns without gold and items that give no task, per set, metric and reason."""
    tables = []
    for items in sets:
        table = left_out(items, most_options=profile.OPTIONS)
        unmarked = ("all", "no gold", len(items.without_gold))
        table.loc[len(table)] = unmarked
        tables.append(table.assign(set=items.name))
    return pd.concat(tables, ignore_index=True)[["set", "metric", "reason", "n_items"]]
