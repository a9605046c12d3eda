"""What a method plans for a query: which texts are searched, and why it keeps out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from mtrlib.data.schema import Turn
from mtrlib.errors import InputError

ORIGINAL = "original"

Lists = Mapping[str, tuple[str, ...]]  # path name -> passage ids, best first


@dataclass(frozen=True, slots=True)
class Path:
    """One text to search for a query.

    Attributes
    ----------
    depth : passages of its list that enter the fusion; 0 = as :class:`Fusion` says.
    weight : in the fusion.
    """

    name: str
    text: str
    depth: int = 0
    weight: float = 1.0


@dataclass(frozen=True)
class Planned:
    """What a method does with one query.

    Attributes
    ----------
    paths : rewrites to search, without the original.
    keep_original : the original is one of the fused paths.
    off : why the method is not used for this query; "" = used. No model was asked where a gate
        was closed before the call.
    failed : the rewriter gave nothing usable: the original alone is searched.
    wanted, got : texts asked for and usable.
    calls, seconds : of the rewriter; seconds NaN = not measured.
    original_depth : passages of the original's list that enter the fusion; 0 = default.
    notes : numbers and texts for the measures of the method.
    """

    query_id: str
    paths: tuple[Path, ...] = ()
    keep_original: bool = True
    off: str = ""
    failed: str = ""
    wanted: int = 0
    got: int = 0
    calls: int = 0
    seconds: float = 0.0
    original_depth: int = 0
    notes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Fusion:
    """How paths become one list.

    Attributes
    ----------
    k : constant of RRF, ranks from 1.
    top_n : passages in the fused list.
    per_path : passages of each path that enter the fusion.
    prompt_size : passages that reach the prompt, from the top of the fused list.
    fill : a fused list shorter than ``top_n`` is filled up from the original's list, below
        everything that was fused. HyDE fuses ten and ten, so without this its list would be
        shorter than the list it is compared with. [D]
    """

    k: float = 60
    top_n: int = 20
    per_path: int = 20
    prompt_size: int = 5
    fill: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.prompt_size <= self.top_n or self.per_path < 1:
            raise InputError(
                f"prompt_size={self.prompt_size}, top_n={self.top_n}, per_path={self.per_path}: "
                "all must be 1 or more, and the prompt must fit into the list."
            )


def noted(plan: Planned, name: str, default: Any) -> Any:
    """A note of a plan, or of the step of a chain that made it."""
    parts = [plan, *plan.notes.get("parts", {}).values()]
    return next((part.notes[name] for part in parts if name in part.notes), default)


def paths_of(plan: Planned, kind: str) -> list[Path]:
    """Paths of one kind: "sub" for "sub 1" and, in a chain, for "decomposition: sub 1"."""
    return [p for p in plan.paths if p.name.split(": ")[-1].split()[0] == kind]


class Method(Protocol):
    """Coreference, decomposition, multi-query or HyDE."""

    @property
    def name(self) -> str:
        """As in tables."""

    def plan(self, turns: Sequence[Turn], texts: Mapping[str, str]) -> list[Planned]:
        """One plan per turn, in order; the rewriter is asked for all of them in one batch."""

    def settle(self, planned: Planned, lists: Lists) -> Planned:
        """The plan after a look at the lists of its paths (a veto may drop all of them)."""
