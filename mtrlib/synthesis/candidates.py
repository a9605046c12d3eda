"""What the agents and verifiers hand to each other: a turn on its way, or why it ended."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from mtrlib.data.schema import Passage, Utterance


@dataclass(frozen=True)
class Candidate:
    """A turn that is not accepted yet.

    Attributes
    ----------
    turn_number : from 1, the number that the turn will have if it is accepted.
    question : as it is to stand in the conversation.
    gold : the claimed passage first, then rivals that were judged to answer too.
    history : the accepted turns before it.
    used : gold of the accepted turns before it, passage ids.
    standalone : a self-contained wording, where ``question`` is none; "" = ``question``.
    sample : number of the try, part of the requests' keys.
    """

    conversation_id: str
    turn_number: int
    question: str
    gold: tuple[Passage, ...]
    history: tuple[Utterance, ...] = ()
    used: frozenset[str] = frozenset()
    answer: str = ""
    standalone: str = ""
    sample: int = 0

    @property
    def search_text(self) -> str:
        """What the corpus is searched with: both wordings, so that neither's rivals hide."""
        parts = dict.fromkeys(part for part in (self.standalone, self.question) if part)
        return "\n".join(parts)

    @property
    def note(self) -> str:
        """For people who read the store."""
        return f"{self.conversation_id} turn {self.turn_number}"


@dataclass(frozen=True)
class Problem:
    """Why something did not get through: a reason from a small set, and a detail to read."""

    reason: str
    detail: str = ""


Outcome = Candidate | Problem  # what a stage makes of a candidate


def seed_of(*parts: str | int) -> int:
    """A seed from stable text, below 2**31 so that every server takes it."""
    text = json.dumps(parts, ensure_ascii=False)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) % 2**31
