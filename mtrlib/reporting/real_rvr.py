"""RVR on the turns of INSCIT with three or more gold passages, beside list-mini."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import methodcaller
from pathlib import Path

import numpy as np
import pandas as pd

from mtrlib.audit.items import AuditItem
from mtrlib.data.benchmarks import load_benchmark
from mtrlib.data.list_sets import ListSet, load_list_set
from mtrlib.data.schema import Run, Turn
from mtrlib.data.tasks import ListQuestion
from mtrlib.evaluation.multi_answer import multi_answer
from mtrlib.profiles import Profile
from mtrlib.reporting.rvr_grid import Grid
from mtrlib.reporting.rvr_retrievers import Retrievers, train_all, training_material
from mtrlib.reporting.rvr_runs import local_names, new_grid, new_verifiers, run_systems
from mtrlib.reporting.rvr_savings import SHARES, cheap_and_full, savings
from mtrlib.reporting.rvr_tables import means
from mtrlib.reporting.rvr_verifiers import Verifiers, best_local
from mtrlib.rvr.settings import Verifier
from mtrlib.rvr.trace import RvrResult
from mtrlib.rvr.verifiers import OracleVerifier, Pairs, Score, ScoreVerifier

SYSTEM = "base_base"  # nothing here was trained on these questions
LEAST = 3  # gold passages that make a turn a list question
RULE = "passages"  # INSCIT names no answers to look for
NAME = "inscit"


def inscit_lists(folder: Path, profile: Profile) -> tuple[ListSet, dict[str, Turn]]:
    """Turns with at least ``LEAST`` gold passages as list questions, asked by the last turn.

    Returns
    -------
    ListSet, dict
        The set, all of it ``test``; and the turns by question id, for judges that read history.
    """
    benchmark = load_benchmark(str(folder), profile)
    turns = {t.query_id: t for t in benchmark.turns() if len(set(t.gold)) >= LEAST}
    questions = tuple(
        ListQuestion(i, t.raw_utterance, gold=tuple(dict.fromkeys(t.gold)), split="test")
        for i, t in turns.items()
    )
    left_out = {"test": sum(1 for _ in benchmark.turns()) - len(questions)}
    splits = {"train": (), "dev": (), "test": questions}
    return ListSet(NAME, benchmark.passages, splits, left_out), turns


class _WithHistory(Verifiers):
    """Verifiers of INSCIT: thresholds and probabilities are those of another set's verifiers.

    Parameters
    ----------
    other : of list-mini, whose calibration questions nobody here has seen.
    """

    def __init__(
        self, lists: ListSet, turns: Mapping[str, Turn], other: Verifiers, profile: Profile
    ) -> None:
        super().__init__(lists, other.searcher, profile)
        self._turns, self._other = turns, other

    def threshold(self, name: str) -> float:
        """Of the other set."""
        return self._other.threshold(name)

    def probability(self, name: str) -> Score:
        """The other set's map from support to probability, on this set's support."""
        return self._other.mapped(name, self.score(name))

    def item(self, question: ListQuestion) -> AuditItem:
        """The turn with its history."""
        turn = self._turns[question.question_id]
        return AuditItem(
            turn.query_id,
            NAME,
            turn.conversation_id,
            turn.turn_number,
            turn.raw_utterance,
            turn.history,
        )


def measure(folder: Path, profile: Profile) -> dict[str, pd.DataFrame]:
    """``rvr_inscit``: every system with the best local verifier and the oracle; and
    ``rvr_savings``: calls saved on list-mini and INSCIT together.
    """
    rng = np.random.default_rng(profile.SEED)
    lists = load_list_set(profile)
    trained = train_all(lists, training_material(lists, profile), profile)
    mini = new_verifiers(trained, profile)
    best = best_local(mini.quality(local_names(profile)))
    inscit, turns = inscit_lists(folder, profile)
    transferred = Retrievers(inscit, trained.trained, trained.unavailable)
    own = _WithHistory(inscit, turns, mini, profile)
    grid = new_grid(transferred, profile)
    run_systems(grid, own, ["none", best, "oracle"])
    found = means(grid.per_question, profile, rng)
    both = _Both(((new_grid(trained, profile), mini), (grid, own)))
    tables = [
        savings(
            both.run,
            both.measure,
            partial(both.verifier, full),
            cheap,
            both.scores(methodcaller("probability", cheap)),
            mini.bands(cheap, SHARES),
            profile,
            rng,
        )
        for cheap, full in cheap_and_full(best)
    ]
    return {"rvr_inscit": found, "rvr_savings": pd.concat(tables, ignore_index=True)}


@dataclass(frozen=True)
class _Both:
    """Two sets as one: the same verifier over both, one list of questions for the statistics."""

    parts: Sequence[tuple[Grid, Verifiers]]

    def run(self, verifier: Verifier) -> RvrResult:
        found = [g.run(next(iter(g.retrievers.trained)), SYSTEM, verifier) for g, _ in self.parts]
        tables = [[r.trace, r.costs, r.listed, r.contexts] for r in found]
        rankings = {q: row for r in found for q, row in r.run.rankings.items()}
        joined = [pd.concat(parts, ignore_index=True) for parts in zip(*tables, strict=True)]
        return RvrResult(Run(verifier.name, rankings), *joined)

    def measure(self, run: Run) -> pd.DataFrame:
        """Recall and MRecall of all questions, by passages."""
        return pd.concat(
            [
                multi_answer(
                    grid.questions,
                    run,
                    grid.retrievers.lists.by_id,
                    k=grid.profile.LIST_K,
                    rule=RULE,
                ).per_question
                for grid, _ in self.parts
            ]
        )

    def scores(self, of: Callable[[Verifiers], Score]) -> Score:
        """Each pair scored by the verifiers of its own set."""
        known = [({q.question_id for q in grid.questions}, of(own)) for grid, own in self.parts]

        def score(pairs: Pairs) -> np.ndarray:
            found = np.full(len(pairs), np.nan)
            for ids, own in known:
                at = [i for i, (q, _) in enumerate(pairs) if q.question_id in ids]
                found[at] = own([pairs[i] for i in at]) if at else []
            return found

        return score

    def verifier(self, name: str) -> Verifier:
        """An oracle by gold, or a local judge with the threshold of the first set."""
        if name == "oracle":
            return OracleVerifier(by="gold")
        threshold = self.parts[0][1].threshold(name)
        return ScoreVerifier(name, self.scores(methodcaller("score", name)), threshold)
