"""Pairs with a known label to learn from: the judged pools of mtr-mini."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mtrlib.audit.items import AuditItem
from mtrlib.data.authored.records import Record
from mtrlib.data.schema import Benchmark, Passage
from mtrlib.errors import InputError

FOLDS = 5


@dataclass(frozen=True)
class JudgedPair:
    """An item, a passage, and whether the passage supports the item's question or answer."""

    item: AuditItem
    passage: Passage
    label: bool

    @property
    def pair(self) -> tuple[AuditItem, Passage]:
        """Without the label."""
        return self.item, self.passage


def evidence_pairs(
    benchmark: Benchmark, judged: Mapping[str, Sequence[Record]]
) -> list[JudgedPair]:
    """Every pooled passage of every turn: gold (true) against read or rule-rejected (false).

    Parameters
    ----------
    judged : query id -> its pool, ``passage_id, decision, ...``; passages that the (cut)
        corpus lacks are skipped.
    """
    by_id = {p.passage_id: p for p in benchmark.passages}
    return [
        JudgedPair(item, by_id[row["passage_id"]], row["decision"] == "gold")
        for item in _items(benchmark).values()
        for row in sorted(judged.get(item.item_id, ()), key=lambda row: row["passage_id"])
        if row["passage_id"] in by_id
    ]


def answer_pairs(benchmark: Benchmark, judged: Mapping[str, Sequence[Record]]) -> list[JudgedPair]:
    """Every answer with its own gold (true), and with passages that do not hold it (false).

    The false ones are the rejected passages of the turn's pool and the gold of the other turns
    of its conversation. The second kind resembles an answer swapped within a conversation, and
    a swapped gold passage: damage that the audit plants on purpose. A judge that learnt from
    these pairs is therefore at home there; a wrong fact in the right words is not among them.
    """
    by_id = {p.passage_id: p for p in benchmark.passages}
    items = _items(benchmark)
    found = []
    for conversation in benchmark.conversations:
        gold = {p for t in conversation.turns for p in benchmark.qrels.gold(t.query_id)}
        for turn in conversation.turns:
            own = benchmark.qrels.gold(turn.query_id)
            if not (turn.answer and own):
                continue
            pool = {row["passage_id"] for row in judged.get(turn.query_id, ())}
            item = items[turn.query_id]
            found += [
                JudgedPair(item, by_id[p], p in own) for p in sorted(pool | gold) if p in by_id
            ]
    return found


def conversation_folds(
    conversations: Iterable[str], seed: int, folds: int = FOLDS
) -> dict[str, int]:
    """The fold of every conversation; depends on the set of their ids and the seed alone.

    Raises
    ------
    InputError
        A single conversation: nothing would be left to learn from.
    """
    ids = sorted(set(conversations))
    if len(ids) < 2:
        raise InputError(
            f"{len(ids)} conversation with judged pairs: cross-fitting needs two. "
            "Mend: CONVERSATION_LIMIT of 2 or more."
        )
    order = np.random.default_rng(seed).permutation(len(ids))
    return {ids[i]: at % min(folds, len(ids)) for at, i in enumerate(order)}


def _items(benchmark: Benchmark) -> dict[str, AuditItem]:
    """All turns, also those without gold, whose whole pool was rejected."""
    return {
        t.query_id: AuditItem(
            t.query_id,
            benchmark.name,
            t.conversation_id,
            t.turn_number,
            t.raw_utterance,
            t.history,
            answer=t.answer,
        )
        for t in benchmark.turns()
    }
