"""Reciprocal rank fusion of ranked lists, and of whole runs."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from mtrlib.data.ranking import rank_by_score
from mtrlib.data.schema import Run
from mtrlib.errors import InputError


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[str]],
    *,
    k: float = 60,
    weights: Sequence[float] | None = None,
    depth: int | None = None,
) -> tuple[tuple[str, float], ...]:
    """Merge ranked lists of one query: a passage earns ``weight / (k + rank)`` per list.

    ``score(p) = sum over lists i that hold p of w_i / (k + rank_i(p))``, ranks from 1.

    Parameters
    ----------
    rankings : passage ids, best first, one list per path.
    k : constant that softens the lead of the first ranks.
    weights : one non-negative number per list; None weighs all 1. A list of weight 0 is as
        good as absent: it adds no candidates either.
    depth : passages to keep, counted after ranking; None keeps all.

    Returns
    -------
    tuple
        ``(passage_id, score)``, best first.

    Raises
    ------
    InputError
        Negative k, a negative or missing weight, or a depth below 1.

    Notes
    -----
    Inside one list only the first occurrence of a passage counts and the ranks close up. A
    list that lacks a passage gives it nothing. Neither the lists' order nor the process has
    any influence: terms are summed by ``math.fsum``, whose result does not depend on their
    order, and ties go by :func:`mtrlib.data.ranking.rank_by_score`.

    That rule compares scores as float32, about seven digits, and fusion does no rounding of
    its own. In one list neighbours at rank r are apart by about ``1 / (k + r)`` of their
    score, far more than 6e-8 at any usual depth, so no ranking is flattened. Sums over
    several lists that differ by less are tied: sums that are equal on paper but differ in the
    last bit of a float64 belong to these, and a written run would lose the difference anyway.

    References
    ----------
    Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and
    individual rank learning methods", 2009.

    Examples
    --------
    >>> fused = reciprocal_rank_fusion([["d1", "d2"], ["d2", "d2", "d3"]])
    >>> [(passage_id, round(score, 6)) for passage_id, score in fused]
    [('d2', 0.032522), ('d1', 0.016393), ('d3', 0.016129)]
    """
    weights = _checked(len(rankings), k, weights, depth)
    terms: defaultdict[str, list[float]] = defaultdict(list)
    for ranking, weight in zip(rankings, weights, strict=True):
        if weight == 0:
            continue
        for rank, passage_id in enumerate(dict.fromkeys(ranking), start=1):
            terms[passage_id].append(weight / (k + rank))
    return rank_by_score({p: math.fsum(parts) for p, parts in terms.items()})[:depth]


def fuse_runs(
    runs: Sequence[Run],
    *,
    system: str,
    k: float = 60,
    weights: Sequence[float] | None = None,
    depth: int = 100,
) -> Run:
    """Fuse runs query by query, over the union of their queries.

    Parameters
    ----------
    runs : the paths; a run that lacks a query adds nothing to it.
    system : name of the fused run.
    k : as in :func:`reciprocal_rank_fusion`.
    weights : one per run, as in :func:`reciprocal_rank_fusion`.
    depth : passages to keep per query.

    Returns
    -------
    Run
        Queries in sorted order. ``n_duplicate_rows`` sums what was dropped from the paths,
        here and before.

    Raises
    ------
    InputError
        No runs, or as :func:`reciprocal_rank_fusion`.

    Examples
    --------
    >>> bm25 = Run.from_rankings("bm25", {"q1": [("d1", 9.0), ("d2", 8.0)]})
    >>> dense = Run.from_rankings("dense", {"q1": [("d2", 0.7)], "q2": [("d3", 0.6)]})
    >>> fused = fuse_runs([bm25, dense], system="bm25+dense")
    >>> fused.ids("q1"), fused.ids("q2")
    (['d2', 'd1'], ['d3'])
    """
    if not runs:
        raise InputError(f"{system}: there are no runs to fuse. Mend: name at least one.")
    _checked(len(runs), k, weights, depth)
    fused = {
        query_id: reciprocal_rank_fusion(
            [run.ids(query_id) for run in runs], k=k, weights=weights, depth=depth
        )
        for query_id in sorted(set().union(*(run.rankings for run in runs)))
    }
    repeats = sum(
        len(rows) - len({p for p, _ in rows}) for run in runs for rows in run.rankings.values()
    )
    return Run(system, fused, repeats + sum(run.n_duplicate_rows for run in runs))


def _checked(
    n: int, k: float, weights: Sequence[float] | None, depth: int | None
) -> Sequence[float]:
    if not (math.isfinite(k) and k >= 0):
        raise InputError(f"k={k} of rank fusion must be 0 or more; 60 is usual.")
    if depth is not None and depth < 1:
        raise InputError(f"depth={depth} of rank fusion must be at least 1.")
    if weights is None:
        return [1.0] * n
    if len(weights) != n:
        raise InputError(f"{len(weights)} weights for {n} lists. Mend: one weight per list.")
    if not all(math.isfinite(w) and w >= 0 for w in weights):
        raise InputError(f"weights {list(weights)} must be finite and not negative.")
    return weights
