"""What a rewriter is asked and what it gives back: one form for recorded, ruled and LLM ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from mtrlib.data.schema import Turn, Utterance

KINDS = (
    "standalone",
    "decomposition",
    "variants",
    "hypothetical",
    "hypothetical_careful",
    "author_voice",
)


@dataclass(frozen=True, slots=True)
class Task:
    """One query to rewrite.

    Attributes
    ----------
    text : the query as it stands now: the raw utterance, or the standalone query.
    history : utterances that the rewriter may see, oldest first.
    wanted : texts asked for; only variants want more than one.
    """

    query_id: str
    text: str
    history: tuple[Utterance, ...] = ()
    wanted: int = 1


@dataclass(frozen=True, slots=True)
class Rewrite:
    """What came back for one task, checked.

    Attributes
    ----------
    texts : usable texts; empty where there is none, and ``failed`` says why.
    wanted : as asked. ``got`` counts usable texts.
    failed : "" or the reason; the original query is used then, and the item counted.
    calls : calls made for it; a replayed reply counts as the call it stands for.
    seconds : they took; NaN where nobody measured them (recorded rewrites).
    confidence : of a standalone query, in [0, 1]; None = not given or not readable.
    entities : that a standalone query filled in.
    need_decompose, single_chunk : what a decomposer decided; None where not asked.
    notes : what was dropped and why, for people.
    """

    query_id: str
    texts: tuple[str, ...] = ()
    wanted: int = 1
    failed: str = ""
    calls: int = 0
    seconds: float = 0.0
    confidence: float | None = None
    entities: tuple[str, ...] = ()
    need_decompose: bool | None = None
    single_chunk: bool | None = None
    notes: tuple[str, ...] = ()

    @property
    def got(self) -> int:
        """Usable texts."""
        return len(self.texts)


class Rewriter(Protocol):
    """Writes queries anew; ``name`` stands in tables and manifests."""

    name: str

    def rewrite(self, kind: str, tasks: Sequence[Task]) -> list[Rewrite]:
        """One result per task, in order; ``kind`` is one of ``KINDS``.

        A rewrite that fails a guard comes back without texts and with the reason. A rewriter
        that does not offer a kind says so in ``failed`` (``not offered``).
        """


def tasks_for(
    turns: Iterable[Turn],
    texts: Mapping[str, str] | None = None,
    *,
    history_turns: int = 0,
    wanted: int = 1,
) -> list[Task]:
    """One task per turn.

    Parameters
    ----------
    texts : query id -> the text to rewrite; None, or a query it lacks = the raw utterance.
    history_turns : exchanges of the history that are shown: each a question of the user with
        the replies to it; 0 = none.
    """
    given = texts or {}
    return [
        Task(
            t.query_id,
            given.get(t.query_id, t.raw_utterance),
            _last_turns(t.history, history_turns),
            wanted,
        )
        for t in turns
    ]


def _last_turns(history: Sequence[Utterance], turns: int) -> tuple[Utterance, ...]:
    """The newest exchanges of a history, each from the user's words on."""
    starts = [i for i, u in enumerate(history) if u.role == "user"]
    if turns < 1 or not history:
        return ()
    first = starts[-turns] if len(starts) >= turns else 0
    return tuple(history[first:])
