"""How lists become one: which passages count as the same, what joins the question, what is output.

The paper says that verified documents and those of the last round are merged, not in which
order. Here: verified ones first, round by round and by rank, then the last round's list; the
first occurrence of a passage stays; cut to K. Scores of two retrievers, or of two queries,
have no common scale, so nothing is sorted by score (trap 11).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from mtrlib.data.schema import Passage
from mtrlib.rvr.context import passage_key
from mtrlib.rvr.settings import ContextPolicy


@dataclass(frozen=True, slots=True)
class Accepted:
    """A passage that a verifier accepted, in which round, and with which support."""

    passage: Passage
    round: int
    score: float | None = None


def distinct(passages: Iterable[Passage], without: Collection[str] = ()) -> list[Passage]:
    """Each passage once, at its first place; those whose key is in ``without`` are passed over.

    Parameters
    ----------
    without : keys as :func:`mtrlib.rvr.context.passage_key` makes them.
    """
    seen = set(without)
    kept = []
    for passage in passages:
        key = passage_key(passage)
        if key not in seen:
            seen.add(key)
            kept.append(passage)
    return kept


def context_passages(accepted: Sequence[Accepted], m: int, policy: ContextPolicy) -> list[Passage]:
    """The passages that join the question, D_ctx: at most m, best first.

    Parameters
    ----------
    accepted : round by round, by rank.
    policy : as :attr:`mtrlib.rvr.settings.RvrSettings.context_policy`. The paper leaves open
        what happens after round 2 (section 8 of the unknowns: "D_ctx for T > 2").

    Notes
    -----
    Under ``best`` a passage without a score counts as one of score 0. Inside a round, and among
    equal scores, rank decides.
    """
    chosen = list(accepted)
    if policy == "newest":
        chosen.sort(key=lambda a: -a.round)
    elif policy == "best":
        chosen.sort(key=lambda a: -(a.score or 0.0))
    return [a.passage for a in chosen[:m]]


def merged(
    accepted: Sequence[Accepted],
    last: Sequence[Passage],
    k: int,
    *,
    filler: Sequence[Passage] = (),
) -> tuple[list[Passage], int]:
    """The output list, and how many of it are filler.

    Parameters
    ----------
    accepted : round by round, by rank.
    last : list of the last round, not verified. The lists of earlier rounds are no part of
        the output: with them in front no later round could change anything (trap 1).
    filler : taken in order where fewer than k are left (trap 2); empty by default.
    """
    own = distinct([*(a.passage for a in accepted), *last])[:k]
    filled = distinct([*own, *filler])[:k]
    return filled, len(filled) - len(own)
