"""Benchmarks x retrievers x query views: search, score, and keep what was cut and missed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from mtrlib.data.schema import Benchmark, Qrels, Run
from mtrlib.errors import FetchError
from mtrlib.evaluation.evaluate import evaluate
from mtrlib.profiles import Profile
from mtrlib.retrieval.query_text import QueryText, truncation_summary
from mtrlib.retrieval.search import search_view, searcher


@dataclass(frozen=True)
class Grid:
    """What :func:`measure` found.

    Attributes
    ----------
    per_query : one row per benchmark, view, system and query with gold; ``value`` is
        Recall@K, beside ``conversation_id``, ``turn_number``, ``labels`` (tuple),
        ``from_switch``: turns since the topic switch (0 = the switching turn, negative
        before it), missing where the conversation has none; and ``truncated``,
        ``question_lost``: what the budget did to the query (booleans).
    coverage : per benchmark, view, system: queries averaged, missing, without gold,
        duplicate rows, truncated queries, and the share of tied scores.
    retrievers : name -> what identifies it, with the first encoded query as sent.
    unavailable : name -> why a retriever is left out.
    runs : the ranked lists, by (benchmark, view, system).
    """

    per_query: pd.DataFrame
    coverage: pd.DataFrame
    retrievers: dict[str, Any] = field(default_factory=dict)
    unavailable: dict[str, str] = field(default_factory=dict)
    runs: dict[tuple[str, str, str], Run] = field(default_factory=dict)


def measure(benchmarks: Sequence[Benchmark], profile: Profile, views: Sequence[str] = ()) -> Grid:
    """Recall@K of every retriever under every view of every benchmark.

    ``views`` replaces the profile's. A retriever whose model cannot be had is left out with
    its reason; the others run.
    """
    values, coverage = [], []
    retrievers: dict[str, Any] = {}
    unavailable: dict[str, str] = {}
    runs: dict[tuple[str, str, str], Run] = {}
    for benchmark in benchmarks:
        turns = list(benchmark.turns())
        facts = _facts(benchmark)
        documents = {p.passage_id: p.document for p in benchmark.passages}
        for name in profile.RETRIEVERS:
            try:
                retriever = searcher(name, benchmark.passages)
            except FetchError as error:
                unavailable[name] = str(error)
                continue
            for view in views or profile.VIEWS:
                run, texts = search_view(retriever, turns, view, profile.DEPTH, documents=documents)
                runs[benchmark.name, view, name] = run
                scores = evaluate(benchmark.qrels, run, [f"Recall@{profile.K}"])
                key = {"benchmark": benchmark.name, "view": view, "system": name}
                value = scores.per_query.iloc[:, 0].rename("value")
                scored = facts.join(value, how="inner").join(_cuts(texts))
                values.append(scored.reset_index().assign(**key))
                tied = {"share_tied": scores.share_tied}
                coverage.append({**key, **scores.counts, **tied, **truncation_summary(texts)})
                prompt = retriever.spec.query_prompt
                retrievers[name] = {**retriever.describe(), "first_query": prompt + texts[0].text}
    return Grid(
        pd.concat(values, ignore_index=True), pd.DataFrame(coverage), retrievers, unavailable, runs
    )


def rescored(
    grid: Grid, benchmark: str, view: str, golds: Mapping[str, Qrels], k: int
) -> pd.DataFrame:
    """Recall@k of the same runs against several golds, over the queries that all of them have.

    Returns
    -------
    DataFrame
        ``system, gold, value, n_queries``; ``gold`` is the key in ``golds``.
    """
    shared = set.intersection(*({q for q in g if g.gold(q)} for g in golds.values()))
    rows = []
    for (name, of_view, system), run in grid.runs.items():
        if (name, of_view) != (benchmark, view):
            continue
        for kind, qrels in golds.items():
            same = Qrels({q: qrels.grades(q) for q in qrels if q in shared})
            scores = evaluate(same, run, [f"Recall@{k}"])
            rows.append((system, kind, scores.means.iloc[0], scores.n_queries))
    return pd.DataFrame(rows, columns=["system", "gold", "value", "n_queries"])


def _facts(benchmark: Benchmark) -> pd.DataFrame:
    rows = [
        (
            turn.query_id,
            turn.conversation_id,
            turn.turn_number,
            turn.labels,
            turn.turn_number - switch if (switch := conversation.topic_switch_turn) else None,
        )
        for conversation in benchmark.conversations
        for turn in conversation.turns
    ]
    columns = ["query_id", "conversation_id", "turn_number", "labels", "from_switch"]
    return pd.DataFrame(rows, columns=columns).set_index("query_id")


def _cuts(texts: Sequence[QueryText]) -> pd.DataFrame:
    rows = [(t.query_id, t.truncated, t.question_lost) for t in texts]
    columns = ["query_id", "truncated", "question_lost"]
    return pd.DataFrame(rows, columns=columns).set_index("query_id")
