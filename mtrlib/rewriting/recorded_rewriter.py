"""Rewrites that were written beforehand (rewrites-mini), as a rewriter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from mtrlib.errors import InputError
from mtrlib.rewriting.guards import text_guard, without_repeats
from mtrlib.rewriting.mentions import plain
from mtrlib.rewriting.rewrites import KINDS, Rewrite, Task

Record = Mapping[str, Any]


class RecordedRewriter:
    """Looks rewrites up by query id and puts them through the same guards as replies.

    Every rewrite counts as the one call that it stands for; its seconds are unknown (NaN), so
    a latency budget is "not measured". The recorded text is that of the turn: what a chain
    did to the query before has no influence on it.

    Parameters
    ----------
    records : query id -> record in the form of rewrites-mini, for example
        ``load_authored().rewrites``.
    """

    name = "recorded"

    def __init__(self, records: Mapping[str, Record]) -> None:
        self._records = records

    def rewrite(self, kind: str, tasks: Sequence[Task]) -> list[Rewrite]:
        """As :class:`mtrlib.rewriting.rewrites.Rewriter`.

        Raises
        ------
        InputError
            Unknown kind, or a record that lacks a field; the query is named.
        """
        if kind not in KINDS:
            raise InputError(f"rewrites of kind {kind!r} are unknown. Known: {', '.join(KINDS)}.")
        return without_repeats(tasks, [self._one(kind, task) for task in tasks])

    def _one(self, kind: str, task: Task) -> Rewrite:
        record = self._records.get(task.query_id)
        if record is None:
            return Rewrite(task.query_id, wanted=task.wanted, failed="not recorded")
        try:
            return _READ[kind](record, task)
        except (KeyError, TypeError) as error:
            raise InputError(
                f"recorded rewrites of {task.query_id}: {kind} has no {error}. Mend: see the "
                "README of rewrites-mini for the fields."
            ) from None

    def evidence(self) -> dict[str, tuple[tuple[str, ...], ...]]:
        """Query id -> evidence pieces: for each sub-query the passages that hold its answer.

        Any of the passages of a piece will do. A query that needs no decomposition has no
        pieces: somebody looked, and one passage is enough.
        """
        return {
            query_id: tuple(tuple(piece) for piece in record["decomposition"]["evidence"])
            for query_id, record in self._records.items()
        }


def _checked(task: Task, texts: Sequence[str], **fields: Any) -> Rewrite:
    """The texts that pass the guards; copies of the query among several are left out."""
    problems = {text: text_guard(text, task.text) for text in texts}
    if len(texts) > 1:
        problems |= {t: "copy" for t in texts if plain(t) == plain(task.text)}
    kept = tuple(dict.fromkeys(t for t in texts if not problems[t]))
    failed = "" if kept else next(filter(None, problems.values()), "empty")
    notes = tuple(f"{problem}: {text}" for text, problem in problems.items() if problem)
    return Rewrite(
        task.query_id,
        kept[: task.wanted] if fields.pop("cut", False) else kept,
        task.wanted,
        failed,
        calls=1,
        seconds=math.nan,
        notes=notes,
        **fields,
    )


def _standalone(record: Record, task: Task) -> Rewrite:
    found = record["standalone"]
    return _checked(
        task,
        [found["query"]],
        confidence=found["confidence"],
        entities=tuple(found["entities"]),
    )


def _decomposition(record: Record, task: Task) -> Rewrite:
    found = record["decomposition"]
    decided: dict[str, Any] = {
        "need_decompose": found["need_decompose"],
        "single_chunk": found["answer_in_single_chunk"],
    }
    if not found["need_decompose"]:
        return Rewrite(task.query_id, calls=1, seconds=math.nan, **decided)
    return _checked(task, found["sub_queries"], **decided)


_READ = {
    "standalone": _standalone,
    "decomposition": _decomposition,
    "variants": lambda record, task: _checked(task, record["variants"], cut=True),
    "hypothetical": lambda record, task: _checked(task, [record["hypothetical"]]),
    "hypothetical_careful": lambda record, task: _checked(task, [record["hypothetical_careful"]]),
    "author_voice": lambda record, task: _checked(task, [record["author_voice"]]),
}
