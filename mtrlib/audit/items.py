"""What is audited: a turn with its history, its gold, hard negatives and the set's answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mtrlib.data.schema import Benchmark, Passage, Run, Turn, Utterance


@dataclass(frozen=True)
class AuditItem:
    """One evaluation instance (H, q, G) of MTR-Suite, section 3, and what it is tested against.

    Attributes
    ----------
    item_id : the query id, or the id of an authored item.
    question : the current turn as typed, never the first of the conversation.
    gold : passages that the benchmark marks; those outside its corpus are not here.
    negatives : unmarked passages of a chosen retriever, best first.
    answer : the set's own answer; None = nothing to judge.
    """

    item_id: str
    benchmark: str
    conversation_id: str
    turn_number: int
    question: str
    history: tuple[Utterance, ...] = ()
    gold: tuple[Passage, ...] = ()
    negatives: tuple[Passage, ...] = ()
    answer: str | None = None


@dataclass(frozen=True)
class ItemSet:
    """The items of a benchmark, and what was left out of them.

    Attributes
    ----------
    without_gold : query ids left out because nothing is marked.
    dangling : gold ids that the corpus lacks, ``(query_id, passage_id)``.
    negatives_from : retriever of the hard negatives, "" where a file gave them.
    turns : the turns the items were made of, by item id.
    """

    name: str
    items: tuple[AuditItem, ...]
    passages: tuple[Passage, ...]
    without_gold: tuple[str, ...] = ()
    dangling: tuple[tuple[str, str], ...] = ()
    negatives_from: str = ""
    turns: dict[str, Turn] = field(default_factory=dict)


def audit_items(
    benchmark: Benchmark, negatives: Run | None = None, *, most_negatives: int = 7
) -> ItemSet:
    """One item per turn with gold in the corpus.

    Parameters
    ----------
    negatives : ranked lists by query id; the first ``most_negatives`` unmarked passages of
        each are kept. None = no negatives, so completeness cannot be judged.
    """
    by_id = {p.passage_id: p for p in benchmark.passages}
    items, without, turns = [], [], {}
    for turn in benchmark.turns():
        marked = benchmark.qrels.gold(turn.query_id)
        first = [p for p in turn.gold if p in marked]
        order = [*first, *sorted(marked.difference(first))]
        gold = tuple(by_id[p] for p in order if p in by_id)
        if not marked:
            without.append(turn.query_id)
        if not gold:
            continue
        ranked: Sequence[str] = negatives.ids(turn.query_id) if negatives else ()
        unmarked = [by_id[p] for p in ranked if p not in marked][:most_negatives]
        turns[turn.query_id] = turn
        items.append(
            AuditItem(
                item_id=turn.query_id,
                benchmark=benchmark.name,
                conversation_id=turn.conversation_id,
                turn_number=turn.turn_number,
                question=turn.raw_utterance,
                history=turn.history,
                gold=gold,
                negatives=tuple(unmarked),
                answer=turn.answer,
            )
        )
    return ItemSet(
        benchmark.name,
        tuple(items),
        benchmark.passages,
        tuple(without),
        benchmark.dangling,
        negatives.system if negatives else "",
        turns,
    )
