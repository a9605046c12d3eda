"""Decomposition: a query with several intents becomes sub-queries, if no veto stands against it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from mtrlib.data.schema import Turn
from mtrlib.rewriting.plans import Lists, Path, Planned
from mtrlib.rewriting.rewrites import Rewrite, Rewriter, tasks_for
from mtrlib.rewriting.signs import has_connective

SUB = "sub"  # paths are called "sub 1", "sub 2", ...
_CONFLICT = "conflict"
_ONE_CHUNK = "answer in one chunk"
_NO_CONNECTIVE = "no connective"
_OVERLAP = "sub-queries overlap"
_NOT_NEEDED = "not needed"


@dataclass(frozen=True)
class Decomposition:
    """Vetoes, one call per query that passes the first, and a path per sub-query.

    Attributes
    ----------
    connective : veto of queries without a connective, before any call.
    single_chunk : veto where the answer fits one chunk. ``need_decompose`` together with it is
        a conflict: not decomposed, and ``off`` says ``conflict``, since conflicts are counted
        as a filter signal of their own. With the switch off such a query is decomposed, and
        ``notes["conflict"]`` still says so.
    overlap : veto where two sub-queries share more than ``overlap_max`` of their lists: the
        sub-queries were searched, but nothing of theirs is fused.
    """

    rewriter: Rewriter
    overlap_max: float = 0.7
    connective: bool = True
    single_chunk: bool = True
    overlap: bool = True

    name = "decomposition"

    def plan(self, turns: Sequence[Turn], texts: Mapping[str, str]) -> list[Planned]:
        """As :class:`mtrlib.rewriting.plans.Method`."""
        asked = [t for t in turns if not self.connective or has_connective(texts[t.query_id])]
        tasks = tasks_for(asked, texts)
        found = (
            {r.query_id: r for r in self.rewriter.rewrite("decomposition", tasks)} if tasks else {}
        )
        return [
            self._planned(found[t.query_id])
            if t.query_id in found
            else Planned(t.query_id, off=_NO_CONNECTIVE)
            for t in turns
        ]

    def _planned(self, found: Rewrite) -> Planned:
        conflict = bool(found.need_decompose and found.single_chunk)
        off = "" if found.need_decompose or found.failed else _NOT_NEEDED
        if found.single_chunk and self.single_chunk and not found.failed:
            off = _CONFLICT if conflict else _ONE_CHUNK
        paths = [Path(f"{SUB} {i}", text) for i, text in enumerate(found.texts, start=1)]
        return Planned(
            found.query_id,
            () if off or found.failed else tuple(paths),
            off=off,
            failed=found.failed,
            wanted=2,
            got=found.got,
            calls=found.calls,
            seconds=found.seconds,
            notes={"conflict": conflict},
        )

    def settle(self, planned: Planned, lists: Lists) -> Planned:
        """Drop all sub-queries where two of them find nearly the same."""
        if not planned.paths:
            return planned
        shared = _largest_overlap([lists[path.name] for path in planned.paths])
        notes = {**planned.notes, "overlap": shared}
        if self.overlap and shared > self.overlap_max:
            return dataclasses.replace(planned, paths=(), off=_OVERLAP, notes=notes)
        return dataclasses.replace(planned, notes=notes)


def overlap(a: Sequence[str], b: Sequence[str]) -> float:
    """Shared passages over the shorter list: ``|A ∩ B| / min(|A|, |B|)``, in [0, 1]. [D]

    0 where a list is empty: a sub-query that finds nothing repeats nothing.

    >>> overlap(["a", "b", "c"], ["b", "d"])
    0.5
    """
    first, second = set(a), set(b)
    least = min(len(first), len(second))
    return len(first & second) / least if least else 0.0


def _largest_overlap(lists: Sequence[Sequence[str]]) -> float:
    """The largest overlap over all pairs; 0 with fewer than two lists."""
    return max((overlap(a, b) for a, b in combinations(lists, 2)), default=0.0)
