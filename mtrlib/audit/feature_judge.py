"""The feature judge: logistic regression over what retrievers and words say about a pair.

It learns from the judged pools of mtr-mini and is cross-fitted by conversation: an item whose
conversation was used in training is judged by the one model that did not see it, an item of
another benchmark by the model fitted on all. Every feature enters as a quadratic spline that
is constant beyond the training range, so that a corpus of another size cannot drive a rating
off; raw scores are left out, since they do not compare between corpora.

Probabilities are calibrated to pools like those of the training data (5% gold among all
candidates). A marked passage supports far more often than that, so ratings of query evidence
are made of the same probabilities with even odds beforehand. Order and change of the ratings carry
over to other sets, the level less so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mtrlib.audit.cross_fit import CrossFitted
from mtrlib.audit.items import ItemSet
from mtrlib.audit.judged_pairs import JudgedPair
from mtrlib.audit.pair_features import Pair, PairFeatures
from mtrlib.audit.pair_judge import PairJudge, retrievers_behind

POOL_SHARE = 0.05  # of gold among the judged candidates of mtr-mini: odds before looking
PENALTY = 0.003  # inverse strength; of 0.003, 0.03 and 1 the best out of fold


class FeatureJudge(PairJudge):
    """Calibrated probability that a passage supports the question, or the answer.

    ``completeness`` is judged by a model without the features of the retriever that found the
    negatives. ``faithfulness`` has a model of its own
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
        query = _query(metric)
        without: tuple[str, ...] = ()
        if metric == "completeness":
            without = retrievers_behind(self._negatives_from[benchmark])
        frame = self._features[benchmark].frame(pairs, query=query, without=without)
        conversations = [item.conversation_id for item, _ in pairs]
        return self.model(query, without).predict(_columns(frame, without), conversations)

    def rating(self, metric: str, support: np.ndarray) -> np.ndarray:
        """Probability of support for a passage that is as likely to support as not.

        For ``query_evidence`` alone: answers fit their gold so much better than other passages
        that even odds would put nearly all of them at the top of the scale (on MTRAG that
        took the correlation with people from .60 to .35).
        """
        if metric != "query_evidence":
            return support
        yes, no = support / POOL_SHARE, (1 - support) / (1 - POOL_SHARE)
        return np.asarray(yes / (yes + no))

    def _frame(self, query: str) -> pd.DataFrame:
        if query not in self._frames:
            pairs = [p.pair for p in self._training[query]]
            self._frames[query] = self._corpus.frame(pairs, query=query)
        return self._frames[query]


def _query(metric: str) -> str:
    return "answer" if metric == "faithfulness" else "question"


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
