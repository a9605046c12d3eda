"""Asks for a question in another wording, and turns away wordings that cannot stand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mtrlib.data.authored.wording import VERBOSE_WORDS, CopyCheck
from mtrlib.errors import InputError
from mtrlib.llm import text_problems
from mtrlib.llm.chat import Sampling, chat_request
from mtrlib.llm.decide import Asker
from mtrlib.llm.languages import language_of, same_language
from mtrlib.llm.prompts import Prompt, dialogue, load_prompt
from mtrlib.llm.requests import Reply, Request
from mtrlib.synthesis import guards
from mtrlib.synthesis.asking import ask_each
from mtrlib.synthesis.candidates import Candidate, Outcome, Problem, seed_of
from mtrlib.synthesis.drafts import DraftTurn

CONTEXT_DEPENDENT, VERBOSE = "context_dependent", "verbose"
LONGEST_SHORT = 1.3  # times the old length, as in the released code
LONGEST_VERBOSE = 1500  # characters
SHORTEST = 3  # characters, as in the released code
# the short style as in the released code; the long one needs more room than its 100 tokens
WRITING = {CONTEXT_DEPENDENT: Sampling(0.8, 0.9, 100), VERBOSE: Sampling(0.8, 0.9, 400)}

_PREFACE = re.compile(
    r"\brewrit|\bhere(?:'s| is| are)\b|^\W*(?:certainly|sure|of course|okay|ok)\b"
    r"|改写|以下是|当然可以|^好的",
    re.IGNORECASE,
)
_PARTS = re.compile(
    r"\b(?:and|or|as well as|but also)\b|以及|并且|还是|或者|同时|和", re.IGNORECASE
)
_HAN = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True)
class Rewriter:
    """Who rewrites, and how.

    Attributes
    ----------
    style : ``context_dependent`` (from the second turn on) or ``verbose`` (any turn).
    share : of the turns that may be rewritten; the seed and the turn's id choose them.
    writing : None = as ``WRITING`` says.
    copies : as in :class:`mtrlib.synthesis.agents.Agents`.
    """

    client: Asker
    style: str = CONTEXT_DEPENDENT
    share: float = 1.0
    writing: Sampling | None = None
    seed: int = 0
    copies: CopyCheck | None = None

    def __post_init__(self) -> None:
        if self.style not in WRITING:
            raise InputError(f"style={self.style!r}. Mend: use one of {', '.join(WRITING)}.")

    def chooses(self, turn: DraftTurn, number: int) -> bool:
        """Whether this turn is to be rewritten; a first turn has no context to depend on."""
        if number == 1 and self.style == CONTEXT_DEPENDENT:
            return False
        rng = np.random.default_rng(seed_of(self.seed, turn.turn_id, self.style))
        return bool(rng.random() < self.share)

    def rewrite(self, candidates: Sequence[Candidate]) -> list[Outcome]:
        """Each candidate in its new wording, or why the wording cannot stand, in order.

        Raises
        ------
        EndpointError, CoverageError
            As :meth:`mtrlib.llm.client.Client.ask`; what came before is stored.
        """
        return ask_each(self.client, candidates, self._request, self._read)

    def _request(self, candidate: Candidate) -> tuple[Request, Prompt]:
        language = language_of(candidate.question)
        prompt = load_prompt(f"synth_{self.style}", language)
        history = dialogue(candidate.history, language)
        seed = seed_of(self.seed, candidate.note, candidate.question)
        request = chat_request(
            self.client.endpoint,
            prompt,
            {"history": history, "question": candidate.question},
            (self.writing or WRITING[self.style]).fields(seed),
            note=f"{candidate.note} {self.style}",
        )
        return request, prompt

    def _read(self, candidate: Candidate, prompt: Prompt, reply: Reply) -> Outcome:
        text = guards.read_reply(reply, self.copies)
        if isinstance(text, Problem):
            return text
        new = " ".join(text.strip("\"'“”「」 \n").split())
        earlier = [u.text for u in candidate.history if u.role == "user"]
        reason = (
            ("echo" if text_problems.echoes(new, prompt.text) else "")
            or ("repeats_question" if text_problems.same(new, earlier) else "")
            or ("" if same_language(new, candidate.question) else "language")
            or wording_problem(new, candidate.question, self.style)
        )
        return Problem(reason, new) if reason else replace(candidate, question=new)


def wording_problem(new: str, old: str, style: str) -> str:
    """Why a wording cannot replace another one, or "".

    ``preface``, ``unchanged``, ``lost_part`` and ``added_part`` (by question marks, and by
    joining words for lost ones), ``too_short``, ``too_long``.

    Examples
    --------
    >>> wording_problem("When was it built?", "When and by whom was it built?", "context_dependent")
    'lost_part'
    """
    if _PREFACE.search(new) and not _PREFACE.search(old):
        return "preface"
    if text_problems.same(new, [old]):
        return "unchanged"
    marks = [sum(text.count(mark) for mark in "?？") for text in (new, old)]
    parts = [len(_PARTS.findall(text)) for text in (new, old)]
    if marks[0] < marks[1] or parts[0] < parts[1]:
        return "lost_part"
    if marks[0] > marks[1]:
        return "added_part"
    if style == VERBOSE:
        longest, short = LONGEST_VERBOSE, _words(new) < VERBOSE_WORDS
    else:
        longest, short = int(LONGEST_SHORT * len(old)), len(new) < SHORTEST
    return "too_short" if short else "too_long" if len(new) > longest else ""


def _words(text: str) -> float:
    """Words, where two Chinese characters count as one."""
    return len(_HAN.sub(" ", text).split()) + len(_HAN.findall(text)) / 2
