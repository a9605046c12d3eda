"""Checks of rewrites-mini: one record a turn, complete, diverse, in its own words."""

from __future__ import annotations

from collections.abc import Iterator

from mtrlib.data.authored.records import Authored, Record
from mtrlib.data.authored.wording import CopyCheck
from mtrlib.data.strings import answer_tokens, contains_answer

DECOMPOSED, VARIANTS, HYPOTHETICAL_WORDS, AMBIGUOUS_BELOW = 40, 3, (60, 100), 0.6


def check_rewrites(found: Authored, copies: CopyCheck) -> Iterator[str]:
    """Yield every problem, each naming its turn."""
    known = {query_id for query_id, _, _ in found.turns()}
    yield from (f"rewrites-mini: {q} is no turn" for q in found.rewrites if q not in known)
    for query_id, conversation, turn in found.turns():
        record = found.rewrites.get(query_id)
        if record is None:
            yield f"{query_id}: has no rewrites"
            continue
        yield from _record(query_id, turn, record)
        yield from _switch(query_id, conversation, turn, record)
        yield from copies.problems(query_id, *_texts(record))
    split = sum(r["decomposition"]["need_decompose"] for r in found.rewrites.values())
    if split < DECOMPOSED:
        yield f"rewrites-mini: {split} turns need decomposition, at least {DECOMPOSED} must"


def _texts(record: Record) -> list[str]:
    return [
        record["author_voice"],
        record["standalone"]["query"],
        record["hypothetical"],
        record["hypothetical_careful"],
        *record["variants"],
        *record["decomposition"]["sub_queries"],
    ]


def _record(query_id: str, turn: Record, record: Record) -> Iterator[str]:
    if not all(text.strip() for text in _texts(record)):
        yield f"{query_id}: an empty rewrite"
    variants = {" ".join(answer_tokens(v)) for v in record["variants"]}
    variants.discard(" ".join(answer_tokens(turn["raw_utterance"])))
    if len(variants) != VARIANTS:
        yield f"{query_id}: {len(variants)} different variants, must be {VARIANTS}"
    words = len(record["hypothetical"].split())
    if not HYPOTHETICAL_WORDS[0] <= words <= HYPOTHETICAL_WORDS[1]:
        yield f"{query_id}: hypothetical of {words} words, must be 60 to 100"
    confidence = record["standalone"]["confidence"]
    if not 0 <= confidence <= 1 or ("ambiguous" in turn["labels"]) != (
        confidence < AMBIGUOUS_BELOW
    ):
        yield f"{query_id}: confidence {confidence} and label ambiguous do not agree"
    plan = record["decomposition"]
    if len(plan["sub_queries"]) != len(plan["evidence"]):
        yield f"{query_id}: one list of evidence per sub-query"
    if plan["need_decompose"] != (len(plan["sub_queries"]) > 1):
        yield f"{query_id}: need_decompose and the sub-queries do not agree"
    strangers = {p for e in plan["evidence"] for p in e} - set(turn["gold"])
    if strangers or not all(plan["evidence"]):
        yield f"{query_id}: evidence of a sub-query must be gold of the turn"


def _switch(query_id: str, conversation: Record, turn: Record, record: Record) -> Iterator[str]:
    """After a hard switch, what was filled in may come from the new topic only."""
    switch = conversation["topic_switch_turn"]
    if switch is None or turn["turn_number"] < switch:
        return

    def said(of: Record) -> str:
        return f"{of['raw_utterance']} {of['answer']}"

    before = " ".join(said(t) for t in conversation["turns"] if t["turn_number"] < switch)
    after = " ".join(
        said(t) for t in conversation["turns"] if switch <= t["turn_number"] <= turn["turn_number"]
    )
    for entity in record["standalone"]["entities"]:
        if contains_answer(before, [entity]) and not contains_answer(after, [entity]):
            yield f"{query_id}: {entity!r} belongs to the topic before the switch"
