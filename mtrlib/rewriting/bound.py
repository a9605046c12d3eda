"""The upper bound before anything is built: what the best wording would gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mtrlib.data.schema import Qrels, Run, Turn
from mtrlib.errors import InputError
from mtrlib.evaluation.measures import recall_at_k
from mtrlib.evaluation.significance import Difference, paired_difference
from mtrlib.retrieval.search import Searcher
from mtrlib.rewriting.gates import OracleGate
from mtrlib.rewriting.guards import text_guard
from mtrlib.rewriting.remembered import remembered
from mtrlib.rewriting.sample_size import n_to_settle
from mtrlib.rewriting.tiers import Bound, tier_of


def oracle_bound(
    searcher: Searcher,
    turns: Sequence[Turn],
    qrels: Qrels,
    rewrites: Mapping[str, str | None],
    *,
    gate: OracleGate,
    texts: Mapping[str, str] | None = None,
    name: str = "author_voice",
    k: int = 20,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> Bound:
    """ΔRecall@k of searching a rewrite instead of the original text.

    Parameters
    ----------
    rewrites : query id -> rewrite, by somebody who did not see the gold passage. One that is
        missing, empty, an error text or in another script falls back to the original and is
        counted; it stays in the mean.
    texts : query id -> original text, for another view; None = the raw utterances.

    Raises
    ------
    InputError
        No query has gold.

    References
    ----------
    Seed 004, first section: below 3, 3 to 8, above 8 points.
    """
    original = {t.query_id: (texts or {}).get(t.query_id, t.raw_utterance) for t in turns}
    usable, fell_back = _usable(original, rewrites)
    search = remembered(searcher)
    runs = [search.search(t, k) for t in (original, original | usable)]
    before, after = (_recall(qrels, run, turns, k) for run in runs)
    how: dict[str, Any] = {"resamples": resamples, "confidence": confidence, "rng": rng}
    points = _points(before, after, turns, how)
    recalls = (before, after)
    return _judged(name, search.spec.name, k, recalls, points, gate, fell_back, len(turns))


def best_of(
    searcher: Searcher,
    turns: Sequence[Turn],
    qrels: Qrels,
    candidates: Mapping[str, Mapping[str, str | None]],
    *,
    gate: OracleGate,
    texts: Mapping[str, str] | None = None,
    k: int = 20,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> Bound:
    """The ceiling: per query the best of the original and all rewrites, chosen with the gold.

    Parameters
    ----------
    candidates : kind of rewrite -> query id -> text; unusable ones are left out, and a query
        for which none is left is in ``fell_back``.

    Notes
    -----
    No system can choose like this, so no method may promise more. It grows with the number of
    candidates even if they are noise, and is never below the bound of any one of them.
    """
    original = {t.query_id: (texts or {}).get(t.query_id, t.raw_utterance) for t in turns}
    search = remembered(searcher)
    before = _recall(qrels, search.search(original, k), turns, k)
    after = before.copy()
    lost = dict.fromkeys(original, "no usable rewrite")
    for rewrites in candidates.values():
        usable, _ = _usable(original, rewrites)
        for query_id in usable:
            lost.pop(query_id, None)
        found = _recall(qrels, search.search(original | usable, k), turns, k)
        after = pd.concat([after, found], axis=1).max(axis=1)
    how: dict[str, Any] = {"resamples": resamples, "confidence": confidence, "rng": rng}
    points = _points(before, after, turns, how)
    return _judged("best_of", search.spec.name, k, (before, after), points, gate, lost, len(turns))


def _points(
    before: pd.Series, after: pd.Series, turns: Sequence[Turn], how: Mapping[str, Any]
) -> Difference:
    groups = {t.query_id: t.conversation_id for t in turns}
    return paired_difference(100 * before, 100 * after, groups=groups, **how)


def _usable(
    original: Mapping[str, str], rewrites: Mapping[str, str | None]
) -> tuple[dict[str, str], dict[str, str]]:
    """Rewrites that may be searched, and for the other queries why not."""
    usable, lost = {}, {}
    for query_id, text in original.items():
        found = rewrites.get(query_id)
        problem = "none" if found is None else text_guard(found, text)
        if problem or found is None:
            lost[query_id] = problem
        else:
            usable[query_id] = found
    return usable, lost


def _judged(
    name: str,
    system: str,
    k: int,
    recalls: tuple[pd.Series, pd.Series],
    points: Difference,
    gate: OracleGate,
    fell_back: Mapping[str, str],
    n_turns: int,
) -> Bound:
    before, after = recalls
    ends = (points.low, points.high) if points.n_groups > 1 else ()
    tier, low, high = [tier_of(p, gate) for p in (points.value, *ends)] + [""] * (2 - len(ends))
    needed = None
    if ends and not low == tier == high:
        borders = (gate.low_points, gate.high_points)
        needed = n_to_settle(points.value, points.low, points.high, points.n, borders)
    lost = {q: why for q, why in fell_back.items() if q in before.index}
    return Bound(
        name,
        system,
        k,
        before,
        after,
        points,
        tier,
        low,
        high,
        needed,
        n_turns - len(before),
        lost,
    )


def _recall(qrels: Qrels, run: Run, turns: Sequence[Turn], k: int) -> pd.Series:
    own = Qrels({t.query_id: qrels.grades(t.query_id) for t in turns})
    found = recall_at_k(own, run, k=k)
    if found.empty:
        raise InputError("no query has gold, so there is no bound. Mend: check the qrels.")
    return found
