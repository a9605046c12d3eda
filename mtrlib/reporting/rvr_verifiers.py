"""Verifiers by name: none, oracle, the local judges of the audit, and LLM endpoints.

A local judge gives each pair a support; its threshold is set on the calibration questions
alone, which no judge was trained on and no test question is among.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from mtrlib.audit.items import AuditItem, ItemSet
from mtrlib.audit.judges import MAKERS, build_judges
from mtrlib.audit.pair_judge import PairJudge
from mtrlib.data.list_sets import ListSet
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import InputError
from mtrlib.evaluation.list_answers import answers_in, gold_passages
from mtrlib.llm.client import open_client
from mtrlib.llm.endpoint_registry import endpoints
from mtrlib.profiles import Profile
from mtrlib.retrieval.search import Searcher
from mtrlib.rvr.llm_verifier import LlmVerifier
from mtrlib.rvr.settings import Verifier
from mtrlib.rvr.thresholds import calibrated_threshold, fit_probability
from mtrlib.rvr.verifiers import NoVerifier, OracleVerifier, Pairs, Score, ScoreVerifier

METRIC = "query_evidence"  # what a judge is asked: does the passage support the question
LOCAL = tuple(name for name in MAKERS if name != "reference")


@dataclass(frozen=True)
class Calibration:
    """Judged pairs of the calibration questions.

    Attributes
    ----------
    pairs : the passages that the base retriever ranks first for each question.
    truth : whether each supports an answer, shape (n_pairs,).
    """

    pairs: Pairs
    truth: np.ndarray


class Verifiers:
    """Makes the verifiers of a run; judges and calibration are shared between them.

    Parameters
    ----------
    lists : the set that is verified.
    searcher : gives the calibration pairs, the first ``BUDGET`` passages of each question of
        train and dev.
    """

    def __init__(self, lists: ListSet, searcher: Searcher, profile: Profile) -> None:
        self._lists, self.searcher, self._profile = lists, searcher, profile
        self._scores: dict[str, Score] = {}

    def make(self, name: str, *, accept: int) -> Verifier:
        """The verifier of this name, its counts at zero.

        Parameters
        ----------
        name : ``none``, ``oracle``, a local judge, or the alias of an LLM endpoint, which
            answers from stored replies unless the profile is ``LIVE``.
        accept : passages that ``none`` accepts unread, M.

        Raises
        ------
        InputError
            Unknown name.
        """
        if name == "none":
            return NoVerifier(accept)
        if name == "oracle":
            return OracleVerifier(by="gold" if self._has_gold else "answers")
        if name in LOCAL:
            return ScoreVerifier(name, self.score(name), self.threshold(name))
        known = endpoints()
        if name not in known:
            raise InputError(
                f"VERIFIERS: {name!r} is unknown. Known: none, oracle, {', '.join(LOCAL)}; "
                f"endpoints: {', '.join(known)}. Mend: add an endpoint in MTR_ENDPOINTS."
            )
        return LlmVerifier(name, open_client(name, replay_only=not self._profile.LIVE))

    def score(self, name: str) -> Score:
        """Support of pairs by a local judge, fractions in [0, 1]."""
        if name not in self._scores:
            judge = build_judges([name], [self._items], self._profile)[0]
            assert isinstance(judge, PairJudge)
            self._scores[name] = self._scores_of(judge)
        return self._scores[name]

    def threshold(self, name: str) -> float:
        """Where a local judge accepts: best F1 on the calibration pairs."""
        found = self.calibration
        return calibrated_threshold(self.score(name)(found.pairs), found.truth)

    def probability(self, name: str) -> Score:
        """A local judge's support as the probability of a supporting passage (Platt)."""
        return self.mapped(name, self.score(name))

    def mapped(self, name: str, score: Score) -> Score:
        """Another support of the same judge, through this set's map to probabilities."""
        found = self.calibration
        probability = fit_probability(self.score(name)(found.pairs), found.truth)
        return lambda pairs: probability(score(pairs))

    def bands(self, name: str, shares: Sequence[float]) -> dict[float, tuple[float, float]]:
        """Bands of probability for a cascade, by the share of calibration pairs inside.

        They lie around the probability of the judge's own threshold, as many pairs below it as
        above where there are enough: it is there that the judge is least sure of a verdict.
        """
        found, score = self.calibration, self.score(name)
        fitted = fit_probability(score(found.pairs), found.truth)
        sure = np.sort(fitted(score(found.pairs)))
        centre = int(np.searchsorted(sure, float(fitted([self.threshold(name)])[0])))
        bands = {}
        for share in shares:
            width = round(share * len(sure))
            first = min(max(0, centre - width // 2), len(sure) - width)
            high = float(sure[first + width]) if first + width < len(sure) else 1.0
            bands[share] = float(sure[first]), high
        return bands

    def item(self, question: ListQuestion) -> AuditItem:
        """A list question as the first turn of its own conversation."""
        i = question.question_id
        return AuditItem(i, self._lists.name, i, 1, question.question)

    @cached_property
    def calibration(self) -> Calibration:
        """Pairs and truth of the calibration questions.

        Raises
        ------
        InputError
            The set has no train and no dev questions.
        """
        questions = [q for s in ("train", "dev") for q in self._lists.questions[s]]
        if self._profile.LIST_SPLIT == "dev":
            questions = list(self._lists.questions["train"])
        if not questions:
            raise InputError(
                f"{self._lists.name}: no train and dev questions to set thresholds on. "
                "Mend: VERIFIERS without local judges, or add such questions."
            )
        by_id = self._lists.by_id
        run = self.searcher.search(
            {q.question_id: q.question for q in questions}, self._profile.BUDGET
        )
        pairs = [(q, by_id[i]) for q in questions for i in run.ids(q.question_id)]
        truth = [
            p.passage_id in gold_passages(q) if self._has_gold else bool(answers_in(q, p))
            for q, p in pairs
        ]
        return Calibration(pairs, np.array(truth))

    def quality(self, names: Sequence[str]) -> pd.DataFrame:
        """How well local judges tell the calibration pairs apart, best first.

        Returns
        -------
        DataFrame
            Indexed by ``verifier``: ``auc``, ``threshold``, ``precision``, ``recall`` and
            ``f1`` at it, ``accepted`` (share), ``n`` pairs, ``supporting`` of them.
        """
        from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

        truth = self.calibration.truth
        rows = []
        for name in names:
            scores, threshold = self.score(name)(self.calibration.pairs), self.threshold(name)
            accepted = scores >= threshold
            precision, recall, f1, _ = precision_recall_fscore_support(
                truth, accepted, average="binary", zero_division=0.0
            )
            auc = roc_auc_score(truth, scores)
            sizes = accepted.mean(), len(truth), int(truth.sum())
            rows.append((name, auc, threshold, precision, recall, f1, *sizes))
        columns = ["verifier", "auc", "threshold", "precision", "recall", "f1"]
        table = pd.DataFrame(rows, columns=[*columns, "accepted", "n", "supporting"])
        return table.set_index("verifier").sort_values("auc", ascending=False, kind="stable")

    @cached_property
    def _has_gold(self) -> bool:
        return any(gold_passages(q) for q in self._lists.questions[self._profile.LIST_SPLIT])

    @cached_property
    def _items(self) -> ItemSet:
        name = self._lists.name
        items = tuple(self.item(q) for own in self._lists.questions.values() for q in own)
        return ItemSet(name, items, self._lists.passages)

    def _scores_of(self, judge: PairJudge) -> Score:
        def score(pairs: Pairs) -> np.ndarray:
            items = {q.question_id: self.item(q) for q, _ in pairs}
            own = [(items[q.question_id], p) for q, p in pairs]
            return judge.support(METRIC, self._lists.name, own)

        return score


def best_local(quality: pd.DataFrame) -> str:
    """The local judge that tells the calibration pairs apart best."""
    return str(quality.index[0])
