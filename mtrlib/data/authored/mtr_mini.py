"""mtr-mini as a benchmark: conversations with their rewrites from rewrites-mini."""

from __future__ import annotations

from collections.abc import Sequence

from mtrlib.data.authored.records import Authored, Record, load_authored
from mtrlib.data.schema import Benchmark, Conversation, Passage, Turn, Utterance


def mtr_mini(
    passages: Sequence[Passage],
    *,
    conversations: int = 0,
    passage_limit: int = 0,
    authored: Authored | None = None,
) -> Benchmark:
    """Build the benchmark over the frozen slice.

    Parameters
    ----------
    passages : the whole slice.
    conversations : keep the first n; 0 = all.
    passage_limit : cut the corpus to the gold of the kept conversations, filled up evenly
        from the rest of the slice to about this many passages; 0 = all.

    Returns
    -------
    Benchmark
        ``rewrite`` is the standalone query, ``author_voice`` the oracle rewrite.
    """
    found = authored or load_authored()
    kept = tuple(
        _conversation(record, found)
        for record in found.conversations[: conversations or len(found.conversations)]
    )
    if passage_limit:
        gold = {g for c in kept for t in c.turns for g in t.gold}
        others = [p for p in passages if p.passage_id not in gold]
        step = max(1, -(-len(others) // max(1, passage_limit - len(gold))))
        filler = {p.passage_id for p in others[::step]}
        passages = [p for p in passages if p.passage_id in gold or p.passage_id in filler]
    return Benchmark("mtr-mini", tuple(passages), kept)


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
