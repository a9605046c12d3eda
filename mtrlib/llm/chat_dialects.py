"""Wire formats over ``/v1/chat/completions``: with a JSON schema, with logprobs, or plain.

The prompt is one user message: the state, the instructions, and the line that says how to
answer. Servers drop ``response_format`` and ``logprobs`` without a word, so what comes back is
always validated, and the strict reading of text is the way out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mtrlib.llm.answer_forms import KEYS, answer_form
from mtrlib.llm.distributions import allowed
from mtrlib.llm.label_tokens import ALTERNATIVES, MOST_TOKENS, check_labels, read_label_tokens
from mtrlib.llm.parsing import read_choice, read_predicate, read_score
from mtrlib.llm.questions import Choice, Predicate, Question, Score, Verdict
from mtrlib.llm.requests import Reply


def build_chat(
    question: Question,
    state: str,
    *,
    system: str = "",
    sampling: Mapping[str, Any],
    language: str = "en",
) -> dict[str, Any]:
    """Body of a plain chat. A score is asked for as a JSON object, anything else bare."""
    as_json = isinstance(question, Score)
    return {"messages": _messages(question, state, system, as_json, language), **sampling}


def build_schema(
    question: Question,
    state: str,
    *,
    system: str = "",
    sampling: Mapping[str, Any],
    language: str = "en",
) -> dict[str, Any]:
    """Body with a strict JSON schema; the prompt states the form too, for servers without."""
    key = KEYS[type(question)]
    answers: list[Any] = list(allowed(question))
    if isinstance(question, Score):
        value = {"type": "integer", "enum": [int(a) for a in answers]}
    else:
        value = {"type": "string", "enum": answers}
    schema = {
        "type": "object",
        "properties": {key: value},
        "required": [key],
        "additionalProperties": False,
    }
    return {
        "messages": _messages(question, state, system, True, language),
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "verdict", "strict": True, "schema": schema},
        },
        **sampling,
    }


def build_logprobs(
    question: Question,
    state: str,
    *,
    system: str = "",
    sampling: Mapping[str, Any],
    language: str = "en",
) -> dict[str, Any]:
    """Body that asks for the alternatives of the first tokens.

    ``max_tokens`` of ``sampling`` gives way to the few tokens that are read.

    Raises
    ------
    InputError
        Labels that one token cannot tell apart.
    """
    check_labels(question)
    return {
        "messages": _messages(question, state, system, False, language),
        **sampling,
        "max_tokens": MOST_TOKENS,
        "logprobs": True,
        "top_logprobs": ALTERNATIVES,
    }


def read_text(question: Question, reply: Reply) -> Verdict:
    """Verdict from the message, by the strict readers of :mod:`mtrlib.llm.parsing`."""
    if isinstance(question, Predicate):
        return read_predicate(reply.text, finish_reason=reply.finish_reason)
    if isinstance(question, Choice):
        labels = allowed(question)
        return read_choice(reply.text, labels=labels, finish_reason=reply.finish_reason)
    return read_score(
        reply.text, low=question.low, high=question.high, finish_reason=reply.finish_reason
    )


def read_schema(question: Question, reply: Reply) -> Verdict:
    """Verdict from an object that fits the schema exactly, else from the text."""
    key = KEYS[type(question)]
    try:
        found = json.loads(reply.text)
    except (ValueError, RecursionError):
        found = None
    value = found.get(key) if isinstance(found, dict) and list(found) == [key] else None
    wanted = int if isinstance(question, Score) else str
    if type(value) is not wanted or str(value) not in allowed(question):
        return read_text(question, reply)
    if isinstance(question, Predicate):
        return Verdict(1.0 if value == "yes" else 0.0)
    return Verdict(float(value) if isinstance(question, Score) else value)


def read_logprobs(question: Question, reply: Reply) -> Verdict:
    """Verdict from the label tokens; from the text where they are absent.

    Where the labels hold too little probability there is no verdict, whatever the text says;
    only its reason is taken over (a refusal, a reply that was cut).
    """
    tokens = reply.data.get("content")
    verdict = read_label_tokens(question, tokens if isinstance(tokens, list) else [])
    if verdict is not None and verdict.value is not None:
        return verdict
    spoken = read_text(question, reply)
    return spoken if verdict is None or spoken.value is None else verdict


def _messages(
    question: Question, state: str, system: str, as_json: bool, language: str
) -> list[dict[str, str]]:
    form = answer_form(question, as_json=as_json, language=language)
    prompt = "\n\n".join([state, question.instructions, form])
    before = [{"role": "system", "content": system}] if system else []
    return [*before, {"role": "user", "content": prompt}]
