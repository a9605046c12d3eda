"""What the stages of the pipeline hand on: drafts of turns and conversations, and rejects.

A conversation and its turns keep their ids from birth to export. Stages never join by row
number: in the released code of MTR-Suite one dropped row shifts questions to other
conversations (``mtr.md`` counts 94% of positions at a drop rate of 0.01% a turn).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mtrlib.data.schema import Conversation, Turn, Utterance


@dataclass(frozen=True)
class DraftTurn:
    """One synthesised turn.

    Attributes
    ----------
    question : as it stands now, humanised or not.
    standalone : the question as the query agent wrote it, self-contained.
    gold : passage ids; the claimed one first, then rivals that the verifiers accepted.
    answer : of the response agent.
    self_contained : ``question`` can open a conversation (a topic switch needs one).
    labels : what was done to it, e.g. ``verbose``, ``context_dependent``.
    """

    turn_id: str
    question: str
    gold: tuple[str, ...]
    answer: str
    standalone: str = ""
    self_contained: bool = True
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class DraftConversation:
    """Turns in order. ``clusters`` are those its passages come from: one, or two after a switch.

    ``switch_turn`` is the number (from 1) of the turn that starts the second topic.
    """

    conversation_id: str
    clusters: tuple[str, ...]
    turns: tuple[DraftTurn, ...] = ()
    switch_turn: int | None = None
    split: str = ""


@dataclass(frozen=True)
class Reject:
    """Something that a stage did not let through; kept and counted, never silent.

    Attributes
    ----------
    stage : ``query``, ``source_wording``, ``used_before``, ``answerable``, ``unique``,
        ``response``, ``faithful``, ``humanise``, ``switch``.
    reason : short and from a small set per stage, for counting.
    detail : what a person needs to see why; never text of a passage.
    """

    conversation_id: str
    turn_number: int
    stage: str
    reason: str
    detail: str = ""


@dataclass
class Synthesised:
    """What a run has made so far. ``attempts`` counts what entered each stage."""

    conversations: list[DraftConversation] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    attempts: dict[str, int] = field(default_factory=dict)


def as_conversation(draft: DraftConversation) -> Conversation:
    """The draft in the project's schema; histories are made of its own turns, in order."""
    history: list[Utterance] = []
    turns = []
    for number, turn in enumerate(draft.turns, start=1):
        turns.append(
            Turn(
                query_id=turn.turn_id,
                conversation_id=draft.conversation_id,
                turn_number=number,
                raw_utterance=turn.question,
                history=tuple(history),
                gold=turn.gold,
                rewrite=turn.standalone or None,
                answer=turn.answer,
                labels=turn.labels,
            )
        )
        history += [Utterance("user", turn.question), Utterance("agent", turn.answer)]
    return Conversation(draft.conversation_id, tuple(turns), draft.switch_turn)
