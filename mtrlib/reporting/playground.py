"""One turn, everything visible: what is sent, each rewrite, its list, and the fused list.

:mod:`mtrlib.reporting.playground_tables` makes tables of it, and
:mod:`mtrlib.reporting.playground_widgets` puts controls in front of them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from mtrlib.data.schema import Passage, Turn
from mtrlib.errors import InputError
from mtrlib.profiles import Profile
from mtrlib.reporting.rewriting_run import Searchers, open_searchers
from mtrlib.reporting.rewriting_study import RAW, RESOLVED, Study, load_study
from mtrlib.retrieval.fusion import reciprocal_rank_fusion
from mtrlib.retrieval.query_text import QueryText, query_text

ORIGINAL, FUSED = "raw", "fused"
# kind of a rewrite -> what its paths are called; a number follows where there are several
REWRITTEN = {
    "standalone": "standalone",
    "decomposition": "sub-query",
    "variants": "variant",
    "hypothetical": "HyDE",
}


@dataclass(frozen=True, eq=False)
class Desk:
    """A set of turns with its rewrites and retrievers; all of their texts are searched."""

    study: Study
    searchers: Searchers

    @cached_property
    def turns(self) -> dict[str, Turn]:
        """Turns by query id, in the order of the set."""
        return {t.query_id: t for t in self.study.turns}

    @cached_property
    def passages(self) -> dict[str, Passage]:
        """The corpus by passage id."""
        return {p.passage_id: p for p in self.study.benchmark.passages}

    @property
    def retrievers(self) -> list[str]:
        """Retrievers that can be had."""
        return list(self.searchers.by_name)

    @property
    def views(self) -> list[str]:
        """Views of the original."""
        return list(self.searchers.views[self.retrievers[0]])


@dataclass(frozen=True, eq=False)
class Look:
    """A turn as one retriever sees it under one view, with K passages of each list.

    Attributes
    ----------
    view : of the original; the rewrites are the same under all of them.

    Raises
    ------
    InputError
        A turn, retriever or view that the desk lacks, or K out of range.
    """

    desk: Desk
    query_id: str
    retriever: str
    view: str = RAW
    k: int = 20

    def __post_init__(self) -> None:
        for name, given, known in (
            ("turn", self.query_id, self.desk.turns),
            ("retriever", self.retriever, self.desk.retrievers),
            ("view", self.view, self.desk.views),
        ):
            if given not in known:
                raise InputError(f"{name} {given!r} is unknown. Known: {', '.join(known)}.")
        deepest = self.desk.searchers.by_name[self.retriever].depth
        if not 1 <= self.k <= deepest:
            raise InputError(f"K={self.k} must lie between 1 and {deepest}.")

    @property
    def turn(self) -> Turn:
        """The turn."""
        return self.desk.turns[self.query_id]

    @property
    def gold(self) -> Collection[str]:
        """Its gold passages, by id."""
        return self.desk.study.benchmark.qrels.gold(self.query_id)

    @cached_property
    def sent(self) -> QueryText:
        """The view as the encoder gets it, with counts of what was cut."""
        if self.view == RESOLVED:
            return QueryText(self.query_id, self.desk.study.resolved[self.query_id])
        budget, counter = self.desk.searchers.by_name[self.retriever].budget()
        return query_text(self.turn, self.view, budget=budget, count_tokens=counter)

    @cached_property
    def texts(self) -> dict[str, str]:
        """Path -> text: the view, the turn after coreference, and every rewrite of it."""
        study = self.desk.study
        found = {ORIGINAL: self.sent.text, RESOLVED: study.resolved[self.query_id]}
        for kind, name in REWRITTEN.items():
            made = study.rewrites[kind].get(self.query_id, ())
            numbered = len(made) > 1 or kind in ("decomposition", "variants")
            for i, text in enumerate(made, start=1):
                found[f"{name} {i}" if numbered else name] = text
        return found

    @cached_property
    def lists(self) -> dict[str, list[str]]:
        """Path -> ids of its first K passages, best first."""
        run = self.desk.searchers.by_name[self.retriever].search(self.texts, self.k)
        return {path: run.ids(path) for path in self.texts}

    def fused(self, paths: Collection[str] = ()) -> list[str]:
        """Ids of the first K passages after reciprocal rank fusion.

        Parameters
        ----------
        paths : that are fused; all by default. A text that two of them share counts once.
        """
        once = {self.texts[p]: self.lists[p] for p in self.lists if not paths or p in paths}
        constant = self.desk.study.gates.fusion.rrf_k
        ranked = reciprocal_rank_fusion(list(once.values()), k=constant, depth=self.k)
        return [passage_id for passage_id, _ in ranked]

    def first_gold(self, ids: Collection[str]) -> int:
        """Rank of the first gold passage of a list, 0 where it has none."""
        return next((rank for rank, p in enumerate(ids, start=1) if p in self.gold), 0)


def open_desk(profile: Profile) -> Desk:
    """The profile's TURNS, rewritten by its REWRITER and searched by its RETRIEVERS.

    Raises
    ------
    InputError
        As :func:`mtrlib.reporting.rewriting_study.load_study` and ``open_searchers``.
    """
    study = load_study(profile)
    return Desk(study, open_searchers(study))


def example(desk: Desk) -> Look:
    """A turn that shows much: its own words find no gold, its rewrites do, at many ranks.

    It is the last retriever's. Of the turns whose own words find no gold among the first K: the
    one whose gold most paths find, then whose ranks lie furthest apart, then the first of the
    set. Where there is no such turn, the first of all. It is chosen by the gold, so it is an
    illustration and shows nothing about turns in general.
    """
    k, retriever = desk.study.profile.K, desk.retrievers[-1]
    best, chosen = (0, 0), Look(desk, next(iter(desk.turns)), retriever, k=k)
    for query_id in desk.turns:
        look = Look(desk, query_id, retriever, k=k)
        if look.first_gold(look.lists[ORIGINAL]):
            continue
        hits = [rank for ids in look.lists.values() if (rank := look.first_gold(ids))]
        spread = (len(hits), max(hits) - min(hits)) if hits else (0, 0)
        if spread > best:
            best, chosen = spread, look
    return chosen
