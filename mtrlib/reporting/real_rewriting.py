"""Query rewriting on MTRAG: the last turn against the set's own LLM rewrites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mtrlib.data.assemble import read_parts
from mtrlib.data.formats import mtrag_retrieval
from mtrlib.data.schema import Passage, Qrels, Turn
from mtrlib.evaluation.significance import Interval, bootstrap_interval
from mtrlib.profiles import Profile
from mtrlib.retrieval.search import searcher
from mtrlib.rewriting.attribution import attribute
from mtrlib.rewriting.bound import oracle_bound
from mtrlib.rewriting.coreference import KeepOriginal
from mtrlib.rewriting.decisions import decide
from mtrlib.rewriting.gates import Gates
from mtrlib.rewriting.harness import measured
from mtrlib.rewriting.methods import apply_method
from mtrlib.rewriting.net_benefit import NetBenefit
from mtrlib.rewriting.recorded_rewriter import RecordedRewriter
from mtrlib.rewriting.remembered import Remembered, remembered
from mtrlib.rewriting.standard import standard_fusion, standard_methods
from mtrlib.rewriting.truth import Truth

PACKS = ("mtrag_human", "mtrag_un")  # the corpora in which the gold of the tasks lies
RETRIEVERS = ("bm25", "static-256")  # those that pass both corpora in seconds
CONFIDENCE_OF_REWRITE = 0.9  # MTRAG gives none; above the limit, so that "never" replaces
KEEP: tuple[KeepOriginal, ...] = ("always", "never")


def measure(packs: Mapping[str, Path], profile: Profile) -> dict[str, pd.DataFrame]:
    """``rewriting_mtrag``: bound, attribution and coreference; nothing where a pack is missing."""
    if not set(PACKS) <= set(packs):
        return {}
    passages, turns, qrels = _closed_tasks(packs)
    rows = []
    for name in RETRIEVERS:
        rows += _rows(remembered(searcher(name, passages)), passages, turns, qrels, profile)
    return {"rewriting_mtrag": pd.DataFrame(rows)}


def _closed_tasks(packs: Mapping[str, Path]) -> tuple[list[Passage], list[Turn], Qrels]:
    """The retrieval tasks all of whose gold lies in the corpora of the packs, over both."""
    found = [p for name in PACKS for p in read_parts(packs[name] / "corpus.jsonl").passages]
    passages = {p.passage_id: p for p in found}
    qrels = mtrag_retrieval.qrels(packs["mtrag_human"])
    turns = [
        t
        for c in mtrag_retrieval.conversations(packs["mtrag_human"])
        for t in c.turns
        if qrels.gold(t.query_id) and qrels.gold(t.query_id) <= set(passages)
    ]
    return list(passages.values()), turns, qrels


def _rows(
    retriever: Remembered,
    passages: Sequence[Passage],
    turns: Sequence[Turn],
    qrels: Qrels,
    profile: Profile,
) -> list[dict[str, Any]]:
    rng = np.random.default_rng(profile.SEED)
    how: dict[str, Any] = {
        "resamples": profile.RESAMPLES,
        "confidence": profile.CONFIDENCE,
        "rng": rng,
    }
    gates, rewrites = Gates.read(), {t.query_id: t.rewrite for t in turns if t.rewrite}
    truth = Truth(turns, qrels, {p.passage_id: p for p in passages})
    bound = oracle_bound(
        retriever, turns, qrels, rewrites, gate=gates.oracle, name="LLM rewrite", **how
    )
    rows = []
    for what, recall, texts in (
        ("last turn", bound.before, None),
        ("LLM rewrite", bound.after, rewrites),
    ):
        counts = attribute(retriever, passages, turns, qrels, texts=texts).counts()["primary"]
        named = ", ".join(f"{label} {n}" for label, n in counts.items() if n)
        found = bootstrap_interval(100 * recall, groups=truth.groups, **how)
        rows.append(_row(f"Recall@{bound.k}, {what} (%)", found, f"failures: {named}"))
    tier = f"tier {bound.tier}; {bound.verdict}"
    rows.append(_row(f"change of Recall@{bound.k} (points)", bound.points, tier))
    records = {
        q: {"standalone": {"query": r, "entities": [], "confidence": CONFIDENCE_OF_REWRITE}}
        for q, r in rewrites.items()
    }
    for keep in KEEP:
        method, *_ = standard_methods(
            RecordedRewriter(records), gates, vectors=None, words=None, keep_original=keep
        )
        run = apply_method(method, retriever, turns, fusion=standard_fusion(gates))
        made = decide("coreference", measured(run, truth), truth.groups, gates, **how)
        rows.append(
            _row(f"net benefit, original {keep} (points)", made.net["points"], made.verdict)
        )
    return [{"system": retriever.spec.name, **row} for row in rows]


def _row(what: str, found: Interval | NetBenefit, reading: str) -> dict[str, Any]:
    return {
        "what": what,
        "value": found.value,
        "ci_low": found.low,
        "ci_high": found.high,
        "n": found.n,
        "reading": reading,
    }
