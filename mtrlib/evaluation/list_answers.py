"""The answers of a list question: their forms, where they stand, and which are one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from mtrlib.data.schema import Passage
from mtrlib.data.strings import answer_tokens
from mtrlib.data.tasks import Answer, ListQuestion


@lru_cache(maxsize=2**14)
def forms(answer: Answer) -> frozenset[str]:
    """Texts of an answer and its aliases as padded tokens; those without a token are none."""
    return frozenset(_padded(form) for form in (answer.text, *answer.aliases)) - {""}


def gold_passages(question: ListQuestion) -> frozenset[str]:
    """All passages marked for a question, those tied to an answer and the others."""
    return frozenset(question.gold).union(*(a.passages for a in question.answers))


def answers_in(question: ListQuestion, passage: Passage) -> frozenset[int]:
    """Positions of the answers that stand in title or text of a passage.

    A form must stand there as a run of whole tokens (:mod:`mtrlib.data.strings`); one that
    tokenises to nothing is never found (trap 16).
    """
    held = _padded(f"{passage.title} {passage.text}")
    return frozenset(
        i for i, a in enumerate(question.answers) if any(form in held for form in forms(a))
    )


def merge_answers(question: ListQuestion) -> tuple[Answer, ...]:
    """Answers with those that share a form, directly or through others, made one.

    >>> q = ListQuestion("q", "?", (Answer("Leon Trotsky", ("Trotsky",)), Answer("trotsky")))
    >>> [a.text for a in merge_answers(q)]
    ['Leon Trotsky']
    """
    merged: list[list[Answer]] = []
    for answer in question.answers:
        same = [g for g in merged if any(forms(answer) & forms(other) for other in g)]
        group = [*(a for g in same for a in g), answer]
        at = merged.index(same[0]) if same else len(merged)
        merged = [g for g in merged if g not in same]
        merged.insert(at, group)
    return tuple(_one_answer(group) for group in merged)


def _one_answer(group: Sequence[Answer]) -> Answer:
    texts = dict.fromkeys(form for a in group for form in (a.text, *a.aliases))
    passages = dict.fromkeys(p for a in group for p in a.passages)
    text, *aliases = texts
    return Answer(text, tuple(aliases), tuple(passages))


@lru_cache(maxsize=2**14)
def _padded(text: str) -> str:
    """Tokens between spaces, so that a run of whole tokens is a substring; "" for none."""
    tokens = answer_tokens(text)
    return f" {' '.join(tokens)} " if tokens else ""
