"""From the support that a passage gives to verdicts: what all judges without an LLM share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from mtrlib.audit.items import ItemSet
from mtrlib.audit.judging import EVIDENCE_METRICS, NONE, SCALE, Task
from mtrlib.audit.pair_features import Pair
from mtrlib.errors import InputError
from mtrlib.llm.questions import Verdict
from mtrlib.retrieval.registry import retriever_specs

NOT_APPLICABLE = Verdict.missing("not_applicable")


def retrievers_behind(negatives_from: str) -> tuple[str, ...]:
    """The retrievers that found hard negatives: the parts of a hybrid, else itself."""
    spec = retriever_specs().get(negatives_from)
    return (spec.parts if spec else ()) or ((negatives_from,) if negatives_from else ())


class PairJudge(ABC):
    """A judge that gives every (item, passage) pair a support in [0, 1], and no more.

    ``query_evidence`` and ``faithfulness`` become ``1 + 4 * rating``, where the rating is the
    support as a rule; ``completeness`` picks the option with the most support, the higher
    passage id where two tie, so that the order shown has no say. Other metrics, and items that
    lack an answer where one is needed, are ``not_applicable``.
    """

    name: str
    metrics = frozenset(EVIDENCE_METRICS)
    probabilities = False  # whether support is an estimate of a probability

    def __init__(self, sets: Sequence[ItemSet]) -> None:
        self._negatives_from = {s.name: s.negatives_from for s in sets}

    @abstractmethod
    def support(self, metric: str, benchmark: str, pairs: Sequence[Pair]) -> np.ndarray:
        """Support of each pair of one benchmark, shape (n_pairs,), in [0, 1]."""

    def rating(self, metric: str, support: np.ndarray) -> np.ndarray:
        """Support as it enters the rating, in [0, 1]; shapes as given."""
        return support

    def can_compare(self, negatives_from: str) -> bool:
        """Whether ``completeness`` against negatives of that retriever says anything."""
        return True

    def judge(self, tasks: Sequence[Task]) -> list[Verdict]:
        """One verdict per task; see :class:`mtrlib.audit.judging.Judge`.

        Raises
        ------
        InputError
            An item of a benchmark that the judge was not built with.
        """
        verdicts = [NOT_APPLICABLE] * len(tasks)
        groups: dict[tuple[str, str], list[int]] = {}
        for at, task in enumerate(tasks):
            if self._pairs(task):
                groups.setdefault((task.metric, task.item.benchmark), []).append(at)
        for (metric, benchmark), members in groups.items():
            own = [tasks[at] for at in members]
            pairs = [self._pairs(task) for task in own]
            flat = self.support(metric, benchmark, [pair for each in pairs for pair in each])
            ends = np.cumsum([len(each) for each in pairs])[:-1]
            for at, support in zip(members, np.split(flat, ends), strict=True):
                verdicts[at] = self._verdict(tasks[at], support)
        return verdicts

    def _pairs(self, task: Task) -> list[Pair]:
        """What must be scored for a task; nothing where it does not apply."""
        item = task.item
        if task.metric not in self.metrics:
            return []
        if item.benchmark not in self._negatives_from:
            raise InputError(
                f"judge {self.name} was not built with the benchmark {item.benchmark!r} of item "
                f"{item.item_id!r}. Mend: give its item set to build_judges."
            )
        if task.metric == "completeness":
            fair = self.can_compare(self._negatives_from[item.benchmark])
            return [(item, p) for p in task.options] if fair else []
        if task.passage is None or (task.metric == "faithfulness" and not item.answer):
            return []
        return [(item, task.passage)]

    def _verdict(self, task: Task, support: np.ndarray) -> Verdict:
        if task.metric == "completeness":
            best = max(range(len(support)), key=lambda i: (support[i], task.options[i].passage_id))
            return Verdict(str(best + 1) if support[best] > 0 else NONE)
        low, high = SCALE
        p = float(support[0])
        value = low + (high - low) * float(self.rating(task.metric, support)[0])
        return Verdict(value, probabilities={"yes": p} if self.probabilities else {})
