"""The rewrites that a benchmark brings along, as a rewriter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mtrlib.data.schema import Turn
from mtrlib.errors import InputError
from mtrlib.rewriting.guards import text_guard, without_repeats
from mtrlib.rewriting.rewrites import KINDS, Rewrite, Task

FIELDS = {"standalone": "rewrite", "author_voice": "author_voice"}  # kind -> field of a turn


class GivenRewriter:
    """Gives the ``rewrite`` and ``author_voice`` of each turn; other kinds are not offered.

    They pass the same guards as the replies of a model. Somebody wrote them beforehand, so no
    call is counted.

    Parameters
    ----------
    turns : of the benchmark, with or without rewrites.
    """

    name = "rewrites of the file"

    def __init__(self, turns: Iterable[Turn]) -> None:
        self._turns = {t.query_id: t for t in turns}

    def rewrite(self, kind: str, tasks: Sequence[Task]) -> list[Rewrite]:
        """As :class:`mtrlib.rewriting.rewrites.Rewriter`; ``failed`` is ``none given`` for gaps.

        Raises
        ------
        InputError
            Unknown kind.
        """
        if kind not in KINDS:
            raise InputError(f"rewrites of kind {kind!r} are unknown. Known: {', '.join(KINDS)}.")
        if kind not in FIELDS:
            return [Rewrite(t.query_id, wanted=t.wanted, failed="not offered") for t in tasks]
        return without_repeats(tasks, [self._one(FIELDS[kind], task) for task in tasks])

    def _one(self, field: str, task: Task) -> Rewrite:
        turn = self._turns.get(task.query_id)
        text = getattr(turn, field) if turn else None
        if not text:
            return Rewrite(task.query_id, failed="none given")
        problem = text_guard(text, task.text)
        return Rewrite(task.query_id, () if problem else (text,), failed=problem)
