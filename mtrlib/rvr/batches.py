"""The batches of a training run: a fixed sequence that the trainer takes as it comes.

What a step sees is decided here, from the seed, and not by a sampler inside the trainer: the
same seed gives the same batches whatever the trainer's version does with random numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice

from mtrlib.errors import InputError
from mtrlib.rvr.examples import Example, Recipe, epoch
from mtrlib.rvr.training_set import TrainingSet, gold_columns


def batches(
    data: TrainingSet,
    recipe: Recipe,
    *,
    steps: int,
    size: int,
    most: int,
    negatives: int,
    seed: int,
) -> Iterator[list[Example]]:
    """Exactly ``steps`` batches of ``size`` examples, epoch after epoch.

    A batch may span two epochs; no example is left out. Two rows may share a positive, which
    the loss masks (option b of case 09), so no example waits for a batch without it.

    Parameters
    ----------
    steps : optimiser steps; there is no gradient accumulation, so a step is one batch.
    most : M, gold passages in a context at most.
    """
    if size < 2:
        raise InputError(f"batch={size}: in-batch negatives need at least two rows.")

    def stream() -> Iterator[Example]:
        for number in count():
            yield from epoch(data, recipe, number, most=most, negatives=negatives, seed=seed)

    examples = stream()
    for _ in range(steps):
        yield list(islice(examples, size))


def columns_of(batch: list[Example]) -> list[int]:
    """Passage number of each column: all positives, then all first negatives, and so on."""
    negatives = zip(*(e.negatives for e in batch), strict=True)
    return [e.positive for e in batch] + [n for column in negatives for n in column]


def false_negatives(data: TrainingSet, batch: list[Example]) -> int:
    """Cells of a batch that would punish a gold passage, were they not masked."""
    cells = gold_columns(data.gold, [e.question for e in batch], columns_of(batch))
    return sum(row != column for row, column in cells)
