"""The parameters of the loop, with the paper's defaults, and what a verifier must offer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from mtrlib.data.schema import Passage
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import InputError

Seen = Literal["mask", "allow"]
ContextPolicy = Literal["oldest", "newest", "best"]


@dataclass(frozen=True)
class RvrSettings:
    """Parameters of one run. Defaults are the paper's where it states them.

    Attributes
    ----------
    rounds : T, retrievals in all; the list of the last one is not verified.
    k : K, passages in the output, and retrieved in each round.
    budget : B, passages verified in each round but the last.
    context : M, verified passages that join the question, at most.
    seen : whether passages verified before may come back in later lists (``allow``) or are
        passed over, with as many more retrieved (``mask``). The paper names no masking. With
        T = 2 the output under ``allow`` is the same as if accepted passages alone were passed
        over; ``mask`` also bars the rejected ones, which a weak verifier rejects wrongly.
    context_policy : which of the verified passages join the question once there are more
        than M: the ``oldest`` (round by round, by rank), the ``newest``, or the ``best`` by
        the verifier's score. With T = 2 they are the first M by rank, as published.
    fill : back-fill with rejected passages of the first round where fewer than K are left;
        off, and flagged in the trace where it is used.
    """

    rounds: int = 2
    k: int = 100
    budget: int = 100
    context: int = 6
    seen: Seen = "allow"
    context_policy: ContextPolicy = "oldest"
    fill: bool = False

    def __post_init__(self) -> None:
        for name, least in (("rounds", 1), ("k", 1), ("budget", 0), ("context", 0)):
            if getattr(self, name) < least:
                raise InputError(f"{name}={getattr(self, name)} must be at least {least}.")
        for name, choices in (
            ("seen", get_args(Seen)),
            ("context_policy", get_args(ContextPolicy)),
        ):
            if getattr(self, name) not in choices:
                known = ", ".join(choices)
                raise InputError(f"{name}={getattr(self, name)!r} is unknown. Known: {known}.")


@dataclass(frozen=True, slots=True)
class Verified:
    """What a verifier said about one passage.

    Attributes
    ----------
    accepted : an unreadable reply is a rejection, never an acceptance.
    score : support in [0, 1] where the verifier has one, for policies and early stopping.
    reason : why there is no verdict, one of :data:`mtrlib.llm.questions.REASONS`; else "".
    """

    accepted: bool
    score: float | None = None
    reason: str = ""


class Verifier(Protocol):
    """g(d, q) of the paper. ``calls`` counts passages judged so far, ``cached`` those replayed."""

    name: str
    calls: int
    cached: int

    def verify(self, pairs: Sequence[tuple[ListQuestion, Passage]]) -> list[Verified]:
        """One verdict per pair, in order; a batch may hold many questions."""
