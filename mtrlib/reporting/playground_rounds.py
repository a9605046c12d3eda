"""One list question, everything visible: the rounds of RVR, verdicts, answers found, gold.

The retrievers are the base encoders, nothing is trained here; the verifiers are those that cost
nothing: none, shared words, and the oracle.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd

from mtrlib.data.list_sets import ListSet, load_list_set
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import FetchError, InputError
from mtrlib.profiles import Profile
from mtrlib.reporting.rvr_grid import Grid
from mtrlib.reporting.rvr_retrievers import Retrievers
from mtrlib.reporting.rvr_runs import new_grid, new_verifiers, run_systems
from mtrlib.rvr.trace import RvrResult
from mtrlib.rvr.training import TrainedRetriever

UNTRAINED = "base_base"  # the base encoder in both rounds
VERIFIERS = ("none", "lexical", "oracle")


@dataclass(frozen=True, eq=False)
class Asked:
    """One question as it went through the rounds.

    Attributes
    ----------
    grid : holds the runs of all questions.
    verifier : one of those that ran.

    Raises
    ------
    InputError
        A question, or a pair of encoder and verifier, that has no run.
    """

    grid: Grid
    question_id: str
    encoder: str
    verifier: str

    def __post_init__(self) -> None:
        if self.question_id not in questions(self.grid):
            raise InputError(f"question {self.question_id!r} is not among those that ran.")
        if (self.encoder, UNTRAINED, self.verifier) not in self.grid.results:
            ran = ", ".join(f"{e} with {v}" for e, v in runs(self.grid))
            raise InputError(
                f"{self.encoder!r} with {self.verifier!r} has no run. There are: {ran}."
            )

    @property
    def question(self) -> ListQuestion:
        """The question with its answers and gold."""
        return questions(self.grid)[self.question_id]

    @property
    def result(self) -> RvrResult:
        """What the loop gave, for all questions."""
        return self.grid.results[self.encoder, UNTRAINED, self.verifier]

    def own(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Rows of this question."""
        return frame[frame["question_id"] == self.question_id]


def open_rounds(profile: Profile) -> Grid:
    """Run the loop over the questions of LISTS, once per encoder and verifier; trains nothing.

    An encoder that cannot be had is left out with its reason. Shared words need questions to set
    a threshold on; without any they are left out as well.

    Raises
    ------
    InputError
        No encoder is left, or as :func:`mtrlib.data.list_sets.load_list_set`.
    """
    lists = load_list_set(profile)
    retrievers = _untrained(lists, profile)
    grid, verifiers = new_grid(retrievers, profile), new_verifiers(retrievers, profile)
    others = [s for s in ("train", "dev") if s != profile.LIST_SPLIT]
    scored = any(lists.questions[split] for split in others)
    names = [name for name in VERIFIERS if scored or name != "lexical"]
    run_systems(grid, verifiers, names, [UNTRAINED])
    return grid


def _untrained(lists: ListSet, profile: Profile) -> Retrievers:
    found = Retrievers(lists, {name: {} for name in profile.ENCODERS}, {})
    unavailable = {}
    for name in profile.ENCODERS:
        try:
            found.searcher(name)
        except FetchError as error:
            unavailable[name] = str(error)
    kept: dict[str, dict[str, TrainedRetriever]] = {
        name: {} for name in profile.ENCODERS if name not in unavailable
    }
    return replace(found, trained=kept, unavailable=unavailable)


def questions(grid: Grid) -> dict[str, ListQuestion]:
    """The questions by id, in the order of the set."""
    return {q.question_id: q for q in grid.questions}


def runs(grid: Grid) -> list[tuple[str, str]]:
    """Encoder and verifier of every run."""
    return [(encoder, verifier) for encoder, _, verifier in grid.results]


def digest(grid: Grid) -> dict[str, str]:
    """Name of the set -> SHA-256 of its data, for manifests."""
    return {grid.retrievers.lists.name: grid.retrievers.lists.digest()}


def example(grid: Grid) -> Asked:
    """The question whose second round brings most answers under the last verifier.

    Ties go to the first. Chosen by the answers, so it is an illustration, no finding.
    """
    encoder, verifier = runs(grid)[-1]
    trace = grid.results[encoder, UNTRAINED, verifier].trace
    later = trace[trace["round"] > 1].groupby("question_id", sort=False)["new_answers"].sum()
    first = grid.questions[0].question_id
    chosen = str(later.idxmax()) if len(later) else first
    return Asked(grid, chosen, encoder, verifier)


def about(grid: Grid) -> list[str]:
    """What ran, a line each."""
    lists, profile = grid.retrievers.lists, grid.profile
    ran = ", ".join(f"{encoder} with {verifier}" for encoder, verifier in runs(grid))
    lines = [
        f"{lists.name}, {profile.LIST_SPLIT}: {len(grid.questions)} questions, "
        f"{len(lists.passages)} passages; T = {profile.ROUNDS}, K = {profile.LIST_K}, "
        f"B = {profile.BUDGET}",
        f"untrained: {ran}",
    ]
    return lines + [f"left out: {why}" for why in grid.retrievers.unavailable.values()]
