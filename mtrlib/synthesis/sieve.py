"""Stages in a row: what passes goes on, what does not is kept with its reason and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from mtrlib.synthesis.candidates import Problem
from mtrlib.synthesis.drafts import Reject


class Placed(Protocol):
    """Anything that belongs to one turn of one conversation."""

    @property
    def conversation_id(self) -> str:
        """Of the conversation."""

    @property
    def turn_number(self) -> int:
        """From 1, the number that the turn has or will have."""


In = TypeVar("In", bound=Placed)
Out = TypeVar("Out", bound=Placed)


@dataclass
class Sieve:
    """What a run turned away, and how much entered each stage.

    Attributes
    ----------
    last : the last thing turned away of each conversation, with its reason.
    """

    rejects: list[Reject] = field(default_factory=list)
    attempts: Counter[str] = field(default_factory=Counter)
    last: dict[str, tuple[Placed, str]] = field(default_factory=dict)

    def sift(
        self,
        stage: str,
        items: Sequence[In],
        check: Callable[[Sequence[In]], Sequence[Out | Problem]],
    ) -> list[Out]:
        """What passes a stage, in order.

        Parameters
        ----------
        check : gives, in the order of the items, each item as it goes on, or its problem.
            It is not called without items.
        """
        passed = []
        self.attempts[stage] += len(items)
        outcomes = check(items) if items else ()
        for item, outcome in zip(items, outcomes, strict=True):
            if isinstance(outcome, Problem):
                self.turn_away(stage, item, outcome)
            else:
                passed.append(outcome)
        return passed

    def turn_away(self, stage: str, item: Placed, problem: Problem) -> None:
        """Keep a reject."""
        where = (item.conversation_id, item.turn_number)
        self.rejects.append(Reject(*where, stage, problem.reason, problem.detail))
        self.last[item.conversation_id] = (item, problem.reason)
