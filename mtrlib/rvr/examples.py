"""What one training step sees of a question: a context, a positive, perhaps negatives.

Recipes of RVR: D_i trains the first round (no context), D_r the later ones (m gold passages as
context, another as positive), joint both in one model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mtrlib.errors import InputError
from mtrlib.retrieval.query_text import CountTokens, CutText
from mtrlib.rvr.context import query_with_context
from mtrlib.rvr.training_questions import stable_rng
from mtrlib.rvr.training_set import TrainingSet

Recipe = Literal["initial", "later", "joint"]
RECIPES: dict[Recipe, tuple[bool, ...]] = {  # passes of an epoch: with context or without
    "initial": (False,),
    "later": (True,),
    "joint": (False, True),
}


@dataclass(frozen=True, slots=True)
class Example:
    """One row of a batch, by numbers into a :class:`mtrlib.rvr.training_set.TrainingSet`.

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


def context_lengths(gold: int, most: int) -> range:
    """The lengths m that a context may have: 0 to min(M, D - 1) for D gold passages.

    The seed's interval ends at min(M, D), which could leave no positive (trap 4).

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
