"""Benchmarks x retrievers x query views: search, score, and keep what was cut and missed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from mtrlib.data.schema import Benchmark
from mtrlib.errors import FetchError
from mtrlib.evaluation.evaluate import evaluate
from mtrlib.profiles import Profile
from mtrlib.retrieval.query_text import truncation_summary
from mtrlib.retrieval.search import search_view, searcher


@dataclass(frozen=True)
class Grid:
    """What :func:`measure` found.

    Attributes
    ----------
    per_query : one row per benchmark, view, system and query with gold; ``value`` is
        Recall@K, beside ``turn_number``, ``conversation_id`` and ``labels`` (tuple).
    coverage : per benchmark, view, system: queries averaged, missing, without gold,
        duplicate rows, truncated queries, and the share of tied scores.
    retrievers : name -> what identifies it, with the first encoded query as sent.
    unavailable : name -> why a retriever is left out.
    """

    per_query: pd.DataFrame
    coverage: pd.DataFrame
    retrievers: dict[str, Any] = field(default_factory=dict)
    unavailable: dict[str, str] = field(default_factory=dict)


def measure(benchmarks: Sequence[Benchmark], profile: Profile) -> Grid:
    """Recall@K of every retriever under every view of every benchmark.

    A retriever whose model cannot be had is left out with its reason; the others run.
    """
    values, coverage = [], []
    retrievers: dict[str, Any] = {}
    unavailable: dict[str, str] = {}
    for benchmark in benchmarks:
        turns = list(benchmark.turns())
        facts = pd.DataFrame(
            [(t.query_id, t.conversation_id, t.turn_number, t.labels) for t in turns],
            columns=["query_id", "conversation_id", "turn_number", "labels"],
        ).set_index("query_id")
        for name in profile.RETRIEVERS:
            try:
                retriever = searcher(name, benchmark.passages)
            except FetchError as error:
                unavailable[name] = str(error)
                continue
            for view in profile.VIEWS:
                run, texts = search_view(retriever, turns, view, profile.DEPTH)
                scores = evaluate(benchmark.qrels, run, [f"Recall@{profile.K}"])
                key = {"benchmark": benchmark.name, "view": view, "system": name}
                value = scores.per_query.iloc[:, 0].rename("value")
                values.append(facts.join(value, how="inner").reset_index().assign(**key))
                tied = {"share_tied": scores.share_tied}
                coverage.append({**key, **scores.counts, **tied, **truncation_summary(texts)})
                prompt = retriever.spec.query_prompt
                retrievers[name] = {**retriever.describe(), "first_query": prompt + texts[0].text}
    return Grid(
        pd.concat(values, ignore_index=True), pd.DataFrame(coverage), retrievers, unavailable
    )
