"""Checks of mtr-mini: ids, quotas, labels, answers, switches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from mtrlib.data.authored.records import Authored, Record
from mtrlib.data.authored.wording import (
    VERBOSE_WORDS,
    CopyCheck,
    may_depend_on_history,
    names_the_source,
    shared_stems,
)
from mtrlib.data.schema import Passage
from mtrlib.data.strings import answer_tokens, contains_answer

LABELS = frozenset(
    "standalone context_dependent verbose lexical_gap ambiguous topic_switch unanswerable".split()
)
CONVERSATIONS, TURNS, SWITCHES, ARTICLES, MULTI_GOLD = 32, 8, 16, 60, 60
QUOTAS = {
    "context_dependent": 100,
    "verbose": 40,
    "lexical_gap": 30,
    "ambiguous": 15,
    "topic_switch": SWITCHES,
    "unanswerable": 10,
}


def check_conversations(
    found: Authored, passages: Mapping[str, Passage], copies: CopyCheck
) -> Iterator[str]:
    """Yield every problem, each naming its turn."""
    ids = [c["conversation_id"] for c in found.conversations]
    yield from (f"mtr-mini: {i} occurs twice" for i, n in Counter(ids).items() if n > 1)
    if len(ids) != CONVERSATIONS:
        yield f"mtr-mini: {len(ids)} conversations, must be {CONVERSATIONS}"
    for conversation in found.conversations:
        yield from _conversation(conversation)
    for query_id, conversation, turn in found.turns():
        yield from _labels(query_id, conversation, turn)
        yield from _answers(query_id, turn, passages)
        yield from copies.problems(query_id, turn["raw_utterance"], turn["answer"])
        if names_the_source(f"{turn['raw_utterance']} {turn['answer']}"):
            yield f"{query_id}: speaks of the passage or the text"
    yield from _totals(found, passages)


def _conversation(conversation: Record) -> Iterator[str]:
    name, switch = conversation["conversation_id"], conversation["topic_switch_turn"]
    numbers = [t["turn_number"] for t in conversation["turns"]]
    if numbers != list(range(1, TURNS + 1)):
        yield f"{name}: turns are numbered {numbers}, must be 1 to {TURNS}"
    if switch is not None and not 3 <= switch <= 6:
        yield f"{name}: the topic switches at turn {switch}, must be 3 to 6"


def _labels(query_id: str, conversation: Record, turn: Record) -> Iterator[str]:
    labels, utterance = set(turn["labels"]), turn["raw_utterance"]
    if labels - LABELS:
        yield f"{query_id}: unknown label {sorted(labels - LABELS)[0]}"
    if len(labels & {"standalone", "context_dependent"}) != 1:
        yield f"{query_id}: must be either standalone or context_dependent"
    if turn["turn_number"] == 1 and "standalone" not in labels:
        yield f"{query_id}: a first turn has no history to depend on"
    if "context_dependent" in labels and not may_depend_on_history(utterance):
        yield f"{query_id}: labelled context_dependent, but nothing in it points back"
    if ("verbose" in labels) != (len(utterance.split()) >= VERBOSE_WORDS):
        yield f"{query_id}: {len(utterance.split())} words and the label verbose do not agree"
    is_switch = turn["turn_number"] == conversation["topic_switch_turn"]
    if ("topic_switch" in labels) != is_switch:
        yield f"{query_id}: label topic_switch and topic_switch_turn do not agree"
    if is_switch and "standalone" not in labels:
        yield f"{query_id}: a new topic must open with a self-contained question"
    if ("unanswerable" in labels) != (not turn["gold"]):
        yield f"{query_id}: label unanswerable and gold do not agree"
    if ("ambiguous" in labels) != bool(turn.get("second_referent")):
        yield f"{query_id}: label ambiguous and second_referent do not agree"


def _answers(query_id: str, turn: Record, passages: Mapping[str, Passage]) -> Iterator[str]:
    gold = [passages[g] for g in turn["gold"] if g in passages]
    yield from (f"{query_id}: no passage {g}" for g in turn["gold"] if g not in passages)
    if len(set(turn["gold"])) != len(turn["gold"]):
        yield f"{query_id}: a gold passage is listed twice"
    if bool(turn["gold"]) != bool(turn["answer"]) or bool(turn["gold"]) != bool(
        turn["answer_strings"]
    ):
        yield f"{query_id}: gold, answer and answer_strings go together"
    for aliases in turn["answer_strings"]:
        if not any(contains_answer(f"{p.title} {p.text}", aliases) for p in gold):
            yield f"{query_id}: answer string {aliases[0]!r} stands in no gold passage"
    if "lexical_gap" in turn["labels"]:
        for passage in gold:
            shared = shared_stems(turn["raw_utterance"], passage)
            if len(shared) > 1:
                yield (
                    f"{query_id}: labelled lexical_gap, but shares {sorted(shared)} with "
                    f"{passage.passage_id}"
                )


def _totals(found: Authored, passages: Mapping[str, Passage]) -> Iterator[str]:
    labels = Counter(label for _, _, t in found.turns() for label in t["labels"])
    for label, least in QUOTAS.items():
        if labels[label] < least:
            yield f"mtr-mini: {labels[label]} turns are {label}, at least {least} are asked for"
    multi = sum(len(t["gold"]) > 1 for _, _, t in found.turns())
    if multi < MULTI_GOLD:
        yield f"mtr-mini: {multi} turns have two or more gold, at least {MULTI_GOLD} are asked for"
    titles = {passages[g].title for _, _, t in found.turns() for g in t["gold"] if g in passages}
    if len(titles) < ARTICLES:
        yield f"mtr-mini: gold in {len(titles)} articles, at least {ARTICLES} are asked for"
    questions = Counter(" ".join(answer_tokens(t["raw_utterance"])) for _, _, t in found.turns())
    yield from (f"mtr-mini: asked twice: {q}" for q, n in questions.items() if n > 1)
