"""What becomes of an agent's reply: an error, a refusal or a copy never becomes data.

Every rule is strict on purpose. A turn that is turned away by mistake costs one more try, a
turn that is let in by mistake stays in the benchmark.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mtrlib.data.authored.wording import CopyCheck
from mtrlib.data.schema import Passage
from mtrlib.llm import text_problems
from mtrlib.llm.client import NOT_RECORDED
from mtrlib.llm.languages import same_language
from mtrlib.llm.parsing import BROKEN_OFF
from mtrlib.llm.prompts import Prompt
from mtrlib.llm.replies import REJECTED
from mtrlib.llm.reply_text import split_reply
from mtrlib.llm.requests import Reply
from mtrlib.retrieval.text import encoded_text
from mtrlib.synthesis import text_rules
from mtrlib.synthesis.candidates import Candidate, Problem

_REASONING_END = re.compile(r".*</(?:think|thinking|thought|reasoning)>", re.I | re.S)


def read_reply(reply: Reply, copies: CopyCheck | None = None) -> str | Problem:
    """What a reply says outside its reasoning, or why nothing can be taken from it.

    A copy comes first: when replies are committed, its text is replaced by a hash, and the
    replay must then say what the live run said.

    Parameters
    ----------
    copies : set where replies are to be committed: a run of eight words that stands in the
        corpus turns the reply away.
    """
    if reply.failed:
        known = {REJECTED: "copies_passage", NOT_RECORDED: "not_recorded"}
        detail = "" if reply.failed in known else reply.failed
        return Problem(known.get(reply.failed, "failed"), detail)
    if copies is not None and any(True for _ in copies.problems("", reply.text)):
        return Problem("copies_passage")
    if reply.finish_reason in BROKEN_OFF:
        return Problem(BROKEN_OFF[reply.finish_reason])
    if split_reply(reply.text).broken:
        return Problem("broken")  # reasoning or a JSON object that is never closed
    text = _REASONING_END.sub("", reply.text).strip()
    reason = text_problems.text_problem(text)
    return Problem(reason) if reason else text


def question_problem(question: str, passage: Passage, prompt: Prompt, taken: Sequence[str]) -> str:
    """Why a question cannot stand, or ""; what it says about a source is judged later.

    Parameters
    ----------
    passage : the one that it claims to be about.
    taken : questions that it must not repeat.
    """
    return (
        text_problems.text_problem(question)
        or ("" if text_rules.has_question_mark(question) else "no_question")
        or ("lacks_options" if text_rules.lacks_options(question) else "")
        or ("repeats_question" if text_problems.same(question, taken) else "")
        or ("echo" if text_problems.echoes(question, prompt.text) else "")
        or ("" if same_language(question, passage.text) else "language")
        or ("" if text_rules.shares_content(question, encoded_text(passage)) else "off_passage")
    )


def answer_problem(answer: str, candidate: Candidate, prompt: Prompt) -> str:
    """Why a text is no answer to a candidate's question, or ""."""
    asked = [u.text for u in candidate.history if u.role == "user"]
    # a question may be too short to show its language; it has that of its passage
    others = (candidate.question, candidate.gold[0].text)
    return (
        ("no_answer" if text_rules.gives_no_answer(answer) else "")
        or ("repeats_question" if text_problems.same(answer, [candidate.question, *asked]) else "")
        or ("echo" if text_problems.echoes(answer, prompt.text) else "")
        or ("" if all(same_language(answer, text) for text in others) else "language")
        or ("source_wording" if text_rules.speaks_of_source(answer) else "")
    )
