"""What an endpoint can really do, found by the effect of a few short requests.

Servers answer 200 and ignore fields that they do not know, so a status proves nothing: a
schema counts as obeyed when the reply fits it against the prompt's wish, logprobs when a label
can be read from them, a seed when two of them give two texts.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from mtrlib.errors import EndpointError, InputError
from mtrlib.llm.capabilities import Capabilities, known, remember
from mtrlib.llm.client import Client
from mtrlib.llm.dialects import build, read
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.label_tokens import read_label_tokens
from mtrlib.llm.questions import Predicate
from mtrlib.llm.requests import DIALECTS
from mtrlib.llm.retry import Send
from mtrlib.llm.transport import OpenAITransport
from mtrlib.llm.trial_calls import TrialCalls

_ROOM = 1024  # tokens, so that a model that reasons first gets to its answer

_STATE = "The lake is forty metres deep and lies in the north of the island."
_QUESTION = Predicate("Does the text say how deep the lake is?")
_SENTENCE = "Make up one sentence about a journey. Plain words only, no JSON."
_COLOURS = ["teal", "ochre"]
_SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": _COLOURS}},
    "required": ["colour"],
    "additionalProperties": False,
}


def probe(
    endpoint: Endpoint, send: Send, *, wait: Callable[[float], object] = time.sleep
) -> Capabilities:
    """Try every dialect and two sampling fields; the result is kept, see ``capabilities.py``.

    Eight short calls, retries aside. Answers 400, 404, 405 and 422, and answers in another
    form, mean that the dialect is not offered.

    Parameters
    ----------
    send : makes one call, as :class:`mtrlib.llm.transport.OpenAITransport`.
    wait : sleeps between the attempts of a call that may succeed later.

    Raises
    ------
    EndpointError
        Any other error (no access, no credit, no connection), or no dialect is offered.
    """
    ask = TrialCalls(endpoint, send, wait)
    seen = {dialect: trial(ask) for dialect, trial in _TRIALS.items()}
    offered = tuple(d for d in DIALECTS if seen[d])
    if not offered:
        raise EndpointError(
            f"{endpoint.alias}: none of {', '.join(DIALECTS)} is offered. "
            "Mend: check the base URL and the model's name."
        )
    found = Capabilities(
        endpoint=endpoint.alias,
        model=endpoint.model_alias,
        date=datetime.now(UTC).date().isoformat(),
        offered=offered,
        ignored=tuple(d for d in DIALECTS if seen[d] is False),
        samples_differ=_samples_differ(ask) if seen["chat"] else None,
        n_honoured=_n_honoured(ask) if seen["chat"] else None,
    )
    remember(endpoint, found)
    return found


def dialect_for(endpoint: Endpoint, send: Send | None = None) -> str:
    """The dialect to use: as the endpoint's entry says, else as the probe found.

    Parameters
    ----------
    send : as :func:`probe`; None = nothing may be sent.

    Raises
    ------
    InputError
        The entry names none, nothing was probed, and nothing may be sent.
    EndpointError
        As :func:`probe`.
    """
    if endpoint.dialect:
        return endpoint.dialect
    found = known(endpoint)
    if found is not None:
        return found.best
    if send is None:
        raise InputError(
            f"{endpoint.alias}: the dialect is not known and nothing may be sent to probe it. "
            f"Mend: name it in the endpoint's entry, one of {', '.join(DIALECTS)}."
        )
    return probe(endpoint, send).best


def dialect_of(client: Client) -> str:
    """:func:`dialect_for` the client's endpoint; probes only where the client may send.

    Raises
    ------
    InputError, EndpointError
        As :func:`dialect_for`.
    """
    if client.replay_only or client.endpoint.dialect:
        return dialect_for(client.endpoint)
    with OpenAITransport(client.endpoint) as send:
        return dialect_for(client.endpoint, send)


Trial = bool | None  # effect seen, no effect, or not offered


def _typed(ask: TrialCalls, dialect: str) -> Trial:
    answer = ask(dialect, build(dialect, _QUESTION, _STATE))
    return None if answer is None else read(dialect, _QUESTION, answer[0]).value is not None


def _schema(ask: TrialCalls) -> Trial:
    form = {"name": "colour", "strict": True, "schema": _SCHEMA}
    body = {**_sentence(), "response_format": {"type": "json_schema", "json_schema": form}}
    answer = ask("chat_schema", body)
    if answer is None:
        return None
    try:
        found = json.loads(answer[0].text)
    except ValueError:
        return False
    return isinstance(found, dict) and list(found) == ["colour"] and found["colour"] in _COLOURS


def _logprobs(ask: TrialCalls) -> Trial:
    answer = ask("chat_logprobs", build("chat_logprobs", _QUESTION, _STATE))
    if answer is None:
        return None
    verdict = read_label_tokens(_QUESTION, answer[0].data.get("content") or [])
    return verdict is not None and verdict.value is not None


def _chat(ask: TrialCalls) -> Trial:
    answer = ask("chat", _sentence())
    return None if answer is None else bool(answer[0].text.strip())


def _samples_differ(ask: TrialCalls) -> bool:
    answers = [ask("chat", {**_sentence(), "temperature": 1.0, "seed": s}) for s in (1, 2)]
    return len({a[0].text for a in answers if a is not None}) == 2


def _n_honoured(ask: TrialCalls) -> bool:
    answer = ask("chat", {**_sentence(), "n": 2})
    return answer is not None and len(answer[1].get("choices", ())) == 2


def _sentence() -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": _SENTENCE}], "max_tokens": _ROOM}


_TRIALS: dict[str, Callable[[TrialCalls], Trial]] = {
    "decisions": lambda ask: _typed(ask, "decisions"),
    "system_one": lambda ask: _typed(ask, "system_one"),
    "chat_schema": _schema,
    "chat_logprobs": _logprobs,
    "chat": _chat,
}
