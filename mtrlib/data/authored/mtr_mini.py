"""mtr-mini as a benchmark: conversations with their rewrites from rewrites-mini."""

from __future__ import annotations

from collections.abc import Sequence

from mtrlib.data.authored.records import Authored, Record, load_authored
from mtrlib.data.schema import Benchmark, Conversation, Passage, Turn, Utterance


def mtr_mini(
    passages: Sequence[Passage], *, conversations: int = 0, authored: Authored | None = None
) -> Benchmark:
    """Build the benchmark over a corpus.

    Parameters
    ----------
    passages : the frozen slice, or a part of it: conversations whose gold it does not hold
        whole are left out, so that a small corpus gives a small but fair benchmark.
    conversations : keep the first n that fit; 0 = all.

    Returns
    -------
    Benchmark
        ``rewrite`` is the standalone query, ``author_voice`` the oracle rewrite.
    """
    found = authored or load_authored()
    known = {p.passage_id for p in passages}
    kept = []
    for record in found.conversations:
        gold = {g for turn in record["turns"] for g in turn["gold"]}
        if gold <= known:
            kept.append(_conversation(record, found))
        if conversations and len(kept) == conversations:
            break
    return Benchmark("mtr-mini", tuple(passages), tuple(kept))


def _conversation(record: Record, found: Authored) -> Conversation:
    conversation_id = record["conversation_id"]
    turns: list[Turn] = []
    history: list[Utterance] = []
    for t in record["turns"]:
        query_id = f"{conversation_id}_{t['turn_number']}"
        rewrite = found.rewrites.get(query_id, {})
        turns.append(
            Turn(
                query_id=query_id,
                conversation_id=conversation_id,
                turn_number=t["turn_number"],
                raw_utterance=t["raw_utterance"],
                history=tuple(history),
                gold=tuple(t["gold"]),
                rewrite=rewrite.get("standalone", {}).get("query"),
                author_voice=rewrite.get("author_voice"),
                answer=t["answer"],
                labels=tuple(t["labels"]),
            )
        )
        history.append(Utterance("user", t["raw_utterance"]))
        if t["answer"]:  # none where the corpus has none
            history.append(Utterance("agent", t["answer"]))
    return Conversation(conversation_id, tuple(turns), record["topic_switch_turn"])
