"""What all methods share: one search for all texts of all queries, and fusion by rank.

A method plans, per query, which texts are searched beside or instead of the original; the
search, the vetoes that need its lists, and the fusion are here, once for all.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from mtrlib.data.schema import Run, Turn
from mtrlib.retrieval.fusion import reciprocal_rank_fusion
from mtrlib.retrieval.search import Searcher
from mtrlib.rewriting.plans import ORIGINAL, Fusion, Lists, Method, Planned
from mtrlib.rewriting.remembered import Remembered, remembered

NOT_CHOSEN = "not chosen"


@dataclass(frozen=True, eq=False)
class MethodRun:
    """A method applied to a set of queries by one retriever.

    Attributes
    ----------
    before : the original text alone, first ``top_n``.
    run : what the method returns; equal to ``before`` where it is off or fell back.
    plans : query id -> what was done.
    lists : query id -> path name -> ids searched, cut to the path's depth; ``original`` is
        always there, cut to ``top_n``.
    search_seconds : query id -> seconds of the searches beyond the original's.
    """

    method: str
    system: str
    rewriter: str
    fusion: Fusion
    before: Run
    run: Run
    plans: Mapping[str, Planned]
    lists: Mapping[str, Lists]
    search_seconds: Mapping[str, float]

    @property
    def used(self) -> list[str]:
        """Queries that the method changed the searches of, in order."""
        return [q for q, p in self.plans.items() if p.paths]

    def cases(self) -> pd.DataFrame:
        """One row per query: off, failed, wanted, got, paths, searches, calls, seconds."""
        rows = [
            {
                "query_id": q,
                "off": p.off,
                "failed": p.failed,
                "wanted": p.wanted,
                "got": p.got,
                "searches": len(p.paths) + (p.keep_original or not p.paths),
                "calls": p.calls,
                "rewrite_seconds": p.seconds,
                "search_seconds": self.search_seconds[q],
            }
            for q, p in self.plans.items()
        ]
        columns = (
            "query_id off failed wanted got searches calls rewrite_seconds search_seconds".split()
        )
        return pd.DataFrame(rows, columns=columns).set_index("query_id")


def apply_method(
    method: Method,
    searcher: Searcher,
    turns: Sequence[Turn],
    *,
    texts: Mapping[str, str] | None = None,
    only: Collection[str] | None = None,
    fusion: Fusion | None = None,
) -> MethodRun:
    """Run a method over all queries; all texts of all queries go into one search.

    Parameters
    ----------
    texts : query id -> original text, for another view than the raw utterance.
    only : queries that the method may be used for; None = all.

    Raises
    ------
    InputError
        A query without text.
    """
    how = fusion or Fusion()
    original = {t.query_id: (texts or {}).get(t.query_id, t.raw_utterance) for t in turns}
    chosen = [t for t in turns if only is None or t.query_id in only]
    plans = {t.query_id: Planned(t.query_id, off=NOT_CHOSEN) for t in turns}
    plans |= {p.query_id: p for p in method.plan(chosen, original)}
    return _finish(method, remembered(searcher), plans, original, how)


def _finish(
    method: Method,
    searcher: Remembered,
    plans: Mapping[str, Planned],
    original: Mapping[str, str],
    how: Fusion,
) -> MethodRun:
    """Search the planned paths, let the method look at the lists, and fuse."""
    lists = _search_paths(searcher, plans, original, how)
    settled = {q: method.settle(p, lists[q]) for q, p in plans.items()}
    fused = {q: _fuse_paths(settled[q], lists[q], how) for q in plans}
    before = {q: _as_rows(lists[q][ORIGINAL][: how.top_n]) for q in plans}
    return MethodRun(
        method.name,
        searcher.spec.name,
        getattr(getattr(method, "rewriter", None), "name", ""),
        how,
        Run(searcher.spec.name, before),
        Run(f"{searcher.spec.name} + {method.name}", fused),
        settled,
        lists,
        {q: _added_seconds(searcher, plans[q], original[q]) for q in plans},
    )


def _search_paths(
    searcher: Remembered,
    plans: Mapping[str, Planned],
    original: Mapping[str, str],
    how: Fusion,
) -> dict[str, Lists]:
    """Search the original and all paths of all queries in one call."""
    wanted = {(q, ORIGINAL): original[q] for q in plans}
    depths = {(q, ORIGINAL): how.top_n for q in plans}
    for q, plan in plans.items():
        for path in plan.paths:
            wanted[q, path.name] = path.text
            depths[q, path.name] = path.depth or how.per_path
    keys = {str(i): key for i, key in enumerate(wanted)}
    deepest = max([how.top_n, how.per_path, *depths.values()])
    run = searcher.search({i: wanted[key] for i, key in keys.items()}, deepest)
    lists: dict[str, dict[str, tuple[str, ...]]] = {q: {} for q in plans}
    for i, (q, name) in keys.items():
        lists[q][name] = tuple(run.ids(i, depths[q, name]))
    return dict(lists)


def _fuse_paths(plan: Planned, lists: Lists, how: Fusion) -> tuple[tuple[str, float], ...]:
    """The fused list of one query; the original's own list where there is nothing to fuse."""
    original = lists[ORIGINAL]
    if not plan.paths:
        return _as_rows(original[: how.top_n])
    rankings = [lists[path.name] for path in plan.paths]
    weights = [path.weight for path in plan.paths]
    if plan.keep_original:
        rankings.append(original[: plan.original_depth or how.per_path])
        weights.append(1.0)
    ids = [
        p for p, _ in reciprocal_rank_fusion(rankings, k=how.k, weights=weights, depth=how.top_n)
    ]
    if how.fill and plan.keep_original:
        ids = list(dict.fromkeys([*ids, *original]))[: how.top_n]
    return _as_rows(ids)


def _as_rows(ids: Sequence[str]) -> tuple[tuple[str, float], ...]:
    # scores number the ranks down to 1: the order is final, and a tool that sorts finds the same
    return tuple((p, float(len(ids) - i)) for i, p in enumerate(ids))


def _added_seconds(searcher: Remembered, plan: Planned, original: str) -> float:
    """Seconds of the paths, less the original's own where it is not searched."""
    spent = sum(searcher.seconds(path.text) for path in plan.paths)
    return spent if plan.keep_original or not plan.paths else spent - searcher.seconds(original)
