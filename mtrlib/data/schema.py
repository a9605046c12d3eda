"""Typed records shared by all parts: passage, turn, conversation, benchmark, qrels, run.

Names follow TREC and CAsT. Ids are text everywhere; a query id is never split or parsed.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import pandas as pd

from mtrlib.errors import InputError

Role = Literal["user", "agent"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrieval unit.

    Attributes
    ----------
    passage_id : unique in its corpus.
    text : the body, without title or headings.
    title : title of its document, may be empty.
    section : headings from the outermost to the innermost, without the title.
    links : titles that the passage links to, in order of appearance.
    document : id of the document it is part of, where the set has that unit.
    source : where the record was read, ``file:line`` or ``file#item``.
    """

    passage_id: str
    text: str
    title: str = ""
    section: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    document: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Utterance:
    """One side's words in a history."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One user question in its history: the evaluation instance (H, q, G) of MTR-Suite, sec. 3.

    Attributes
    ----------
    query_id : unique in its benchmark; ``<conversation>_<turn>`` where the set has none.
    history : earlier utterances, oldest first, without the current one.
    raw_utterance : the question as typed.
    gold : passage ids marked relevant; empty = no gold (left out of every mean, counted).
    rewrite : a self-contained form of the question, if the set has one.
    author_voice : how the writer of the answering document might put it (oracle rewrite).
    answer : the set's own answer, if any.
    labels : free tags such as ``verbose`` or ``context_dependent``.
    gold_by_annotator : the gold of each annotator, where several worked apart; ``gold`` is
        then their union.
    gold_texts : gold that the set gives as text, not yet matched to passages.
    scope : only passages of this document are searched; empty = the whole corpus.
    source : where the record was read, ``file:line`` or ``file#item``.
    """

    query_id: str
    conversation_id: str
    turn_number: int
    raw_utterance: str
    history: tuple[Utterance, ...] = ()
    gold: tuple[str, ...] = ()
    rewrite: str | None = None
    author_voice: str | None = None
    answer: str | None = None
    labels: tuple[str, ...] = ()
    gold_by_annotator: tuple[tuple[str, ...], ...] = ()
    gold_texts: tuple[str, ...] = ()
    scope: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns of one dialogue in order. ``topic_switch_turn`` starts a new topic, if any does."""

    conversation_id: str
    turns: tuple[Turn, ...]
    topic_switch_turn: int | None = None


class Qrels:
    """Graded judgements: ``query_id -> {passage_id: grade}``. A grade of ``rel`` or more is gold.

    A query may be present with no judgements at all: it has no gold and is counted as such.
    """

    def __init__(self, judgements: Mapping[str, Mapping[str, int]]) -> None:
        self._judgements = {q: dict(grades) for q, grades in judgements.items()}

    def __len__(self) -> int:
        return len(self._judgements)

    def __iter__(self) -> Iterator[str]:
        return iter(self._judgements)

    def __contains__(self, query_id: str) -> bool:
        return query_id in self._judgements

    def grades(self, query_id: str) -> dict[str, int]:
        """All judged passages of a query with their grades (empty if the query is unknown)."""
        return self._judgements.get(query_id, {})

    def gold(self, query_id: str, rel: int = 1) -> frozenset[str]:
        """Passages judged at least ``rel``."""
        return frozenset(p for p, g in self.grades(query_id).items() if g >= rel)

    def dangling(self, passage_ids: Iterable[str]) -> list[tuple[str, str]]:
        """Gold outside the corpus as ``(query_id, passage_id)``, sorted."""
        known = set(passage_ids)
        return sorted((q, p) for q in self for p in self.gold(q) if p not in known)


@dataclass(frozen=True)
class Run:
    """Ranked output of one system: ``query_id -> ((passage_id, score), ...)``, best first.

    ``n_duplicate_rows`` counts rows that named a passage a second time for the same query
    and were dropped (first occurrence kept).
    """

    system: str
    rankings: Mapping[str, tuple[tuple[str, float], ...]]
    n_duplicate_rows: int = 0

    @classmethod
    def from_rankings(cls, system: str, rankings: Mapping[str, Iterable[tuple[str, float]]]) -> Run:
        """Take ranked lists as they stand, dropping and counting repeated passages."""
        kept: dict[str, tuple[tuple[str, float], ...]] = {}
        dropped = 0
        for query_id, ranking in rankings.items():
            rows = list(ranking)
            first: dict[str, float] = {}
            for passage_id, score in rows:
                first.setdefault(passage_id, score)
            dropped += len(rows) - len(first)
            kept[query_id] = tuple(first.items())
        return cls(system, kept, dropped)

    def ids(self, query_id: str, k: int | None = None) -> list[str]:
        """The first ``k`` passage ids (all if None); empty for a query the run misses."""
        return [p for p, _ in self.rankings.get(query_id, ())[:k]]

    def to_frame(self) -> pd.DataFrame:
        """Tidy table with columns ``query_id, passage_id, rank, score`` (rank from 1)."""
        rows = [
            (query_id, passage_id, rank, score)
            for query_id, ranking in self.rankings.items()
            for rank, (passage_id, score) in enumerate(ranking, start=1)
        ]
        return pd.DataFrame(rows, columns=["query_id", "passage_id", "rank", "score"])


@dataclass(frozen=True)
class Benchmark:
    """A corpus and conversations over it.

    Attributes
    ----------
    passages : the corpus, ids unique.
    conversations : their turns carry gold passage ids.
    qrels : graded judgements; built from the turns' gold when not given.
    dangling : gold ids that are not in the corpus, ``(query_id, passage_id)``; they stay in
        the denominator of every measure and are reported (``unreachable gold``).
    """

    name: str
    passages: tuple[Passage, ...]
    conversations: tuple[Conversation, ...]
    qrels: Qrels = field(default_factory=lambda: Qrels({}))
    dangling: tuple[tuple[str, str], ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        _refuse_repeats("passage id", (p.passage_id for p in self.passages), self.name)
        _refuse_repeats("query id", (t.query_id for t in self.turns()), self.name)
        if not len(self.qrels):
            grades = {t.query_id: dict.fromkeys(t.gold, 1) for t in self.turns()}
            object.__setattr__(self, "qrels", Qrels(grades))
        lost = tuple(self.qrels.dangling(p.passage_id for p in self.passages))
        object.__setattr__(self, "dangling", lost)
        if lost:
            shown = ", ".join(f"query {q}: passage {p}" for q, p in lost[:5])
            warnings.warn(
                f"{self.name}: {len(lost)} gold ids are not in the corpus and cannot be found "
                f"({shown}{', ...' if len(lost) > 5 else ''}). They stay in the denominator.",
                stacklevel=3,
            )

    def turns(self) -> Iterator[Turn]:
        """All turns, conversation by conversation."""
        for conversation in self.conversations:
            yield from conversation.turns

    def digest(self) -> str:
        """SHA-256 over corpus, turns and judgements: what a result was measured on."""
        digest = hashlib.sha256(corpus_digest(self.passages).encode())
        for t in self.turns():
            row = (
                t.query_id,
                t.raw_utterance,
                [(u.role, u.text) for u in t.history],
                t.rewrite,
                t.author_voice,
                sorted(self.qrels.grades(t.query_id).items()),
            )
            digest.update(json.dumps(row, ensure_ascii=False).encode())
        return digest.hexdigest()


def corpus_digest(passages: Iterable[Passage]) -> str:
    """SHA-256 over ids, titles, sections and texts in order."""
    digest = hashlib.sha256()
    for p in passages:
        row = json.dumps([p.passage_id, p.title, p.section, p.text], ensure_ascii=False)
        digest.update(row.encode() + b"\n")
    return digest.hexdigest()


def _refuse_repeats(what: str, ids: Iterable[str], where: str) -> None:
    repeated = sorted(i for i, n in Counter(ids).items() if n > 1)
    if repeated:
        raise InputError(
            f"{where}: {what} {repeated[0]!r} occurs more than once "
            f"({len(repeated)} such ids). Mend: ids must be unique; keep one record each."
        )
