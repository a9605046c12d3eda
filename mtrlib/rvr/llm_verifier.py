"""The LLM as verifier: one yes-or-no question per passage, in the wire formats of mtrlib.llm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mtrlib.data.schema import Passage
from mtrlib.data.tasks import ListQuestion
from mtrlib.llm.client import Client
from mtrlib.llm.decide import Asked, requests_for, verdicts
from mtrlib.llm.probe import dialect_of
from mtrlib.llm.prompts import load_prompt, shortened
from mtrlib.llm.questions import Predicate, Verdict
from mtrlib.llm.requests import Request
from mtrlib.retrieval.text import encoded_text
from mtrlib.rvr.settings import Verified

ACCEPT_FROM = 0.5


@dataclass
class LlmVerifier:
    """Asks whether a passage by itself supports at least one correct answer.

    It sees the question and one titled passage, never gold and never the other passages: like
    the paper's it does not ask for novelty, which is why later rounds bring little.

    Attributes
    ----------
    name : in all tables, the endpoint's alias as a rule.
    dialect : wire format; "" = as the endpoint's entry or the probe says.
    language : of the prompt, ``en`` or ``zh``.
    calls : requests sent, without retries of one that failed; ``cached`` those replayed from
        the store. Both from the client's own count, where the same request counts once.
    shortened : passages that a prompt showed cut, so far.
    """

    name: str
    client: Client
    dialect: str = ""
    language: str = "en"
    calls: int = 0
    cached: int = 0
    shortened: int = 0

    def verify(self, pairs: Sequence[tuple[ListQuestion, Passage]]) -> list[Verified]:
        """One verdict per pair; what cannot be read is rejected, with its reason (trap 21).

        Raises
        ------
        EndpointError, CoverageError, InputError
            As :meth:`mtrlib.llm.client.Client.ask`; what came before is stored.
        """
        usage = self.client.usage
        before = usage.calls - usage.retries, usage.replayed
        try:
            told = verdicts(
                self.client,
                [self._asked(q, p) for q, p in pairs],
                dialect=self._dialect(),
                language=self.language,
            )
        finally:
            self.calls += usage.calls - usage.retries - before[0]
            self.cached += usage.replayed - before[1]
        return [_verified(verdict) for verdict in told]

    def requests(self, pairs: Sequence[tuple[ListQuestion, Passage]]) -> list[Request]:
        """What :meth:`verify` would send: for a dry run, or to know the keys of a run."""
        asked = [self._asked(q, p) for q, p in pairs]
        return requests_for(
            self.client.endpoint, asked, dialect=self._dialect(), language=self.language
        )

    def _dialect(self) -> str:
        self.dialect = self.dialect or dialect_of(self.client)
        return self.dialect

    def _asked(self, question: ListQuestion, passage: Passage) -> Asked:
        prompt = load_prompt("verify", self.language)
        state, instruction = prompt.fill(question=question.question, passage=self._shown(passage))
        note = f"{question.question_id} {passage.passage_id} verify"
        return Asked(Predicate(instruction), state, prompt.version, note=note)

    def _shown(self, passage: Passage) -> str:
        text = encoded_text(passage)
        cut = shortened(text)
        self.shortened += cut != text
        return cut


def _verified(verdict: Verdict) -> Verified:
    if not isinstance(verdict.value, float | int):
        return Verified(False, reason=verdict.reason or "no_score")
    return Verified(verdict.value >= ACCEPT_FROM, float(verdict.value))
