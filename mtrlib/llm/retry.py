"""The one place of retries: what is worth another call, after how long, and what ends a run."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mtrlib.data.strings import word_runs
from mtrlib.errors import EndpointError
from mtrlib.llm.answers import CallError, read_answer
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.request_fields import AcceptedFields, Changes, changed, mend
from mtrlib.llm.requests import Reply, Request

Send = Callable[[Request, Endpoint], Mapping[str, Any]]

FIRST_WAIT = 1.0  # seconds before the second attempt, doubled before each further one
LONGEST_WAIT = 60.0
LONGEST_RETRY_AFTER = 300.0  # what a server may ask for at most; past it the wait is cut
_PASSING = (408, 409, 425, 429)
_PERMANENT = {
    401: "check the API key{variable}",
    402: "the account has no credit left: top it up, then run again",
    403: "the key{variable} may not use this model: ask for access or name another model",
    404: "check the base URL, the model's name and the dialect",
}
_NO_QUOTA = "insufficient_quota"  # a 429 that no waiting cures


class Caller:
    """Asks one request until it is answered, given up, or the run has to end.

    Parameters
    ----------
    send : makes one call, and raises :class:`CallError`.
    wait : sleeps that many seconds.
    before_call : called before every call with its number (1 = first); may raise to end the
        run.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        send: Send,
        fields: AcceptedFields,
        *,
        wait: Callable[[float], object],
        before_call: Callable[[int], None],
    ) -> None:
        self.endpoint = endpoint
        self.send = send
        self.fields = fields
        self.wait = wait
        self.before_call = before_call

    def __call__(self, request: Request, key: str) -> tuple[Reply, dict[str, Any]]:
        """The reply, or a failure with its reason; and the body that was really sent.

        Raises
        ------
        EndpointError
            Status 401, 402, 403 or 404, or no quota: no further call can succeed.
        """
        # jitter by request: the same run waits the same, and two requests wait differently
        rng = np.random.default_rng(int(hashlib.sha256(key.encode()).hexdigest()[:16], 16))
        started = time.perf_counter()
        body = changed(request.body, self.fields.changes)
        tried: Changes = {}
        calls, attempt = 0, 1
        while True:
            calls += 1
            self.before_call(calls)
            try:
                raw = self.send(replace(request, body=body), self.endpoint)
                reply = read_answer(key, request.dialect, raw)
                break
            except CallError as error:
                change = mend(error, body)
                if change and not change.keys() & (tried.keys() | set(tried.values())):
                    tried.update(change)
                    body = changed(body, change)
                    continue
                if _is_permanent(error):
                    raise EndpointError(self._ended(error)) from None
                if attempt >= self.endpoint.max_attempts or not _is_passing(error):
                    reply = Reply(key, failed=_reason(error, request))
                    break
                self.wait(waiting_time(error, attempt, rng))
                attempt += 1
        if tried and not reply.failed:
            # only what has helped is kept: a refusal may name a field and mean its value
            self.fields.remember(tried)
        return replace(reply, attempts=calls, seconds=time.perf_counter() - started), body

    def _ended(self, error: CallError) -> str:
        key_env = self.endpoint.key_env
        hint = _PERMANENT.get(error.status or 0, _PERMANENT[402])
        hint = hint.format(variable=f" in {key_env}" if key_env else "")
        return (
            f"{self.endpoint.alias}: {error}. The run ends, since no call can succeed; "
            f"replies so far are kept. Mend: {hint}."
        )


def _is_permanent(error: CallError) -> bool:
    """Whether every further call would fail too."""
    return error.status in _PERMANENT or (error.status == 429 and error.code == _NO_QUOTA)


def _is_passing(error: CallError) -> bool:
    """Whether the same call may succeed a little later."""
    if error.status is not None:
        return error.status in _PASSING or error.status >= 500
    return True  # time-outs, broken connections, pages of a proxy


def waiting_time(error: CallError, attempt: int, rng: np.random.Generator) -> float:
    """Seconds to wait after the given attempt (1 = first).

    What the server asks for in Retry-After, up to ``LONGEST_RETRY_AFTER``; else twice as long
    each time, up to ``LONGEST_WAIT``, drawn between half of it and the whole.
    """
    if error.retry_after is not None:
        return min(error.retry_after, LONGEST_RETRY_AFTER)
    return min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1)) * float(rng.uniform(0.5, 1.0))


def _reason(error: CallError, request: Request) -> str:
    """What is stored of a failure; a message that repeats the request is left out."""
    asked = {run for text in _texts(request.body) for run in word_runs(text)}
    if asked.isdisjoint(word_runs(str(error))):
        return str(error)
    return str(CallError(error.kind, "(the message repeats the request)", status=error.status))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for inner in value.values() for text in _texts(inner))
    elif isinstance(value, list | tuple):
        yield from (text for inner in value for text in _texts(inner))
