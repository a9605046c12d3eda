"""Rows that are no rewriting, for comparison: another retriever, and a reranker."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from mtrlib.data.ranking import rank_by_score
from mtrlib.data.schema import Passage, Qrels, Run, Turn
from mtrlib.errors import InputError
from mtrlib.evaluation.measures import ndcg_at_k, recall_at_k
from mtrlib.evaluation.significance import holm, paired_difference
from mtrlib.retrieval.search import Searcher
from mtrlib.retrieval.text import encoded_text
from mtrlib.rewriting.remembered import remembered

Scorer = Callable[[Sequence[tuple[str, str]]], Sequence[float]]  # (query, passage text) -> score


def reranked(
    searcher: Searcher,
    turns: Sequence[Turn],
    passages: Mapping[str, Passage],
    scorer: Scorer,
    *,
    texts: Mapping[str, str] | None = None,
    only: Collection[str] | None = None,
    deep: int = 50,
    top_n: int = 20,
) -> Run:
    """Search, and put the first ``deep`` in the order of a scorer, for queries that need it.

    Parameters
    ----------
    scorer : scores all pairs of all queries in one call; higher is better.
    only : queries to rerank, for example those labelled ``ranking``; None = all. The others
        keep their list.

    Raises
    ------
    InputError
        The scorer gives another number of scores than it was given pairs.
    """
    original = {t.query_id: (texts or {}).get(t.query_id, t.raw_utterance) for t in turns}
    run = remembered(searcher).search(original, deep)
    chosen = [q for q in original if only is None or q in only]
    pairs = [(q, p) for q in chosen for p in run.ids(q)]
    scores = list(scorer([(original[q], encoded_text(passages[p])) for q, p in pairs]))
    if len(scores) != len(pairs):
        raise InputError(f"the reranker gave {len(scores)} scores for {len(pairs)} pairs.")
    by_query: dict[str, dict[str, float]] = {q: {} for q in chosen}
    for (q, p), score in zip(pairs, scores, strict=True):
        by_query[q][p] = float(score)
    lists = dict(run.rankings) | {q: rank_by_score(s) for q, s in by_query.items()}
    return Run(f"{run.system} + reranker", {q: rows[:top_n] for q, rows in lists.items()})


def comparison_rows(
    before: Run,
    others: Mapping[str, Run],
    qrels: Qrels,
    groups: Mapping[str, str],
    *,
    only: Collection[str] | None = None,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """ΔRecall@20 and ΔnDCG@5 of other systems against the same baseline, in points.

    Parameters
    ----------
    others : name of the row -> run over the same queries.
    only : queries to compare on, for example those of one label; None = all with gold.

    Returns
    -------
    DataFrame
        ``what, measure, before, after`` (fractions), ``points, ci_low, ci_high, p_value,
        p_holm`` (over all rows), ``gained, lost, same, n``.
    """
    queries = [q for q in before.rankings if only is None or q in only]
    own = Qrels({q: qrels.grades(q) for q in queries})
    rows = []
    for name, run in others.items():
        for measure, score, k in (("recall@20", recall_at_k, 20), ("ndcg@5", ndcg_at_k, 5)):
            a, b = score(own, before, k=k), score(own, run, k=k)
            d = paired_difference(
                100 * a, 100 * b, groups=groups, resamples=resamples,
                confidence=confidence, rng=rng,
            )  # fmt: skip
            counts = (d.n_gained, d.n_lost, d.n_same, d.n)
            ends = (d.value, d.low, d.high, d.p_value)
            rows.append((name, measure, float(a.mean()), float(b.mean()), *ends, *counts))
    columns = "what measure before after points ci_low ci_high p_value gained lost same n".split()
    table = pd.DataFrame(rows, columns=columns)
    table.insert(8, "p_holm", holm(table["p_value"]) if len(table) else [])
    return table
