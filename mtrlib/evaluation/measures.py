"""Measures of a ranked run against graded qrels, per query.

All functions share four rules. A query without gold is left out. A query with gold that
the run did not answer scores 0. A repeated passage counts once, at its first rank, and is
removed before the cut at k. The order of the run is taken as it stands: ranks are fixed
before scoring, by :func:`mtrlib.data.ranking.rank_by_score`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from mtrlib.data.schema import Qrels, Run
from mtrlib.errors import InputError


def recall_at_k(qrels: Qrels, run: Run, *, k: int = 20, rel: int = 1) -> pd.Series:
    """Share of a query's gold found in the first k passages.

    ``Recall@k = |gold among the first k| / |gold|``

    Parameters
    ----------
    qrels, run : graded judgements; rankings, best first.
    k, rel : cutoff, in passages; lowest grade that counts as gold.

    Returns
    -------
    pd.Series
        Fraction in [0, 1], indexed by ``query_id``, one row per query with gold.

    Notes
    -----
    TREC recall: the denominator is all gold, not ``min(|gold|, k)``, so a query with more
    than k gold passages stays below 1. Gold outside the corpus counts too. For "any gold
    found" use :func:`success_at_k`; the two agree where a query has a single gold passage.

    References
    ----------
    trec_eval, measure ``recall``; ir-measures, ``R@k``.

    Examples
    --------
    >>> qrels = Qrels({"q1": {"d1": 1, "d2": 1}, "q2": {"d5": 1}})
    >>> run = Run.from_rankings("bm25", {"q1": [("d1", 2.0), ("d3", 1.0)]})
    >>> recall_at_k(qrels, run, k=2).to_dict()
    {'q1': 0.5, 'q2': 0.0}
    """

    def value(ids: Sequence[str], grades: Mapping[str, int]) -> float:
        gold = {p for p, grade in grades.items() if grade >= rel}
        return len(gold.intersection(ids)) / len(gold)

    return _per_query("Recall", qrels, run, k, rel, value)


def ndcg_at_k(qrels: Qrels, run: Run, *, k: int = 20, rel: int = 1) -> pd.Series:
    """Discounted gain of the first k passages, relative to the best possible list.

    ``nDCG@k = DCG@k / IDCG@k`` with ``DCG@k = sum over r = 1..k of max(grade_r, 0) /
    log2(r + 1)``; ``IDCG@k`` is the DCG of all judged passages by falling grade, cut at k.

    Parameters
    ----------
    qrels, run : graded judgements, an unjudged passage has grade 0; rankings, best first.
    k, rel : cutoff, in passages; lowest grade that counts as gold. ``rel`` decides which
        queries are scored, while the gain is always the grade itself.

    Returns
    -------
    pd.Series
        Fraction in [0, 1], indexed by ``query_id``, one row per query with gold.

    Notes
    -----
    Linear gains as in trec_eval, not ``2 ** grade - 1``; the two agree for binary grades.

    References
    ----------
    Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", 2002;
    trec_eval, measure ``ndcg_cut``.

    Examples
    --------
    >>> qrels = Qrels({"q1": {"d1": 1, "d2": 1}})
    >>> run = Run.from_rankings("bm25", {"q1": [("d1", 3.0), ("d3", 2.0), ("d2", 1.0)]})
    >>> round(float(ndcg_at_k(qrels, run, k=3)["q1"]), 4)
    0.9197
    """

    def dcg(grades: Sequence[int]) -> float:
        return math.fsum(max(g, 0) / math.log2(r + 1) for r, g in enumerate(grades[:k], start=1))

    def value(ids: Sequence[str], grades: Mapping[str, int]) -> float:
        return dcg([grades.get(p, 0) for p in ids]) / dcg(sorted(grades.values(), reverse=True))

    return _per_query("nDCG", qrels, run, k, rel, value)


def mrr_at_k(qrels: Qrels, run: Run, *, k: int = 20, rel: int = 1) -> pd.Series:
    """Reciprocal rank of the first gold passage; the mean over queries is MRR.

    ``RR@k = 1 / rank of the first gold passage``, ranks from 1; 0 if the first k hold none.

    Parameters
    ----------
    qrels, run : graded judgements; rankings, best first.
    k, rel : cutoff, in passages; lowest grade that counts as gold.

    Returns
    -------
    pd.Series
        0 or a fraction ``1 / rank``, indexed by ``query_id``, one row per query with gold.

    Notes
    -----
    ``RR@1`` equals ``Success@1`` and P@1.

    References
    ----------
    Voorhees, "The TREC-8 question answering track report", 1999; trec_eval, measure
    ``recip_rank`` (which has no cutoff).

    Examples
    --------
    >>> qrels = Qrels({"q1": {"d1": 1}})
    >>> run = Run.from_rankings("bm25", {"q1": [("d3", 2.0), ("d1", 1.0)]})
    >>> mrr_at_k(qrels, run, k=10).to_dict()
    {'q1': 0.5}
    """

    def value(ids: Sequence[str], grades: Mapping[str, int]) -> float:
        ranks = (rank for rank, p in enumerate(ids, start=1) if grades.get(p, 0) >= rel)
        first = next(ranks, None)
        return 0.0 if first is None else 1 / first

    return _per_query("MRR", qrels, run, k, rel, value)


def success_at_k(qrels: Qrels, run: Run, *, k: int = 20, rel: int = 1) -> pd.Series:
    """Whether any gold passage is among the first k (also called hit rate).

    ``Success@k = 1 if |gold among the first k| > 0 else 0``

    Parameters
    ----------
    qrels, run : graded judgements; rankings, best first.
    k, rel : cutoff, in passages; lowest grade that counts as gold.

    Returns
    -------
    pd.Series
        0 or 1, indexed by ``query_id``, one row per query with gold.

    Notes
    -----
    Several papers print this under the name Recall@k. It is never below
    :func:`recall_at_k`.

    References
    ----------
    trec_eval, measure ``success``; ir-measures, ``Success@k``.

    Examples
    --------
    >>> qrels = Qrels({"q1": {"d1": 1, "d2": 1}})
    >>> run = Run.from_rankings("bm25", {"q1": [("d3", 2.0), ("d1", 1.0)]})
    >>> success_at_k(qrels, run, k=2).to_dict()
    {'q1': 1.0}
    """

    def value(ids: Sequence[str], grades: Mapping[str, int]) -> float:
        return float(any(grades.get(p, 0) >= rel for p in ids))

    return _per_query("Success", qrels, run, k, rel, value)


def hole_rate_at_k(qrels: Qrels, run: Run, *, k: int = 20, rel: int = 1) -> pd.Series:
    """Share of the first k returned passages that nobody judged.

    ``Hole@k = |first k without any grade| / |first k|``; the denominator is the number of
    passages really returned, at most k. A grade of 0 is a judgement, not a hole.

    Parameters
    ----------
    qrels, run : graded judgements; rankings, best first.
    k, rel : cutoff, in passages; lowest grade that counts as gold, which here only decides
        which queries are scored.

    Returns
    -------
    pd.Series
        Fraction in [0, 1], indexed by ``query_id``, one row per query with gold *that
        returned something*.

    Notes
    -----
    For an empty list the rate is 0 / 0. Such a query has no row here, neither 0 (which
    would praise the run) nor NaN; ``Evaluation.n_averaged`` counts how many rows its mean
    has. A high rate says that the other measures are lower bounds.

    References
    ----------
    Complement of ``Judged@k`` in ir-measures.

    Examples
    --------
    >>> qrels = Qrels({"q1": {"d1": 1, "d2": 0}, "q2": {"d5": 1}})
    >>> run = Run.from_rankings("bm25", {"q1": [("d3", 3.0), ("d2", 2.0)]})
    >>> hole_rate_at_k(qrels, run, k=5).to_dict()
    {'q1': 0.5}
    """

    def value(ids: Sequence[str], grades: Mapping[str, int]) -> float | None:
        return sum(p not in grades for p in ids) / len(ids) if ids else None

    return _per_query("Hole", qrels, run, k, rel, value)


MEASURES: dict[str, Callable[..., pd.Series]] = {
    "Recall": recall_at_k,
    "nDCG": ndcg_at_k,
    "MRR": mrr_at_k,
    "Success": success_at_k,
    "Hole": hole_rate_at_k,
}


def _per_query(
    base: str,
    qrels: Qrels,
    run: Run,
    k: int,
    rel: int,
    value: Callable[[Sequence[str], Mapping[str, int]], float | None],
) -> pd.Series:
    """Apply ``value`` to the first k distinct passages of every query with gold."""
    for name, number in (("k", k), ("rel", rel)):
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise InputError(f"{base}@k: {name}={number!r} must be a whole number from 1 up.")
    scored: dict[str, float] = {}
    for query_id in qrels:
        if not qrels.gold(query_id, rel):
            continue
        distinct = list(dict.fromkeys(run.ids(query_id)))
        score = value(distinct[:k], qrels.grades(query_id))
        if score is None:
            continue
        assert 0 <= score <= 1, f"{base}@{k} of query {query_id} is {score}"
        scored[query_id] = score
    index = pd.Index(list(scored), name="query_id", dtype="str")
    return pd.Series(list(scored.values()), index=index, name=f"{base}@{k}", dtype=float)
