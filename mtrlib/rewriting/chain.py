"""The chain of methods: coreference, decomposition, multi-query, HyDE, each with its switch."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mtrlib.data.schema import Turn
from mtrlib.errors import InputError
from mtrlib.rewriting.coreference import STANDALONE, Coreference
from mtrlib.rewriting.mentions import plain
from mtrlib.rewriting.plans import ORIGINAL, Lists, Method, Path, Planned

ORDER = ("coreference", "decomposition", "multi_query", "hyde")
_SEPARATOR = ": "


@dataclass(frozen=True)
class Chain:
    """Several methods as one: the paths of all of them are fused together, once.

    Later steps rewrite the standalone query of the first one, whatever its confidence: a
    pronoun must not reach them; where the confidence is low the original is searched beside
    it. [D] A text that two steps give is searched and counted once.

    Attributes
    ----------
    steps : methods in the order of :data:`ORDER`; any may be missing.
    off : names of steps that are switched off, for an A/B.

    Raises
    ------
    InputError
        No step, a step twice, a name in ``off`` that is no step, or an order in which
        references are resolved after variants were made of them.
    """

    steps: tuple[Method, ...]
    off: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        names = [step.name for step in self.steps]
        if not names or len(set(names)) < len(names):
            raise InputError(f"a chain of {names}. Mend: one or more different methods.")
        if unknown := sorted(self.off - set(names)):
            raise InputError(f"{unknown[0]!r} is switched off, but the steps are {names}.")
        _check_order(names)

    @property
    def name(self) -> str:
        """The steps that are on, joined by " + "; "nothing" if none is."""
        return " + ".join(step.name for step in self.on) or "nothing"

    @property
    def on(self) -> list[Method]:
        """The steps that are switched on, in order."""
        return [step for step in self.steps if step.name not in self.off]

    @property
    def rewriter(self) -> Any:
        """The rewriter of the first step."""
        return getattr(self.steps[0], "rewriter", None)

    def plan(self, turns: Sequence[Turn], texts: Mapping[str, str]) -> list[Planned]:
        """As :class:`mtrlib.rewriting.plans.Method`; steps are asked one after the other."""
        now = dict(texts)
        parts: dict[str, dict[str, Planned]] = {t.query_id: {} for t in turns}
        for step in self.on:
            for planned in step.plan(turns, now):
                parts[planned.query_id][step.name] = planned
                if isinstance(step, Coreference):
                    new = next((p.text for p in planned.paths if p.name == STANDALONE), None)
                    now[planned.query_id] = new or now[planned.query_id]
        return [_merged(t.query_id, parts[t.query_id], repeats=True) for t in turns]

    def settle(self, planned: Planned, lists: Lists) -> Planned:
        """Let every step look at the lists of its own paths."""
        parts: Mapping[str, Planned] = planned.notes.get("parts", {})
        settled = {}
        for step in self.on:
            if step.name in parts:
                own = _own_lists(step.name, parts[step.name], lists)
                settled[step.name] = step.settle(parts[step.name], own)
        return _merged(planned.query_id, settled) if settled else planned


def _check_order(names: Sequence[str]) -> None:
    """Refuse an order in which a step comes before one that it needs.

    Raises
    ------
    InputError
        The steps are not in the order of :data:`ORDER`; the mend gives the right one.
    """
    right = sorted(names, key=lambda n: ORDER.index(n) if n in ORDER else len(ORDER))
    if right == list(names):
        return
    late = "coreference" in names[1:]
    why = (
        "references must be resolved before anything is made of the query"
        if late
        else "later steps would rewrite what an earlier one should have seen"
    )
    raise InputError(f"order {list(names)}: {why}. Mend: {right}.")


def _merged(query_id: str, parts: Mapping[str, Planned], *, repeats: bool = False) -> Planned:
    """All paths of all steps in one plan; equal texts become one path.

    Parameters
    ----------
    repeats : keep equal texts apart, as long as a veto may still drop the one or the other.
    """
    paths: dict[str, Path] = {}
    for step, part in parts.items():
        for path in part.paths:
            name = f"{step}{_SEPARATOR}{path.name}"
            key = name if repeats else plain(path.text)
            paths.setdefault(key, dataclasses.replace(path, name=name))
    used = [p for p in parts.values() if p.paths]
    return Planned(
        query_id,
        tuple(paths.values()),
        # a step that replaces the original does so for the chain
        keep_original=all(p.keep_original for p in used),
        off="" if used else "; ".join(f"{s}: {p.off}" for s, p in parts.items() if p.off),
        failed="; ".join(f"{s}: {p.failed}" for s, p in parts.items() if p.failed),
        wanted=sum(p.wanted for p in parts.values()),
        got=sum(p.got for p in parts.values()),
        calls=sum(p.calls for p in parts.values()),
        seconds=sum(p.seconds for p in parts.values()),
        original_depth=max((p.original_depth for p in used), default=0)
        if used and all(p.original_depth for p in used)
        else 0,
        notes={"parts": parts},
    )


def _own_lists(step: str, part: Planned, lists: Lists) -> dict[str, tuple[str, ...]]:
    own = {p.name: lists[f"{step}{_SEPARATOR}{p.name}"] for p in part.paths}
    return {**own, ORIGINAL: lists[ORIGINAL]}
