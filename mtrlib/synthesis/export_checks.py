"""What every export refuses, how it divides conversations, and what it says about itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from mtrlib.data.schema import Passage, corpus_digest
from mtrlib.errors import InputError
from mtrlib.synthesis.drafts import DraftConversation, DraftTurn

UNSPLIT = "test"  # what readers of BEIR take where nothing is said
_SPLIT = re.compile(r"[A-Za-z0-9][\w.-]*")


def check_drafts(conversations: Iterable[DraftConversation], passages: Sequence[Passage]) -> None:
    """Refuse what no layout can carry.

    Raises
    ------
    InputError
        As :func:`mtrlib.synthesis.export.export_plain`.
    """
    known = {p.passage_id for p in passages}
    if len(known) < len(passages):
        raise InputError("passage ids repeat in the corpus. Mend: keep one passage for each id.")
    seen: set[str] = set()
    names: set[str] = set()
    for conversation in conversations:
        name = conversation.conversation_id
        if name in names or not conversation.turns:
            problem = "occurs twice" if name in names else "has no turns"
            raise InputError(f"conversation {name} {problem}. Mend: export each once, with turns.")
        names.add(name)
        for turn in conversation.turns:
            where = f"conversation {name}, turn {turn.turn_id}"
            if turn.turn_id in seen:
                raise InputError(f"{where}: this id occurs twice. Mend: keep ids from birth.")
            seen.add(turn.turn_id)
            lost = [g for g in turn.gold if g not in known]
            if lost or not turn.gold:
                problem = f"gold {lost[0]} is not in the corpus" if lost else "no gold"
                raise InputError(
                    f"{where}: {problem}. Mend: export with the corpus it was made on."
                )
            if not turn.question.strip() or not _is_unicode(turn):
                raise InputError(
                    f"{where}: no question, or text with half a character. Mend: drop it."
                )


def by_split(conversations: Iterable[DraftConversation]) -> dict[str, list[DraftConversation]]:
    """Conversations by split, in their order; ``""`` is ``test``.

    Raises
    ------
    InputError
        A split that cannot be part of a file name.
    """
    found: dict[str, list[DraftConversation]] = {}
    for conversation in conversations:
        split = conversation.split or UNSPLIT
        if not _SPLIT.fullmatch(split):
            raise InputError(f"split {split!r} is no file name. Mend: use letters and digits.")
        found.setdefault(split, []).append(conversation)
    return found


def manifest(
    layout: str, conversations: Sequence[DraftConversation], passages: Sequence[Passage]
) -> dict[str, Any]:
    """What an export holds: layout, counts per split, size and digest of the corpus."""
    splits = {
        split: {"conversations": len(found), "turns": sum(len(c.turns) for c in found)}
        for split, found in by_split(conversations).items()
    }
    return {
        "layout": layout,
        "splits": splits,
        "passages": len(passages),
        "corpus": corpus_digest(passages),
    }


def _is_unicode(turn: DraftTurn) -> bool:
    # a model's JSON may hold a lone surrogate, which no UTF-8 file can
    texts = turn.question + turn.standalone + turn.answer
    return not any("\ud800" <= c <= "\udfff" for c in texts)
