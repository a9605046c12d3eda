"""What one training step sees of a question: a context, a positive, perhaps negatives.

Recipes of RVR: D_i trains the first round (no context), D_r the later ones (m gold passages as
context, another as positive), joint both in one model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mtrlib.data.schema import Passage
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import InputError
from mtrlib.retrieval.query_text import CountTokens, CutText
from mtrlib.rvr.context import passage_key, query_with_context
from mtrlib.rvr.training_questions import merge_repeats, stable_rng

Recipe = Literal["initial", "later", "joint"]
RECIPES: dict[Recipe, tuple[bool, ...]] = {  # passes of an epoch: with context or without
    "initial": (False,),
    "later": (True,),
    "joint": (False, True),
}


@dataclass(frozen=True, slots=True)
class Example:
    """One row of a batch, by numbers into a :class:`TrainingSet`.

    Attributes
    ----------
    question : number of the question.
    context : numbers of gold passages that join the question, without order.
    positive : number of a gold passage that is not in the context.
    negatives : numbers of passages that are not gold.
    """

    question: int
    context: tuple[int, ...]
    positive: int
    negatives: tuple[int, ...] = ()


class TrainingSet:
    """Questions with their gold, and the passages, each distinct text once.

    Repeated questions are merged. Two passages of the same text are one (trap 4): by id and by
    :func:`mtrlib.rvr.context.passage_key`, so no text is context and positive at once.

    Parameters
    ----------
    questions : with gold passage ids.
    passages : the corpus; explicit negatives are drawn from it, so leave out what must not be
        seen. Gold that it lacks is passed over and counted.

    Attributes
    ----------
    questions : the questions that have gold left, in order.
    passages : distinct passages, the first of each text.
    gold : numbers of the gold passages of each question, in the order of the set's gold.
    dropped : questions without any gold in the corpus.
    missing_gold, repeated_gold : gold ids not in the corpus; gold of a text that is there.

    Raises
    ------
    InputError
        No question is left, or a passage without text is gold.
    """

    def __init__(self, questions: Iterable[ListQuestion], passages: Sequence[Passage]) -> None:
        number: dict[str, int] = {}  # of a text
        by_id: dict[str, int] = {}
        self.passages: list[Passage] = []
        for p in passages:
            key = passage_key(p)
            if key not in number:
                number[key] = len(self.passages)
                self.passages.append(p)
            by_id[p.passage_id] = number[key]
        self.questions: list[ListQuestion] = []
        self.gold: list[tuple[int, ...]] = []
        self.dropped = self.missing_gold = self.repeated_gold = 0
        for q in merge_repeats(questions):
            known = [by_id[g] for g in q.gold if g in by_id]
            distinct = tuple(dict.fromkeys(known))
            self.missing_gold += len(q.gold) - len(known)
            self.repeated_gold += len(known) - len(distinct)
            if distinct:
                self.questions.append(q)
                self.gold.append(distinct)
            else:
                self.dropped += 1
        self._refuse_empty()

    def _refuse_empty(self) -> None:
        if not self.questions:
            raise InputError(
                "no training question has a gold passage in the corpus. "
                "Mend: check that the ids of both are from the same set."
            )
        for q, gold in zip(self.questions, self.gold, strict=True):
            for number in gold:
                if not self.passages[number].text.strip():
                    raise InputError(
                        f"passage {self.passages[number].passage_id!r}, gold of question "
                        f"{q.question_id!r}, has no text. Mend: leave it out of the set."
                    )

    def describe(self) -> Mapping[str, int]:
        """Sizes and what was passed over, for a manifest."""
        return {
            "questions": len(self.questions),
            "gold": sum(map(len, self.gold)),
            "passages": len(self.passages),
            "dropped_questions": self.dropped,
            "missing_gold": self.missing_gold,
            "repeated_gold": self.repeated_gold,
        }


def context_lengths(gold: int, most: int) -> range:
    """The lengths m that a context may have: 0 to min(M, \\|D*\\| - 1).

    The seed's interval ends at min(M, \\|D*\\|), which could leave no positive (trap 4).

    >>> list(context_lengths(gold=3, most=6))
    [0, 1, 2]
    """
    if gold < 1 or most < 0:
        raise InputError(f"gold={gold} must be at least 1 and M={most} at least 0.")
    return range(min(most, gold - 1) + 1)


def draw_example(
    data: TrainingSet,
    question: int,
    rng: np.random.Generator,
    *,
    most: int,
    negatives: int = 0,
) -> Example:
    """Draw m uniformly, m gold passages as context without order, and a positive of the rest.

    Parameters
    ----------
    most : M; 0 gives an example of D_i.
    negatives : random passages of the corpus that are not gold of the question.

    Raises
    ------
    InputError
        Fewer other passages than ``negatives``.

    References
    ----------
    RVR (arXiv 2602.18425), section 4; contexts are gold, while at inference a verifier gives
    them, which the paper accepts.
    """
    gold = data.gold[question]
    m = int(rng.choice(context_lengths(len(gold), most)))
    drawn = [gold[i] for i in rng.permutation(len(gold))[: m + 1]]
    others = _random_negatives(data, frozenset(gold), negatives, rng)
    return Example(question, tuple(drawn[:m]), drawn[m], others)


def _random_negatives(
    data: TrainingSet, gold: frozenset[int], wanted: int, rng: np.random.Generator
) -> tuple[int, ...]:
    if wanted > len(data.passages) - len(gold):
        raise InputError(f"{wanted} negatives wanted, but the corpus has fewer passages.")
    found: dict[int, None] = {}
    while len(found) < wanted:
        number = int(rng.integers(len(data.passages)))
        if number not in gold and data.passages[number].text.strip():
            found[number] = None
    return tuple(found)


def epoch(
    data: TrainingSet, recipe: Recipe, number: int, *, most: int, negatives: int, seed: int
) -> list[Example]:
    """The examples of one epoch in their order: each question once, under ``joint`` twice.

    All is drawn anew in every epoch, from the seed, the number of the epoch and the question's
    id alone.

    Notes
    -----
    Whether the paper's D_r contains m = 0 is not known; here it does, as the interval says.
    Joint is the union of D_i and D_r, so more than half of its examples have no context.
    """
    rows = []
    for turn, with_context in enumerate(RECIPES[recipe]):
        for question, q in enumerate(data.questions):
            rng = stable_rng(seed, "example", number, turn, q.question_id)
            rows.append(
                draw_example(
                    data, question, rng, most=most if with_context else 0, negatives=negatives
                )
            )
    order = stable_rng(seed, "order", number).permutation(len(rows))
    return [rows[i] for i in order]


def query_of(
    data: TrainingSet,
    example: Example,
    *,
    budget: int | None = None,
    count_tokens: CountTokens | None = None,
    cut: CutText | None = None,
) -> str:
    """The query text of an example, by the function that inference uses (traps 5 and 6).

    Training shows contexts in random order, inference in rank order (trap 8).
    """
    question = data.questions[example.question].question
    context = [data.passages[i] for i in example.context]
    return query_with_context(
        question, context, budget=budget, count_tokens=count_tokens, cut=cut
    ).text


def gold_columns(
    gold: Sequence[tuple[int, ...]], questions: Sequence[int], columns: Sequence[int]
) -> list[tuple[int, int]]:
    """Cells ``(row, column)`` of a batch whose passage is gold for the row's question.

    Parameters
    ----------
    gold : of :class:`TrainingSet`.
    questions, columns : number of the question of each row, of the passage of each column.
    """
    at: dict[int, list[int]] = defaultdict(list)
    for column, passage in enumerate(columns):
        at[passage].append(column)
    return [
        (row, column)
        for row, question in enumerate(questions)
        for passage in gold[question]
        for column in at.get(passage, ())
    ]
