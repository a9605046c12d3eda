"""How strongly a passage supports a question or an answer: asked of an LLM, or computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from mtrlib.data.schema import Passage
from mtrlib.errors import InputError
from mtrlib.llm.decide import Asked, Asker, verdicts
from mtrlib.llm.languages import language_of
from mtrlib.llm.probe import dialect_for
from mtrlib.llm.prompts import dialogue, load_prompt
from mtrlib.llm.questions import Score, Verdict
from mtrlib.retrieval.text import encoded_text
from mtrlib.synthesis.candidates import Candidate

LEVELS = ("nothing", "little", "about half", "most", "all")

# text and passages -> one score per passage, higher = more support
LocalScore = Callable[[str, Sequence[Passage]], list[float]]
Pair = tuple[Candidate, Passage]


class Support(Protocol):
    """Tells on a scale of its own how strongly a passage supports; thresholds fit the scale."""

    def answerable(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Whether the passage alone answers the candidate's question; one verdict per pair."""

    def faithful(self, candidates: Sequence[Candidate]) -> list[Verdict]:
        """Whether the gold bears out the candidate's answer; one verdict per candidate."""


@dataclass(frozen=True)
class LlmSupport:
    """An LLM endpoint gives a level from 1 (nothing) to 5 (all).

    Attributes
    ----------
    client : whom to ask; another model than the one that writes, where there is one.
    dialect : wire format; "" = as the endpoint's entry or its last probe says.
    """

    client: Asker
    dialect: str = ""

    def answerable(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """As :meth:`Support.answerable`.

        Raises
        ------
        EndpointError, CoverageError, InputError
            As :meth:`mtrlib.llm.client.Client.ask`; what came before is stored.
        """
        return self._levels([(c, encoded_text(p), "answerable") for c, p in pairs])

    def faithful(self, candidates: Sequence[Candidate]) -> list[Verdict]:
        """As :meth:`Support.faithful`; all gold passages are shown together."""
        return self._levels(
            [(c, "\n\n".join(encoded_text(p) for p in c.gold), "faithful") for c in candidates]
        )

    def _levels(self, tasks: Sequence[tuple[Candidate, str, str]]) -> list[Verdict]:
        found: list[Verdict] = [Verdict.missing("not_applicable")] * len(tasks)
        groups: dict[str, list[int]] = {}
        for i, (candidate, _, _) in enumerate(tasks):
            groups.setdefault(language_of(candidate.question), []).append(i)
        for language, at in groups.items():
            asked = [_asked(*tasks[i], language) for i in at]
            dialect = self.dialect or dialect_for(self.client.endpoint)
            told = verdicts(self.client, asked, dialect=dialect, language=language)
            for i, verdict in zip(at, told, strict=True):
                found[i] = verdict
        return found


@dataclass(frozen=True)
class LocalSupport:
    """A scoring function in place of an LLM: a reranker, an encoder, a word overlap.

    Attributes
    ----------
    score : question and passages -> scores.
    score_answer : answer and passages -> scores; None = ``score``. The best passage counts.
    """

    score: LocalScore
    score_answer: LocalScore | None = None

    def answerable(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """As :meth:`Support.answerable`; the function is called once per question.

        Raises
        ------
        InputError
            The function gave another number of scores than it got passages.
        """
        found: list[Verdict] = [Verdict.missing("not_applicable")] * len(pairs)
        groups: dict[str, list[int]] = {}
        for i, (candidate, _) in enumerate(pairs):
            groups.setdefault(candidate.search_text, []).append(i)
        for text, at in groups.items():
            told = _scores(self.score, text, [pairs[i][1] for i in at])
            for i, verdict in zip(at, told, strict=True):
                found[i] = verdict
        return found

    def faithful(self, candidates: Sequence[Candidate]) -> list[Verdict]:
        """As :meth:`Support.faithful`; a score that is no number leaves the verdict missing."""
        score = self.score_answer or self.score
        found = []
        for candidate in candidates:
            told = _scores(score, candidate.answer, candidate.gold)
            unread = next((v for v in told if v.value is None), None)
            found.append(unread or max(told, key=lambda v: float(v.value or 0.0)))
        return found


def _asked(candidate: Candidate, passage: str, what: str, language: str) -> Asked:
    prompt = load_prompt(f"synth_{what}", language)
    fields = {
        "history": dialogue(candidate.history, language),
        "question": candidate.question,
        "passage": passage,
        "answer": candidate.answer,
    }
    state, instruction = prompt.fill(**{name: fields[name] for name in prompt.fields})
    note = f"{candidate.note} {what}"
    return Asked(Score(instruction, LEVELS), state, prompt.version, note=note)


def _scores(score: LocalScore, text: str, passages: Sequence[Passage]) -> list[Verdict]:
    values = score(text, passages)
    if len(values) != len(passages):
        raise InputError(
            f"the scoring function gave {len(values)} scores for {len(passages)} passages. "
            "Mend: it must give one score per passage, in order."
        )
    finite = [float(v) if math.isfinite(v) else None for v in values]
    return [Verdict.missing("no_score") if v is None else Verdict(v) for v in finite]
