"""RVR and its baselines over a list set: run, score, and keep what each question got."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pandas as pd

from mtrlib.data.schema import Run
from mtrlib.data.tasks import ListQuestion
from mtrlib.evaluation.multi_answer import RULES, multi_answer
from mtrlib.profiles import Profile
from mtrlib.reporting.rvr_retrievers import BASE, Retrievers
from mtrlib.rvr.backbones import backbone
from mtrlib.rvr.baselines import single_round
from mtrlib.rvr.loop import retrieve_verify_retrieve
from mtrlib.rvr.settings import RvrSettings, Seen, Verifier
from mtrlib.rvr.trace import RvrResult

# rows of the paper's tables: recipe of the first retriever, and of the later one
SYSTEMS = {
    "base_single": (BASE, ""),
    "ft_i_single": ("initial", ""),
    "joint_single": ("joint", ""),
    "base_base": (BASE, BASE),
    "ft_i_ft_i": ("initial", "initial"),
    "joint_joint": ("joint", "joint"),
    "base_ft_r": (BASE, "later"),
    "ft_i_ft_r": ("initial", "later"),
}
NO_VERIFIER = "-"  # of a single round
KEY = ["encoder", "system", "verifier"]


def rvr_settings(profile: Profile, encoder: str, **changed: Any) -> RvrSettings:
    """The loop's settings for an encoder; ``changed`` replaces single ones."""
    given = RvrSettings(
        rounds=profile.ROUNDS,
        k=profile.LIST_K,
        budget=profile.BUDGET,
        context=profile.CONTEXT or backbone(encoder).context,
        seen=cast("Seen", profile.SEEN),  # checked there
    )
    return replace(given, **changed)


@dataclass(eq=False)
class Grid:
    """Runs of one list set, scored under all four rules as they come in.

    Attributes
    ----------
    per_question : one row per run, rule and question: ``recall`` and ``mrecall``.
    coverage : per run and rule, the counts of :class:`.MultiAnswer`.
    results : by key, what the loop gave; single rounds and baselines are not here.
    runs : the ranked lists by key.
    """

    retrievers: Retrievers
    profile: Profile
    questions: Sequence[ListQuestion]
    results: dict[tuple[str, str, str], RvrResult] = field(default_factory=dict)
    runs: dict[tuple[str, str, str], Run] = field(default_factory=dict)
    _scores: list[pd.DataFrame] = field(default_factory=list)
    _counts: list[dict[str, Any]] = field(default_factory=list)

    @property
    def per_question(self) -> pd.DataFrame:
        """Scores of all runs so far."""
        return pd.concat(self._scores, ignore_index=True)

    @property
    def coverage(self) -> pd.DataFrame:
        """Counts of all runs so far."""
        return pd.DataFrame(self._counts)

    def add(self, encoder: str, system: str, verifier: str, run: Run) -> None:
        """Score a run under every rule that has something to count."""
        key = dict(zip(KEY, (encoder, system, verifier), strict=True))
        self.runs[encoder, system, verifier] = run
        for rule in rules_of(self.questions):
            found = multi_answer(
                self.questions,
                run,
                self.retrievers.lists.by_id,
                k=self.profile.LIST_K,
                rule=rule,
            )
            values = pd.DataFrame({"recall": found.recall, "mrecall": found.mrecall})
            self._scores.append(values.reset_index().assign(**key, rule=rule))
            self._counts.append({**key, "rule": rule, **found.counts})

    def single(self, encoder: str, system: str) -> None:
        """A single round of the first retriever of a system."""
        searcher = self.retrievers.searcher(encoder, SYSTEMS[system][0])
        lists = self.retrievers.lists
        run = single_round(self.questions, searcher, lists.by_id, self.profile.LIST_K)
        self.add(encoder, system, NO_VERIFIER, run)

    def run(self, encoder: str, system: str, verifier: Verifier, **changed: Any) -> RvrResult:
        """RVR with a system's two retrievers; nothing is kept."""
        first, later = SYSTEMS[system]
        return retrieve_verify_retrieve(
            self.questions,
            self.retrievers.searcher(encoder, first),
            self.retrievers.searcher(encoder, later),
            verifier,
            self.retrievers.lists.by_id,
            rvr_settings(self.profile, encoder, **changed),
        )

    def loop(self, encoder: str, system: str, verifier: Verifier, **changed: Any) -> RvrResult:
        """:meth:`run`, kept and scored."""
        result = self.run(encoder, system, verifier, **changed)
        self.results[encoder, system, verifier.name] = result
        self.add(encoder, system, verifier.name, result.run)
        return result


def rules_of(questions: Iterable[ListQuestion]) -> list[str]:
    """The rules under which at least one question has something to find."""
    found = list(questions)
    has = {
        "answers": any(q.answers for q in found),
        "clusters": any(a.passages for q in found for a in q.answers),
    }
    gold = any(q.gold or any(a.passages for a in q.answers) for q in found)
    return [rule for rule in RULES if has.get(rule, gold)]


def trained_systems(profile: Profile) -> list[str]:
    """Rows of the main table that the profile's recipes allow, in the paper's order."""
    known = {BASE, "", *profile.RECIPES}
    return [name for name, parts in SYSTEMS.items() if known.issuperset(parts)]


def efficiency(grid: Grid) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What each run of the loop cost per question.

    Returns
    -------
    DataFrame, DataFrame
        Counts, the same on every machine: ``searches``, ``judged`` (verdicts asked, replayed
        ones included), ``accepted``, ``unread`` and verdict ``coverage``. And seconds of this
        run: of a batch divided by its questions, so throughput and not latency; vectors of
        query texts that the cache holds cost nothing.
    """
    counts, seconds = [], []
    for key, result in grid.results.items():
        n = len(grid.questions)
        named = dict(zip(KEY, key, strict=True))
        trace, costs = result.trace, result.costs
        counts.append(
            {
                **named,
                "questions": n,
                "searches": costs["queries"].sum() / n,
                "judged": result.asked / n,
                "accepted": trace["accepted"].sum() / n,
                "unread": trace["unread"].sum() / n,
                "coverage": result.coverage,
            }
        )
        each = {
            "retrieval": costs["search_seconds"].sum(),
            "verification": costs["verify_seconds"].sum(),
        }
        seconds.append({**named, **{k: v / n for k, v in each.items()}})
    return pd.DataFrame(counts), pd.DataFrame(seconds)
