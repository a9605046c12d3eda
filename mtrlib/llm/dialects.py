"""One question to a request body and one reply to a verdict, in each of the wire formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from mtrlib.errors import InputError
from mtrlib.llm.chat_dialects import (
    build_chat,
    build_logprobs,
    build_schema,
    read_logprobs,
    read_schema,
    read_text,
)
from mtrlib.llm.questions import Question, Verdict
from mtrlib.llm.requests import DIALECTS, Reply
from mtrlib.llm.typed_dialects import (
    build_decisions,
    build_system_one,
    read_decisions,
    read_system_one,
)

_TYPED: dict[str, Callable[..., dict[str, Any]]] = {
    "decisions": build_decisions,
    "system_one": build_system_one,
}
_CHAT: dict[str, Callable[..., dict[str, Any]]] = {
    "chat_schema": build_schema,
    "chat_logprobs": build_logprobs,
    "chat": build_chat,
}
_READ: dict[str, Callable[[Question, Reply], Verdict]] = {
    "decisions": lambda question, reply: read_decisions(question, reply.data),
    "system_one": lambda question, reply: read_system_one(question, reply.data),
    "chat_schema": read_schema,
    "chat_logprobs": read_logprobs,
    "chat": read_text,
}
NOTHING: Mapping[str, Any] = MappingProxyType({})


def build(
    dialect: str,
    question: Question,
    state: str,
    *,
    system: str = "",
    sampling: Mapping[str, Any] = NOTHING,
    language: str = "en",
) -> dict[str, Any]:
    """Body of one request, without the model; it holds only fields that are set.

    Parameters
    ----------
    dialect : one of :data:`mtrlib.llm.requests.DIALECTS`.
    state : the text of the item: question, history, passages.
    system : system message, "" for none.
    sampling : temperature, max_tokens, seed and the like. None values are left out; the
        typed dialects, which generate nothing, take none of them.
    language : ``en`` or ``zh``, of the line that says how to answer (chat only).

    Raises
    ------
    InputError
        Unknown dialect or language, or more options than the dialect takes.

    Examples
    --------
    >>> from mtrlib.llm.questions import Predicate
    >>> body = build("system_one", Predicate("Is it about boats?"), "A day at sea")
    >>> body["questions"]["answer"]
    {'instructions': 'Is it about boats?', 'type': 'noul'}
    """
    _known(dialect)
    if dialect in _TYPED:
        return _TYPED[dialect](question, state, system=system)
    kept = {name: value for name, value in sampling.items() if value is not None}
    return _CHAT[dialect](question, state, system=system, sampling=kept, language=language)


def read(dialect: str, question: Question, reply: Reply) -> Verdict:
    """Verdict of a reply to what :func:`build` made; never raises for what a server wrote.

    Raises
    ------
    InputError
        Unknown dialect.
    """
    _known(dialect)
    if reply.failed:
        return Verdict.missing("not_recorded" if reply.failed == "not recorded" else "failed")
    return _READ[dialect](question, reply)


def _known(dialect: str) -> None:
    if dialect not in DIALECTS:
        raise InputError(f"dialect {dialect!r} is unknown. Known: {', '.join(DIALECTS)}.")
