"""A look at dev during training: loss and Recall@K in a small fixed pool of passages.

The whole corpus would have to be encoded anew at each look (141 s for 4,600 passages on two
cores), so the pool holds dev gold and some others. Its values order the states of one run;
they are no results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mtrlib.data.schema import Passage
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import InputError
from mtrlib.retrieval.models import TokenCounter
from mtrlib.retrieval.registry import RetrieverSpec
from mtrlib.retrieval.text import encoded_text
from mtrlib.rvr.examples import Example, TrainingSet, epoch, query_of
from mtrlib.rvr.training_questions import stable_rng
from mtrlib.rvr.training_settings import TrainingSettings

K = 20  # cutoff of the recall in the pool
OTHERS = 100  # passages of the pool that are gold of no dev question
DRAWS = 2  # contexts and positives per question


@dataclass(frozen=True, slots=True)
class DevValues:
    """Means over the draws. ``recall``: share of the gold outside the context in the first K."""

    loss: float
    recall: float


class DevCheck:
    """Measures a model on dev questions, always on the same draws and the same pool.

    Parameters
    ----------
    spec : of the base model; prompts and normalisation.
    """

    def __init__(
        self,
        questions: Sequence[ListQuestion],
        passages: Sequence[Passage],
        spec: RetrieverSpec,
        settings: TrainingSettings,
    ) -> None:
        self._data = TrainingSet(questions, passages)
        self._spec, self._settings = spec, settings
        self._examples: list[Example] = []
        for number in range(DRAWS):
            self._examples += epoch(
                self._data,
                settings.recipe,
                number,
                most=settings.context,
                negatives=0,
                seed=settings.seed,
            )
        gold = sorted({g for golds in self._data.gold for g in golds})
        others = np.setdiff1d(np.arange(len(self._data.passages)), gold)
        rng = stable_rng(settings.seed, "dev pool")
        drawn = rng.permutation(others)[:OTHERS]
        self._pool = [*gold, *sorted(int(i) for i in drawn)]
        counter = TokenCounter(spec)
        self._queries = [
            spec.query_prompt
            + query_of(
                self._data, e, budget=counter.query_budget, count_tokens=counter, cut=counter.cut
            )
            for e in self._examples
        ]
        self._texts = [
            spec.passage_prompt + encoded_text(self._data.passages[i]) for i in self._pool
        ]

    def __call__(self, model: Any) -> DevValues:
        """Loss over the pool and recall, for a SentenceTransformer.

        Raises
        ------
        InputError
            A vector that is not finite.
        """
        training = model.training
        model.eval()
        queries, passages = (
            model.encode(
                texts,
                batch_size=32,
                normalize_embeddings=self._spec.normalize,
                convert_to_numpy=True,
                show_progress_bar=False,
            ).astype(np.float64)
            for texts in (self._queries, self._texts)
        )
        model.train(training)
        scores = queries @ passages.T  # (n_draws, n_pool)
        if not np.isfinite(scores).all():
            raise InputError("the model's vectors are not finite. Mend: lower the learning rate.")
        column = {number: at for at, number in enumerate(self._pool)}
        losses, recalls = [], []
        for example, row in zip(self._examples, scores, strict=True):
            gold = [column[g] for g in self._data.gold[example.question]]
            context = [column[c] for c in example.context]
            positive = column[example.positive]
            losses.append(self._loss(row, gold, positive))
            recalls.append(_recall(row, gold, context))
        return DevValues(float(np.mean(losses)), float(np.mean(recalls)))

    def _loss(self, row: np.ndarray, gold: list[int], positive: int) -> float:
        scaled = row / self._settings.temperature
        kept = np.delete(scaled, [g for g in gold if g != positive])
        return float(np.logaddexp.reduce(kept) - scaled[positive])


def _recall(row: np.ndarray, gold: list[int], context: list[int]) -> float:
    open_gold = set(gold) - set(context)
    ranked = [int(i) for i in np.argsort(-row, kind="stable") if int(i) not in set(context)]
    return len(open_gold & set(ranked[:K])) / len(open_gold)
