"""List questions to train on: repeats merged, and no question on both sides of a split.

QAMPARI's training file holds 11,417 groups of questions that are the same to the letter under
different ids; a split by row leaked 189 of 500 dev questions (trap 19).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from mtrlib.data.strings import answer_tokens
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import InputError


def normal_form(question: str) -> str:
    """What makes two questions the same: their words, without case, accents and punctuation.

    >>> normal_form("Who wrote  'Émile'?") == normal_form("who wrote Emile")
    True
    """
    return " ".join(t for t in answer_tokens(question) if t[0].isalnum())


def merge_repeats(questions: Iterable[ListQuestion]) -> list[ListQuestion]:
    """One question per normal form, the first; its gold is the union of all (trap 18).

    Answers are joined too. The order of first occurrence is kept.

    Raises
    ------
    InputError
        A question without words; QAMPARI has ten of them.
    """
    merged: dict[str, ListQuestion] = {}
    for q in questions:
        key = normal_form(q.question)
        if not key:
            raise InputError(
                f"{q.source or 'training set'}: question {q.question_id!r} has no words. "
                "Mend: leave the record out."
            )
        first = merged.get(key)
        if first is None:
            merged[key] = replace(q, gold=tuple(dict.fromkeys(q.gold)))
        else:
            gold = tuple(dict.fromkeys((*first.gold, *q.gold)))
            answers = tuple(dict.fromkeys((*first.answers, *q.answers)))
            merged[key] = replace(first, gold=gold, answers=answers)
    return list(merged.values())


def split_by_question(
    questions: Iterable[ListQuestion], *, dev_share: float, seed: int
) -> tuple[list[ListQuestion], list[ListQuestion]]:
    """Divide into train and dev so that one normal form never stands on both sides (trap 19).

    The side hangs on the seed and the normal form alone, not on the other questions: a larger
    training set leaves every question where it was.

    Parameters
    ----------
    dev_share : expected share of dev, in [0, 1).

    Returns
    -------
    tuple
        ``(train, dev)``; repeats are merged first, and ``split`` says the side.
    """
    if not 0 <= dev_share < 1:
        raise InputError(f"dev_share={dev_share} must lie in [0, 1).")
    sides: dict[str, list[ListQuestion]] = {"train": [], "dev": []}
    for q in merge_repeats(questions):
        draw = stable_rng(seed, "split", normal_form(q.question)).random()
        side = "dev" if draw < dev_share else "train"
        sides[side].append(replace(q, split=side))
    return sides["train"], sides["dev"]


def without(
    questions: Iterable[ListQuestion], others: Sequence[ListQuestion]
) -> list[ListQuestion]:
    """The questions whose normal form is none of the others': dev and test stay unseen."""
    taken = {normal_form(q.question) for q in others}
    return [q for q in questions if normal_form(q.question) not in taken]


def stable_rng(seed: int, *parts: object) -> np.random.Generator:
    """A generator that hangs on the seed and on text, the same in every process."""
    text = "\x1f".join(str(part) for part in (seed, *parts))
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:16]))
