"""What the distinguishability test shows: gold and hard negatives, in which order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from mtrlib.audit.items import AuditItem
from mtrlib.data.matching import normalised
from mtrlib.data.schema import Passage
from mtrlib.errors import InputError
from mtrlib.retrieval.lexical import tokenize

SHINGLE = 5  # tokens
NEAR_COPY = 0.8  # Jaccard similarity of the two sets of shingles, from here on


@dataclass(frozen=True)
class CopyReport:
    """Hard negatives of an item by what they are to its gold, as passage ids, best first.

    Attributes
    ----------
    exact : same text as a gold passage; Unicode forms, case and white space aside.
    near : share at least ``NEAR_COPY`` of their shingles with a gold passage.
    different : all others; only these are shown.
    """

    exact: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    different: tuple[str, ...] = ()


def options(item: AuditItem, *, most: int = 8) -> tuple[tuple[Passage, ...], CopyReport]:
    """Gold and hard negatives of an item, at most ``most`` together, not yet in order.

    All gold comes in, but one place is kept for a negative. Copies of gold are no negatives:
    who picks one makes no mistake.

    Parameters
    ----------
    most : passages at most, at least 2.

    Returns
    -------
    tuple
        Gold first, then negatives, best first; and what the negatives were. The first part
        holds gold only where no negative is left.

    Raises
    ------
    InputError
        ``most`` below 2.

    Notes
    -----
    MTR-Suite, section 3, tests one gold passage among up to seven others. With several gold
    passages here, any of them is right, and the more there are the easier it is by chance.
    """
    if most < 2:
        raise InputError(f"most={most} leaves no room for gold and a negative. Mend: 2 or more.")
    gold = item.gold[: most - 1]
    kinds = {p.passage_id: _kind(p, item.gold) for p in item.negatives}
    shown = [p for p in item.negatives if kinds[p.passage_id] == "different"]
    report = CopyReport(
        *(
            tuple(p for p, found in kinds.items() if found == kind)
            for kind in ("exact", "near", "different")
        )
    )
    return (*gold, *shown[: most - len(gold)]), report


def shown_order(
    item_id: str, judge: str, passages: Sequence[Passage], *, seed: int, rotation: int = 0
) -> tuple[Passage, ...]:
    """Options in the order a judge sees them: its own for every item and judge.

    Passages are sorted by a SHA-256 of seed, item, judge and passage id. The order in which
    they come in has no influence, nor has the process. Rotation r starts with the option
    that rotation 0 shows at place r + 1, so that n rotations of n options put each of them
    once in each place.

    Parameters
    ----------
    judge : name of the judge.
    passages : the options, ids unique.
    rotation : 0 or more; the number of options brings rotation 0 back.

    Returns
    -------
    tuple of Passage
        Same passages; the first has the label "1".

    Raises
    ------
    InputError
        A passage id that occurs twice.
    """
    keys = {p.passage_id: stable_key(seed, item_id, judge, p.passage_id) for p in passages}
    if len(keys) < len(passages):
        raise InputError(f"item {item_id}: a passage is offered twice. Mend: offer it once.")
    order = sorted(passages, key=lambda p: keys[p.passage_id])
    start = rotation % len(order) if order else 0
    return (*order[start:], *order[:start])


def stable_key(*parts: object) -> str:
    """SHA-256 of some text and numbers: a place in a random order, alike in every process."""
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


def _kind(passage: Passage, gold: Sequence[Passage]) -> str:
    if any(_plain(passage.text) == _plain(g.text) for g in gold):
        return "exact"
    near = any(_similarity(passage.text, g.text) >= NEAR_COPY for g in gold)
    return "near" if near else "different"


def _similarity(a: str, b: str) -> float:
    """Jaccard similarity of the shingles of two texts, fraction in [0, 1]."""
    x, y = _shingles(a), _shingles(b)
    return len(x & y) / len(x | y) if x and y else 0.0


@lru_cache(maxsize=8192)
def _plain(text: str) -> str:
    return normalised(text)


@lru_cache(maxsize=8192)
def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Runs of ``SHINGLE`` tokens; of six characters where a script has no spaces.

    There a token is a pair of neighbours, so that five tokens span six characters.
    """
    tokens = tokenize(text)
    if len(tokens) <= SHINGLE:
        return frozenset([tuple(tokens)] if tokens else [])
    return frozenset(tuple(tokens[i : i + SHINGLE]) for i in range(len(tokens) - SHINGLE + 1))
