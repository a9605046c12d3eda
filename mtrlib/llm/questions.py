"""The one question type behind all wire formats, and what an answer to it can be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mtrlib.errors import InputError

# why there is no value; nothing else may stand in `Verdict.reason` of an unread reply
REASONS = (
    "off_scale",  # a number on another scale, as 8/10 where 1 to 5 was asked
    "out_of_range",  # on the scale's form, but outside it
    "not_whole",  # 3.5 where whole numbers were asked
    "ambiguous",  # two different verdicts
    "empty",
    "refusal",
    "truncated",  # cut by the token limit before a verdict
    "no_score",  # words, but no verdict
    "failed",  # the endpoint gave no reply
    "not_recorded",  # replay only, and nothing is stored for this request
    "not_applicable",  # the judge does not judge this metric, or the item lacks what it needs
)


@dataclass(frozen=True, slots=True)
class Predicate:
    """A yes-or-no question; its verdict is the probability of yes, 1.0 or 0.0 from plain text."""

    instructions: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several labels; its verdict is the label.

    Attributes
    ----------
    options : label -> what it stands for ("" where the prompt has shown that already).
    """

    instructions: str
    options: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Score:
    """A level of an ordered scale; its verdict is a number on that scale.

    Attributes
    ----------
    levels : names from the lowest to the highest level.
    low : number of the lowest level; the highest is ``low + len(levels) - 1``.
    """

    instructions: str
    levels: tuple[str, ...]
    low: int = 1

    @property
    def high(self) -> int:
        """Number of the highest level."""
        return self.low + len(self.levels) - 1


Question = Predicate | Choice | Score


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge said, or why nothing can be read.

    Attributes
    ----------
    value : a probability (Predicate), a label (Choice), a number on the scale (Score), or
        None: missing, never a score.
    reason : one of ``REASONS`` where the value is missing, else "".
    probabilities : label or level (as text) -> probability, where the judge gives them.
    """

    value: float | str | None
    reason: str = ""
    probabilities: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.value is None and self.reason not in REASONS:
            raise InputError(f"verdict without value and with the reason {self.reason!r}.")
        if self.value is not None and self.reason:
            raise InputError(f"verdict {self.value!r} carries the reason {self.reason!r} too.")

    @classmethod
    def missing(cls, reason: str) -> Verdict:
        """No value, for one of ``REASONS``."""
        return cls(None, reason)
