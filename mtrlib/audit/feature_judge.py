"""The feature judge: logistic regression over what retrievers and words say about a pair.

It learns from the judged pools of mtr-mini and is cross-fitted by conversation: an item whose
conversation was used in training is judged by the one model that did not see it, an item of
another benchmark by the model fitted on all. Every feature enters as a quadratic spline that
is constant beyond the training range, so that a corpus of another size cannot drive a rating
off; raw scores are left out, since they do not compare between corpora.

Probabilities are calibrated to pools like those of the training data (5% gold among all
candidates): a marked passage of a good benchmark supports its question more often than the
number says. Order and change of the ratings carry over to other sets, the level less so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mtrlib.audit.cross_fit import CrossFitted
from mtrlib.audit.items import ItemSet
from mtrlib.audit.judged_pairs import JudgedPair
from mtrlib.audit.judging import Task
from mtrlib.audit.pair_features import Pair, PairFeatures
from mtrlib.audit.pair_judge import PairJudge, retrievers_behind

PENALTY = 0.003  # inverse strength; of 0.003, 0.03 and 1 the best out of fold
HARD = 7  # rejected passages shown beside a gold one where the bar for "none" is chosen
HARDEST_BY = "static-256"  # whose hard negatives those are, where an item set does not say


class FeatureJudge(PairJudge):
    """Calibrated probability that a passage supports the question, or the answer.

    ``completeness`` is judged by a model without the features of the retriever that found the
    negatives; none of the options is picked where the best stays at or under a bar, chosen on
    the training folds so that gold is picked where it is shown, and nothing where it is not,
    as often as possible (both cases weigh the same). ``faithfulness`` has a model of its own
    with the answer as the query; its training pairs resemble some of the damage that the audit
    plants, see :func:`mtrlib.audit.judged_pairs.answer_pairs`.

    Parameters
    ----------
    features : of each set's corpus, by name of the set.
    training : labelled pairs by query: ``question`` and ``answer``.
    corpus : features of the corpus that the training pairs belong to.
    """

    name = "feature"
    probabilities = True

    def __init__(
        self,
        sets: Sequence[ItemSet],
        features: Mapping[str, PairFeatures],
        training: Mapping[str, Sequence[JudgedPair]],
        corpus: PairFeatures,
        *,
        seed: int,
    ) -> None:
        super().__init__(sets)
        self._features, self._training, self._corpus = features, training, corpus
        self._seed = seed
        self._frames: dict[str, pd.DataFrame] = {}
        self._models: dict[tuple[str, tuple[str, ...]], CrossFitted] = {}
        self._bars: dict[tuple[str, int], float] = {}

    def model(self, query: str, without: tuple[str, ...] = ()) -> CrossFitted:
        """The cross-fitted model of a query, without the features of some retrievers."""
        if (query, without) not in self._models:
            pairs = self._training[query]
            self._models[query, without] = CrossFitted(
                _columns(self._frame(query), without),
                np.array([p.label for p in pairs]),
                np.array([p.item.conversation_id for p in pairs]),
                _fit,
                seed=self._seed,
            )
        return self._models[query, without]

    def support(self, metric: str, benchmark: str, pairs: Sequence[Pair]) -> np.ndarray:
        """Probability that each passage supports, shape (n_pairs,)."""
        query = "answer" if metric == "faithfulness" else "question"
        without: tuple[str, ...] = ()
        if metric == "completeness":
            without = retrievers_behind(self._negatives_from[benchmark])
        frame = self._features[benchmark].frame(pairs, query=query, without=without)
        conversations = [item.conversation_id for item, _ in pairs]
        return self.model(query, without).predict(_columns(frame, without), conversations)

    def bars(self, tasks: Sequence[Task]) -> Mapping[str, float]:
        """The bar of the model that judges each conversation."""
        source = self._negatives_from[tasks[0].item.benchmark]
        model = self.model("question", retrievers_behind(source))
        conversations = {task.item.conversation_id for task in tasks}
        return {c: self._bar(source, model.fold(c)) for c in conversations}

    def _bar(self, source: str, fold: int) -> float:
        if (source, fold) not in self._bars:
            without = retrievers_behind(source)
            model, frame = self.model("question", without), self._frame("question")
            known = model.trained_on[fold]
            # the retriever whose negatives are shown, or another one where it is not known
            preferred = [*without, HARDEST_BY, *self._corpus.retrievers]
            hard = next(r for r in preferred if r in self._corpus.retrievers)
            table = pd.DataFrame(
                {
                    "item_id": frame.index.get_level_values("item_id"),
                    "gold": [p.label for p in self._training["question"]],
                    "hard": frame[f"{hard}.turn.standard"].to_numpy(),
                    "p": model.predict_by(fold, _columns(frame, without)),
                }
            )
            rows = [p.item.conversation_id in known for p in self._training["question"]]
            self._bars[source, fold] = best_bar(table[rows])
        return self._bars[source, fold]

    def _frame(self, query: str) -> pd.DataFrame:
        if query not in self._frames:
            pairs = [p.pair for p in self._training[query]]
            self._frames[query] = self._corpus.frame(pairs, query=query)
        return self._frames[query]


def best_bar(table: pd.DataFrame) -> float:
    """The bar that a best option must exceed, for most right picks over imagined tests.

    Parameters
    ----------
    table : columns ``item_id``, ``gold``, ``hard`` (what hard negatives are sorted by), ``p``.

    Notes
    -----
    Each gold passage is shown beside the item's ``HARD`` hardest rejected ones: right if it
    has the most support and exceeds the bar. Each item's rejected ones are shown alone: right
    if none exceeds it. The mean of the two shares is maximised over all values of ``p``; the
    lowest of equals is taken.
    """
    won, alone = [], []
    for _, rows in table.groupby("item_id"):
        rejected = rows[~rows["gold"]].nlargest(HARD, "hard")["p"]
        best = rejected.max() if len(rejected) else 0.0
        alone.append(best)
        won += [p if p > best else -1.0 for p in rows.loc[rows["gold"], "p"]]
    if not won:
        return 0.0
    gold, none = np.sort(won), np.sort(alone)
    bars = np.unique([0.0, *alone])
    picked = 1 - np.searchsorted(gold, bars, side="right") / len(gold)
    left = np.searchsorted(none, bars, side="right") / len(none)
    return float(bars[np.argmax(picked + left)])


def _columns(frame: pd.DataFrame, without: Sequence[str]) -> pd.DataFrame:
    names = frame.columns.astype(str)
    return frame[[n for n in names if not n.endswith(".raw") and n.split(".")[0] not in without]]


def _fit(frame: pd.DataFrame, labels: np.ndarray) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import SplineTransformer, StandardScaler

    splines = SplineTransformer(n_knots=4, degree=2, knots="quantile", extrapolation="constant")
    model = LogisticRegression(C=PENALTY, max_iter=2000)
    return make_pipeline(splines, StandardScaler(), model).fit(frame, labels)
