"""A judge that asks an LLM endpoint, or replays what it said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from mtrlib.audit.judging import LEVELS, METRICS, NONE, SWITCHED_OFF, Task
from mtrlib.data.schema import Passage
from mtrlib.llm.client import Client
from mtrlib.llm.decide import Asked, requests_for, verdicts
from mtrlib.llm.languages import language_of
from mtrlib.llm.probe import dialect_of
from mtrlib.llm.prompts import dialogue, load_prompt, numbered, shortened
from mtrlib.llm.questions import Choice, Predicate, Question, Score, Verdict
from mtrlib.llm.requests import Request
from mtrlib.retrieval.text import encoded_text


@dataclass
class LlmJudge:
    """All metrics through one endpoint, one question a request.

    Attributes
    ----------
    name : of the judge in all tables, the endpoint's alias as a rule.
    dialect : wire format; "" = as the endpoint's entry or the probe says.
    sample : number of the sample, to measure how far the judge agrees with itself.
    shortened : passages that a prompt showed cut, so far.
    """

    name: str
    client: Client
    dialect: str = ""
    sample: int = 0
    shortened: int = 0

    metrics = frozenset((*METRICS, *SWITCHED_OFF))

    @property
    def owner(self) -> str:
        """Family of the model, for the warning that it may have written the data."""
        return self.client.endpoint.owner

    def judge(self, tasks: Sequence[Task]) -> list[Verdict]:
        """One verdict per task, in order; see :class:`mtrlib.audit.judging.Judge`.

        Raises
        ------
        EndpointError, CoverageError, InputError
            As :meth:`mtrlib.llm.client.Client.ask`; what came before is stored.
        """
        found: list[Verdict] = [Verdict.missing("not_applicable")] * len(tasks)
        for language, at in self._by_language(tasks).items():
            asked = [self._asked(tasks[i], language) for i in at]
            told = verdicts(self.client, asked, dialect=self._dialect(), language=language)
            for i, verdict in zip(at, told, strict=True):
                found[i] = verdict
        return found

    def requests(self, tasks: Sequence[Task]) -> list[Request]:
        """What :meth:`judge` would send: for a dry run, or to know the keys of a run."""
        made = []
        for language, at in self._by_language(tasks).items():
            asked = [self._asked(tasks[i], language) for i in at]
            made += requests_for(
                self.client.endpoint, asked, dialect=self._dialect(), language=language
            )
        return made

    def plan(self, tasks: Sequence[Task]) -> pd.DataFrame:
        """Dry run of :meth:`judge`: calls, tokens and price range; nothing is sent."""
        return self.client.plan(self.requests(tasks)).table()

    def _by_language(self, tasks: Sequence[Task]) -> dict[str, list[int]]:
        groups: dict[str, list[int]] = {}
        for i, task in enumerate(tasks):
            groups.setdefault(language_of(task.item.question), []).append(i)
        return groups

    def _dialect(self) -> str:
        return self.dialect or dialect_of(self.client)

    def _asked(self, task: Task, language: str) -> Asked:
        prompt = load_prompt(task.metric, language)
        fields = {
            "history": dialogue(task.item.history, language),
            "question": task.item.question,
            "passages": numbered([self._shown(p) for p in task.options], language),
            "passage": self._shown(task.passage) if task.passage else "",
            "answer": task.item.answer or "",
        }
        state, instruction = prompt.fill(**{name: fields[name] for name in prompt.fields})
        note = f"{task.item.benchmark} {task.item.item_id} {task.metric}"
        return Asked(_question(task, instruction), state, prompt.version, self.sample, note)

    def _shown(self, passage: Passage) -> str:
        text = encoded_text(passage)
        cut = shortened(text)
        self.shortened += cut != text
        return cut


def _question(task: Task, instruction: str) -> Question:
    if task.metric in SWITCHED_OFF:
        return Predicate(instruction)
    if task.metric == "completeness":
        labels = {str(n): "" for n in range(1, len(task.options) + 1)}
        return Choice(instruction, {**labels, NONE: ""})
    return Score(instruction, LEVELS)
