"""Notebook 11: a benchmark of the reader's own, read, priced, audited and compared."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mtrlib import paths
from mtrlib.audit.items import ItemSet
from mtrlib.audit.judging import METRICS, Judge
from mtrlib.audit.llm_judge import LlmJudge
from mtrlib.audit.metrics import tasks
from mtrlib.data.benchmarks import load_benchmark
from mtrlib.data.inspection import inspect_dataset
from mtrlib.data.schema import Benchmark, Turn
from mtrlib.errors import InputError
from mtrlib.evaluation.discrimination import compare_systems, mean_intervals
from mtrlib.evaluation.power import minimum_detectable_difference
from mtrlib.llm.client import Client
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.prices import price_range, prices
from mtrlib.llm.store import ReplyStore, store_path
from mtrlib.profiles import Profile
from mtrlib.reporting.audit_estimates import pooled_pairs, suspected
from mtrlib.reporting.audit_run import local_judges
from mtrlib.reporting.retriever_grid import Grid, measure
from mtrlib.reporting.rewriting_study import DEPTH

REWRITTEN = ("rewrite", "author_voice")  # views that show what the file itself brings along
WORTH = 0.05  # difference of two means that most people would act on, fraction
PRICED = Endpoint("price-list", model="any", model_alias="any", dialect="chat_schema")


@dataclass(frozen=True)
class Own:
    """What was read.

    Attributes
    ----------
    profile : the profile with ``OWN_K`` as its K, for everything that is measured.
    report : lines of ``python -m mtrlib.data check``; empty for a registered benchmark.
    lacks : what the file lacks -> what is left out for it, in one line.
    """

    profile: Profile
    benchmark: Benchmark
    report: tuple[str, ...]
    lacks: Mapping[str, str]

    @property
    def views(self) -> list[str]:
        """The profile's views, and those of the rewrites that the file brings along."""
        given = [v for v in REWRITTEN if any(getattr(t, v) for t in self.benchmark.turns())]
        return [*self.profile.VIEWS, *given]


@dataclass(frozen=True)
class Told:
    """What the benchmark says about retrievers.

    Attributes
    ----------
    means : of :func:`mtrlib.evaluation.discrimination.mean_intervals` by view and retriever.
    pairs : of ``compare_systems``; empty for a single retriever.
    detectable : of ``minimum_detectable_difference`` with ``for_worth``: about how many
        conversations of this kind would show a difference of ``WORTH`` for the pair alone.
    """

    grid: Grid
    means: pd.DataFrame
    pairs: pd.DataFrame
    detectable: pd.DataFrame


def read_own(profile: Profile) -> Own:
    """Read and check the benchmark that the profile's OWN names.

    Raises
    ------
    InputError
        OWN_K beyond the lists, no such file, no known format, a record that its reader refuses,
        nothing to measure with, or gold that the corpus lacks; file, record and mend are named.
    """
    if profile.OWN_K > DEPTH:
        problem = f"OWN_K={profile.OWN_K} must lie between 1 and {DEPTH}"
        raise InputError(f"{problem}, the lists of the rewriting section.")
    path = paths.given(profile.OWN)
    found = inspect_dataset(path) if path.exists() else None
    if found and found.stop:
        raise InputError.at(profile.OWN, None, "; ".join(found.findings), "correct the file")
    benchmark = load_benchmark(profile.OWN, profile)
    _refuse_dangling(benchmark, profile.OWN)
    report = tuple(found.lines()) if found else ()
    measured = dataclasses.replace(profile, K=profile.OWN_K)
    return Own(measured, benchmark, report, _lacks(benchmark))


def price_list(items: ItemSet, profile: Profile) -> pd.DataFrame:
    """What all questions of an LLM judge would cost from every model of the price table.

    Returns
    -------
    DataFrame
        ``model`` (a pattern), ``calls``, lowest and highest tokens in and out, lowest and
        highest cost in ``currency``, and the date on which the price was ``noted``.
    """
    judge = LlmJudge(PRICED.alias, Client(PRICED, ReplyStore(store_path(PRICED.alias))))
    how: dict[str, Any] = {"seed": profile.SEED, "most_options": profile.OPTIONS}
    asked = [task for m in METRICS for task in tasks(items, m, judge.name, **how)]
    plan = judge.client.plan(judge.requests(asked))
    rows = []
    for price in prices():
        low, high = price_range(plan.tokens_in, plan.tokens_out, price) or (np.nan, np.nan)
        counts = (plan.unique, *plan.tokens_in, *plan.tokens_out)
        rows.append((price.pattern, *counts, low, high, price.currency, price.date))
    tokens = [f"tokens_{way}_{end}" for way in ("in", "out") for end in ("low", "high")]
    columns = ["model", "calls", *tokens, "cost_low", "cost_high", "currency", "noted"]
    return pd.DataFrame(rows, columns=columns)


def missing_gold(
    items: ItemSet, judges: Sequence[Judge], profile: Profile
) -> tuple[pd.DataFrame, str]:
    """Suspected missing gold by the last local judge, and a line that says where the list lies.

    LLM judges are not asked: the pool of all retrievers would cost more than the audit.
    """
    local = local_judges(judges)
    if not local:
        return pd.DataFrame(), "no local judge among JUDGES: missing gold is not searched for"
    found, path = suspected(pooled_pairs(items, local[-1], profile), items, profile)
    lead = found[found["over_best"] > 0]
    return found, (
        f"{local[-1].name}: {len(found)} unmarked passages listed in {path}; {len(lead)} of them, "
        f"for {lead['item_id'].nunique()} turns, get a higher p than every marked one"
    )


def compare(own: Own, rng: np.random.Generator) -> Told:
    """Recall@K of every retriever under every view, and what can be told apart."""
    profile = own.profile
    drawn: dict[str, Any] = {"resamples": profile.RESAMPLES, "confidence": profile.CONFIDENCE}
    drawn["rng"] = rng
    grid = measure([own.benchmark], profile, own.views)
    rows = grid.per_query
    means = mean_intervals(rows, ["benchmark", "view", "system"], **drawn)
    if rows["system"].nunique() < 2:
        return Told(grid, means, pd.DataFrame(), pd.DataFrame())
    pairs = compare_systems(rows, **drawn)
    seen = minimum_detectable_difference(rows, pairs, confidence=profile.CONFIDENCE)
    # two retrievers that agree on every conversation have no spread to project from
    seen[["mdd", "mdd_all"]] = seen[["mdd", "mdd_all"]].where(seen["mdd"] > 0)
    # the standard error falls with the root of the number of conversations
    seen["for_worth"] = np.ceil(seen["n_conversations"] * (seen["mdd"] / WORTH) ** 2)
    return Told(grid, means, pairs, seen)


def with_rows(tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The tables that hold anything: what a benchmark lacks leaves no empty artefact."""
    return {name: table for name, table in tables.items() if len(table)}


def _refuse_dangling(benchmark: Benchmark, name: str) -> None:
    """Gold outside the corpus: in one's own file that is a slip of the pen, so it stops here."""
    lost = len(benchmark.dangling)
    for query_id, passage_id in benchmark.dangling[:1]:
        at = next((t.source for t in benchmark.turns() if t.query_id == query_id), "") or "qrels"
        problem = f"{at}: gold {passage_id!r} of query {query_id} is not in the corpus"
        mend = "correct the id or add the passage (notebook 03 measures with gold out of reach)"
        raise InputError.at(name, None, f"{problem} ({lost} in all)", mend)


def _lacks(benchmark: Benchmark) -> dict[str, str]:
    turns = [t for t in benchmark.turns() if benchmark.qrels.gold(t.query_id)]
    n, unanswered = len(turns), [t for t in turns if not (t.answer or "").strip()]
    found = {}
    if unanswered:
        lost = f"no answer for {len(unanswered)} of {n} turns with gold"
        found["answers"] = f"{lost}: faithfulness and quality leave them out"
    found |= {f"{view}s": line for view in REWRITTEN if (line := _without(turns, view))}
    if not any(t.history for t in turns):
        found["history"] = "no history: every view shows the last turn alone"
    if len(benchmark.conversations) < 2:
        found["conversations"] = "one conversation: no interval and no test can be had"
    return found


def _without(turns: Sequence[Turn], view: str) -> str:
    """One line where all rewrites of a kind are missing, or those of turns with a history."""
    lost = [t for t in turns if not getattr(t, view)]
    if len(lost) == len(turns):
        return f"no {view} at all: it has no view and no bound"
    lost = [t for t in lost if t.history]
    return f"no {view} for {len(lost)} turns with a history: the raw turn stands in" if lost else ""
