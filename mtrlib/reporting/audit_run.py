"""The audit of several benchmarks by several judges, and of damaged copies: what 01 shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mtrlib.audit.damage import KINDS, Damage, damaged
from mtrlib.audit.items import ItemSet, audit_items
from mtrlib.audit.judging import METRICS, Judge, Task
from mtrlib.audit.metrics import judgements
from mtrlib.audit.panel import item_scores
from mtrlib.data.schema import Benchmark, Run
from mtrlib.profiles import Profile
from mtrlib.retrieval.search import search_view, searcher

RATES = (0.1, 0.2, 0.4)  # doses of the damaged copies; 0 is the sound benchmark
VIEW = "full_history"  # what the retriever of hard negatives is asked with
POOL_DEPTH = 10  # passages of each retriever that are searched for missing gold


def hard_negatives(benchmark: Benchmark, profile: Profile) -> Run:
    """Ranked lists of the profile's NEGATIVES retriever, for the completeness test."""
    turns = list(benchmark.turns())
    documents = {p.passage_id: p.document for p in benchmark.passages}
    retriever = searcher(profile.NEGATIVES, benchmark.passages)
    run, _ = search_view(retriever, turns, VIEW, profile.DEPTH, documents=documents)
    return run


def item_set(benchmark: Benchmark, profile: Profile, negatives: Run | None = None) -> ItemSet:
    """The items of a benchmark with their hard negatives (searched for when not given)."""
    found = negatives or hard_negatives(benchmark, profile)
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
    negatives = hard_negatives(benchmark, profile)  # the questions are the same in all copies
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


def pooled_pairs(items: ItemSet, judge: Judge, profile: Profile) -> pd.DataFrame:
    """Gold and unmarked passages that some retriever finds, with the judge's probability.

    Returns
    -------
    DataFrame
        ``set, item_id, conversation_id, passage_id, marked, p``; p is NaN without a
        verdict, and for a judge that rates without a probability it is the rating on [0, 1].
    """
    turns = [items.turns[item.item_id] for item in items.items]
    by_id = {p.passage_id: p for p in items.passages}
    documents = {p.passage_id: p.document for p in items.passages}
    pools: dict[str, set[str]] = {t.query_id: set() for t in turns}
    for name in profile.RETRIEVERS:
        retriever = searcher(name, items.passages)
        for view in ("last_turn", VIEW):
            run, _ = search_view(retriever, turns, view, POOL_DEPTH, documents=documents)
            for query_id in pools:
                pools[query_id].update(run.ids(query_id))
    tasks, rows = [], []
    for item in items.items:
        gold = {p.passage_id for p in item.gold}
        for passage_id in sorted(pools[item.item_id] | gold):
            tasks.append(Task("query_evidence", item, by_id[passage_id]))
            row = (items.name, item.item_id, item.conversation_id, passage_id, passage_id in gold)
            rows.append(row)
    columns = ["set", "item_id", "conversation_id", "passage_id", "marked"]
    found = pd.DataFrame(rows, columns=columns)
    told = judge.judge(tasks)
    found["p"] = [
        np.nan if v.value is None else v.probabilities.get("yes", (float(v.value) - 1) / 4)
        for v in told
    ]
    return found
