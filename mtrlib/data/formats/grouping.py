"""From one row per turn to conversations, for the sets that publish rows.

Rows of one conversation that stand next to each other are grouped as they pass, so that memory
is that of one conversation. Where a conversation comes back after another one began, that is
not possible: the readers then stop, name both rows, and offer ``contiguous=False``, which holds
all turns (without passages) and groups them at the end. No row ever becomes a conversation of
its own merely because its neighbours are others.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from mtrlib.data.schema import Conversation, Turn
from mtrlib.errors import InputError

MEND = "sort the rows by conversation, or read with contiguous=False (holds all turns)"


def by_number(
    turns: Iterable[Turn], path: Path, *, contiguous: bool = True
) -> Iterator[Conversation]:
    """Group turns that carry the id of their conversation; inside one they go by number.

    Raises
    ------
    InputError
        The rows of a conversation are apart (unless ``contiguous`` is False), or one of its
        turn numbers occurs twice.
    """
    groups: dict[str, list[Turn]] = {}
    ended: dict[str, str] = {}
    for turn in turns:
        if contiguous and groups and turn.conversation_id not in groups:
            for key, group in groups.items():
                yield _in_order(key, group, path)
                ended[key] = group[-1].source
            groups.clear()
        if turn.conversation_id in ended:
            raise _apart(path, turn.source, ended[turn.conversation_id])
        groups.setdefault(turn.conversation_id, []).append(turn)
    for key, group in groups.items():
        yield _in_order(key, group, path)


def _in_order(key: str, group: list[Turn], path: Path) -> Conversation:
    turns = sorted(group, key=lambda t: t.turn_number)
    for one, other in pairwise(turns):
        if one.turn_number == other.turn_number:
            raise InputError(
                f"{path}: {other.source}: conversation {key} has turn {other.turn_number} twice "
                f"(also {one.source}). Mend: keep one of the rows."
            )
    return Conversation(key, tuple(turns))


@dataclass(frozen=True, slots=True)
class Row:
    """A turn whose set gives conversations no id: its history is what identifies it.

    Attributes
    ----------
    document : rows of different documents are never of one conversation.
    said : ``(role, text)`` of all messages up to the question itself.
    turn : the turn, its ids still empty.
    """

    document: str
    said: tuple[tuple[str, str], ...]
    turn: Turn

    def states(self) -> list[bytes]:
        """Digests of the conversation at each user message, the question itself last."""
        digest = hashlib.blake2b(self.document.encode(), digest_size=16)
        found = []
        for role, text in self.said:
            digest.update(f"\x1e{role}\x1f{text}".encode())
            if role == "user":
                found.append(digest.copy().digest())
        return found


def by_history(
    rows: Iterable[Row], path: Path, *, contiguous: bool = True
) -> Iterator[Conversation]:
    """Group rows of which each begins with what the row before it said.

    Conversations are numbered in the order of their first rows, from 1, and a question's id is
    ``<conversation>_<turn>``. Turns may be missing from the file; a row that builds on no other
    begins a conversation.

    Raises
    ------
    InputError
        A row builds on a conversation that had already ended, or on a row that only comes
        later (unless ``contiguous`` is False: then a row joins the conversation with the
        longest common beginning, wherever that stands before it).
    """
    open_: dict[bytes, list[Turn]] = {}  # by what the conversation said last
    order: list[list[Turn]] = []
    ended: dict[bytes, str] = {}
    missing: dict[bytes, str] = {}
    number = 0
    for row in rows:
        *before, now = row.states()
        known = next((s for s in reversed(before) if s in open_), None)
        if known is not None:
            open_[now] = open_.pop(known)
            open_[now].append(row.turn)
            continue
        if contiguous:
            for state, group in open_.items():
                number += 1
                yield _numbered(str(number), group)
                ended[state] = group[-1].source
            open_.clear()
            order.clear()
            earlier = next((ended[s] for s in reversed(before) if s in ended), missing.get(now))
            if earlier:
                raise _apart(path, row.turn.source, earlier)
            # many dialogues open alike, so a shared first question proves nothing
            missing.update(dict.fromkeys(before[1:], row.turn.source))
        open_[now] = [row.turn]
        order.append(open_[now])
    for last, group in enumerate(order, start=number + 1):
        yield _numbered(str(last), group)


def _numbered(key: str, group: list[Turn]) -> Conversation:
    return Conversation(
        key,
        tuple(
            dataclasses.replace(t, conversation_id=key, query_id=f"{key}_{t.turn_number}")
            for t in group
        ),
    )


def _apart(path: Path, source: str, earlier: str) -> InputError:
    return InputError(
        f"{path}: {source}: continues the conversation of {earlier}, with other rows between. "
        f"Mend: {MEND}."
    )
