"""A look at dev during training: loss and Recall@K in a small fixed pool of passages.

The whole corpus would have to be encoded anew at each look (141 s for 4,600 passages on two
cores). The pool holds the gold of the dev questions and the passages that the base model takes
for it, so that its recall is not far from the corpus's. The values order the states of one run;
they are no results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
import pandas as pd

from mtrlib.data.schema import Passage
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import InputError
from mtrlib.retrieval.models import TokenCounter
from mtrlib.retrieval.registry import RetrieverSpec
from mtrlib.retrieval.search import VectorSearcher
from mtrlib.retrieval.text import encoded_text
from mtrlib.rvr.context import passage_key
from mtrlib.rvr.examples import Example, epoch, query_of
from mtrlib.rvr.training_questions import normal_form
from mtrlib.rvr.training_set import TrainingSet
from mtrlib.rvr.training_settings import TrainingSettings

K = 20  # cutoff of the recall in the pool
OTHERS = 120  # passages of the pool that are gold of no dev question
DEPTH = 40  # of the base's lists that they are taken from
DRAWS = 2  # contexts and positives per question


class DevCheck:
    """Measures a model on dev questions, always on the same draws and the same pool.

    Parameters
    ----------
    dev : sets by name, all over one pool; a question of two sets belongs to the first.
    passages : the corpus.
    base : the model that training starts from; it chooses the pool.
    """

    def __init__(
        self,
        dev: Mapping[str, Sequence[ListQuestion]],
        passages: Sequence[Passage],
        base: RetrieverSpec,
        settings: TrainingSettings,
    ) -> None:
        self._data = TrainingSet((q for found in dev.values() for q in found), passages)
        self._settings, self._normalize = settings, base.normalize
        self._examples = [e for n in range(DRAWS) for e in self._epoch(n)]
        names: dict[str, str] = {}
        for name, found in dev.items():
            for q in found:
                names.setdefault(normal_form(q.question), name)
        self._names = [names[normal_form(q.question)] for q in self._data.questions]
        gold = sorted({g for found in self._data.gold for g in found})
        self._pool = [*gold, *self._others(passages, base, frozenset(gold))]
        counter = TokenCounter(settings.shortened(base))
        self._queries = [
            base.query_prompt
            + query_of(
                self._data, e, budget=counter.query_budget, count_tokens=counter, cut=counter.cut
            )
            for e in self._examples
        ]
        texts = (encoded_text(self._data.passages[i]) for i in self._pool)
        self._texts = [base.passage_prompt + text for text in texts]

    def _epoch(self, number: int) -> list[Example]:
        s = self._settings
        return epoch(self._data, s.recipe, number, most=s.context, negatives=0, seed=s.seed)

    def _others(
        self, passages: Sequence[Passage], base: RetrieverSpec, gold: frozenset[int]
    ) -> list[int]:
        """What the base finds for the questions beside gold, rank by rank."""
        number = {passage_key(p): i for i, p in enumerate(self._data.passages)}
        by_id = {p.passage_id: number[passage_key(p)] for p in passages}
        questions = {q.question_id: q.question for q in self._data.questions}
        run = VectorSearcher(base, passages).search(questions, DEPTH)
        ranks = zip_longest(*(run.ids(q) for q in questions))
        found = dict.fromkeys(by_id[p] for rank in ranks for p in rank if p is not None)
        return [i for i in found if i not in gold][:OTHERS]

    def __call__(self, model: Any) -> dict[str, float]:
        """``<name>_loss`` and ``<name>_recall`` of each set, for a SentenceTransformer.

        The loss is InfoNCE over the pool, other gold left out; the recall is the share of the
        gold outside the context that stands in the first K, the context passed over.

        Raises
        ------
        InputError
            A vector that is not finite.
        """
        queries, texts = self._encode(model, self._queries), self._encode(model, self._texts)
        scores = queries @ texts.T  # (n_examples, n_pool)
        if not np.isfinite(scores).all():
            raise InputError("the model's vectors are not finite. Mend: lower the learning rate.")
        means = pd.DataFrame(self._values(scores)).groupby("name").mean()
        return {
            f"{name}_{measure}": float(value)
            for measure in ("loss", "recall")
            for name, value in means[measure].items()
        }

    def _encode(self, model: Any, texts: list[str]) -> np.ndarray:
        training = model.training
        model.eval()
        found = model.encode(
            texts, normalize_embeddings=self._normalize, show_progress_bar=False
        ).astype(np.float64)
        model.train(training)
        return np.asarray(found)

    def _values(self, scores: np.ndarray) -> Iterator[dict[str, Any]]:
        column = {number: at for at, number in enumerate(self._pool)}
        for example, row in zip(self._examples, scores, strict=True):
            gold = [column[g] for g in self._data.gold[example.question]]
            context = {column[c] for c in example.context}
            yield {
                "name": self._names[example.question],
                "loss": _loss(row / self._settings.temperature, gold, column[example.positive]),
                "recall": _recall(row, gold, context),
            }


def _loss(scaled: np.ndarray, gold: list[int], positive: int) -> float:
    kept = np.delete(scaled, [g for g in gold if g != positive])
    return float(np.logaddexp.reduce(kept) - scaled[positive])


def _recall(row: np.ndarray, gold: list[int], context: set[int]) -> float:
    wanted = set(gold) - context
    ranked = [int(i) for i in np.argsort(-row, kind="stable") if int(i) not in context]
    return len(wanted & set(ranked[:K])) / len(wanted)
