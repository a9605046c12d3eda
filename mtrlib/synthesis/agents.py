"""The query agent and the response agent of MTR-Pipeline, through the LLM layer.

The query agent names the passage that its question is about (``mtr.md`` 2.4); with
``claims="given"`` it is shown one passage and the code names it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mtrlib.data.authored.wording import CopyCheck
from mtrlib.data.schema import Passage, Utterance
from mtrlib.errors import InputError
from mtrlib.llm.chat import AS_RELEASED, Sampling, chat_request
from mtrlib.llm.decide import Asker
from mtrlib.llm.languages import language_of
from mtrlib.llm.prompts import Prompt, dialogue, load_prompt, numbered
from mtrlib.llm.requests import Reply, Request
from mtrlib.retrieval.text import encoded_text
from mtrlib.synthesis import guards
from mtrlib.synthesis.asking import ask_each
from mtrlib.synthesis.candidates import Candidate, Outcome, Problem, seed_of
from mtrlib.synthesis.claims import read_claim, read_question

PROMPTS = {
    "model": "synth_question",
    "given": "synth_question_given",
    "alone": "synth_question_alone",
}


@dataclass(frozen=True)
class Scene:
    """What the query agent sees when it is asked for one turn.

    Attributes
    ----------
    turn_number : that the turn will have.
    slot, attempt : which planned turn and which try at it, from 1; part of the request's key.
    passages : those shown, in this order.
    taken : questions that must not come again: earlier turns, and tries that were ambiguous.
    """

    conversation_id: str
    turn_number: int
    slot: int
    attempt: int
    passages: tuple[Passage, ...]
    history: tuple[Utterance, ...] = ()
    taken: tuple[str, ...] = ()
    used: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Agents:
    """Both agents with their settings.

    Attributes
    ----------
    client : whom to ask; one that logs keys (:class:`mtrlib.synthesis.key_log.KeyLog`) too.
    claims : ``model`` = several passages are shown and the model names its own, as in the
        paper; ``given`` = one passage is shown; ``alone`` = one passage and nothing else, for
        small models, which repeat whatever history they see.
    shown : passages shown at once with ``claims="model"``; 5 in the released code.
    asking, answering : how each of the two writes.
    seed : goes into every request, for servers that take one.
    copies : set where the replies are to be committed; see :func:`guards.read_reply`.
    """

    client: Asker
    claims: str = "model"
    shown: int = 5
    asking: Sampling = AS_RELEASED
    answering: Sampling = AS_RELEASED
    seed: int = 0
    copies: CopyCheck | None = None

    def __post_init__(self) -> None:
        if self.claims not in PROMPTS:
            raise InputError(f"claims={self.claims!r}. Mend: use one of {', '.join(PROMPTS)}.")

    @property
    def at_once(self) -> int:
        """Passages in one scene."""
        return self.shown if self.claims == "model" else 1

    def questions(self, scenes: Sequence[Scene]) -> list[Outcome]:
        """One question with its claimed passage per scene, in order.

        Raises
        ------
        EndpointError, CoverageError
            As :meth:`mtrlib.llm.client.Client.ask`; what came before is stored.
        """
        return ask_each(self.client, scenes, self._question, self._claimed)

    def answers(self, candidates: Sequence[Candidate]) -> list[Outcome]:
        """Each candidate with the answer that the response agent gives from its gold only.

        Raises
        ------
        EndpointError, CoverageError
            As :meth:`questions`.
        """
        return ask_each(self.client, candidates, self._answer, self._answered)

    def _question(self, scene: Scene) -> tuple[Request, Prompt]:
        texts = [encoded_text(p) for p in scene.passages]
        language = language_of(texts[0])
        prompt = load_prompt(PROMPTS[self.claims], language)
        taken = "\n".join(f"- {question}" for question in scene.taken)
        fields = {
            "history": dialogue(scene.history, language),
            "earlier": taken or dialogue((), language),
            "passages": numbered(texts, language),
            "passage": texts[0],
        }
        seed = seed_of(self.seed, scene.conversation_id, scene.slot, scene.attempt)
        request = chat_request(
            self.client.endpoint,
            prompt,
            fields,
            self.asking.fields(seed),
            sample=scene.attempt,
            note=f"{scene.conversation_id} turn {scene.turn_number} question",
        )
        return request, prompt

    def _claimed(self, scene: Scene, prompt: Prompt, reply: Reply) -> Outcome:
        text = guards.read_reply(reply, self.copies)
        if isinstance(text, Problem):
            return text
        if self.claims == "model":
            claim = read_claim(text, len(scene.passages))
        else:
            claim = read_question(text)
        if isinstance(claim, Problem):
            return claim
        number, question = claim
        passage = scene.passages[number - 1]
        if reason := guards.question_problem(question, passage, prompt, scene.taken):
            return Problem(reason, question)
        return Candidate(
            scene.conversation_id,
            scene.turn_number,
            question,
            (passage,),
            scene.history,
            scene.used,
            sample=scene.attempt,
        )

    def _answer(self, candidate: Candidate) -> tuple[Request, Prompt]:
        language = language_of(candidate.question)
        prompt = load_prompt("synth_answer", language)
        fields = {
            "history": dialogue(candidate.history, language),
            "passages": "\n\n".join(encoded_text(p) for p in candidate.gold),
            "question": candidate.question,
        }
        seed = seed_of(self.seed, candidate.conversation_id, candidate.question, candidate.sample)
        request = chat_request(
            self.client.endpoint,
            prompt,
            fields,
            self.answering.fields(seed),
            sample=candidate.sample,
            note=f"{candidate.note} answer",
        )
        return request, prompt

    def _answered(self, candidate: Candidate, prompt: Prompt, reply: Reply) -> Outcome:
        text = guards.read_reply(reply, self.copies)
        if isinstance(text, Problem):
            return text
        reason = guards.answer_problem(text, candidate, prompt)
        return Problem(reason, candidate.question) if reason else replace(candidate, answer=text)
