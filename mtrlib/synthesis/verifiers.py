"""The verifier agents that the original lacks: what a turn must pass to enter the benchmark.

Each takes candidates and gives, in the same order, the candidate (perhaps with more gold) or
the problem. A verdict that cannot be read turns the candidate away as ``unread``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mtrlib.data.schema import Passage
from mtrlib.llm.questions import Verdict
from mtrlib.retrieval.search import Searcher, searcher
from mtrlib.synthesis.candidates import Candidate, Outcome, Problem
from mtrlib.synthesis.support import Support
from mtrlib.synthesis.text_rules import speaks_of_source

AMBIGUOUS = "too_many_rivals"


@dataclass
class Verifiers:
    """All verifiers over one corpus.

    Attributes
    ----------
    corpus : all passages that a question may find, not only those of the clusters.
    support : LLM or local function that judges; the thresholds are on its scale.
    retriever : finds rivals; None = BM25, whose lists are the same on all processors.
    answerable_at, faithful_at : least support that passes; 4 of the LLM's 1 to 5.
    hits : how many of the best hits are judged as rivals.
    most_rivals : passages beside the claimed one that may become gold too.
    """

    corpus: Sequence[Passage]
    support: Support
    retriever: Searcher | None = None
    answerable_at: float = 4.0
    faithful_at: float = 4.0
    hits: int = 5
    most_rivals: int = 1
    _by_id: dict[str, Passage] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._by_id = {p.passage_id: p for p in self.corpus}
        self.retriever = self.retriever or searcher("bm25", self.corpus)

    def source_wording(self, candidates: Sequence[Candidate]) -> list[Outcome]:
        """Questions that point at a text do not pass: no user has it at hand."""
        return [
            Problem("source_wording", c.question) if speaks_of_source(c.question) else c
            for c in candidates
        ]

    def used_before(self, candidates: Sequence[Candidate]) -> list[Outcome]:
        """No gold passage may be gold of an earlier turn of the conversation."""
        return [
            Problem("passage", c.question) if any(p.passage_id in c.used for p in c.gold) else c
            for c in candidates
        ]

    def answerable(self, candidates: Sequence[Candidate]) -> list[Outcome]:
        """The claimed gold alone must answer the question."""
        told = self.support.answerable([(c, c.gold[0]) for c in candidates])
        return [
            _judged(candidate, verdict, self.answerable_at, "not_answerable")
            for candidate, verdict in zip(candidates, told, strict=True)
        ]

    def unique(self, candidates: Sequence[Candidate]) -> list[Outcome]:
        """Search the corpus and judge the best hits; what answers too becomes gold.

        The candidate's further gold is judged anew, and lost where it does not answer.
        Problems: ``unread``, where any hit has no verdict; ``too_many_rivals``.
        """
        rivals = self._possible_rivals(candidates)
        pairs = [(c, p) for c, found in zip(candidates, rivals, strict=True) for p in found]
        told = iter(self.support.answerable(pairs))
        return [
            self._with_rivals(candidate, [(p, next(told)) for p in found])
            for candidate, found in zip(candidates, rivals, strict=True)
        ]

    def faithful(self, candidates: Sequence[Candidate]) -> list[Outcome]:
        """The gold must bear out the answer."""
        told = self.support.faithful(candidates)
        return [
            _judged(candidate, verdict, self.faithful_at, "not_faithful")
            for candidate, verdict in zip(candidates, told, strict=True)
        ]

    def _possible_rivals(self, candidates: Sequence[Candidate]) -> list[list[Passage]]:
        assert self.retriever is not None
        if not candidates:
            return []
        queries = {str(i): c.search_text for i, c in enumerate(candidates)}
        run = self.retriever.search(queries, self.hits)
        found = []
        for i, candidate in enumerate(candidates):
            ids = [p.passage_id for p in candidate.gold[1:]] + run.ids(str(i))
            own = candidate.gold[0].passage_id
            found.append([self._by_id[p] for p in dict.fromkeys(ids) if p != own])
        return found

    def _with_rivals(
        self, candidate: Candidate, judged: Sequence[tuple[Passage, Verdict]]
    ) -> Outcome:
        unread = next((v.reason for _, v in judged if v.value is None), "")
        if unread:
            return Problem("unread", f"{unread}: {candidate.question}")
        rivals = [p for p, v in judged if float(v.value or 0.0) >= self.answerable_at]
        if len(rivals) > self.most_rivals:
            ids = ", ".join(p.passage_id for p in rivals)
            return Problem(AMBIGUOUS, f"{ids}: {candidate.question}")
        return replace(candidate, gold=(candidate.gold[0], *rivals))


def _judged(candidate: Candidate, verdict: Verdict, least: float, reason: str) -> Outcome:
    if verdict.value is None:
        return Problem("unread", f"{verdict.reason}: {candidate.question}")
    value = float(verdict.value)
    return candidate if value >= least else Problem(reason, f"{value:.2f}: {candidate.question}")
