"""One trial call to an endpoint that may not speak the dialect, with the usual retries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mtrlib.errors import EndpointError
from mtrlib.llm.answers import CallError, read_answer
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.request_fields import AcceptedFields
from mtrlib.llm.requests import Reply, Request
from mtrlib.llm.retry import Caller, Send

# statuses that mean "not this dialect" here; outside the probe they end a run or an item
NOT_OFFERED = (400, 404, 405, 422)


class _NotOffered(Exception):
    """The endpoint does not speak the dialect."""


class TrialCalls:
    """Sends trial requests to one endpoint.

    Parameters
    ----------
    send : makes one call, as :class:`mtrlib.llm.transport.OpenAITransport`.
    wait : sleeps between the attempts of a call that may succeed later.
    """

    def __init__(self, endpoint: Endpoint, send: Send, wait: Callable[[float], object]) -> None:
        self.endpoint = endpoint
        self._send = send
        self._raw: Mapping[str, Any] = {}
        self._error: CallError | None = None
        self._caller = Caller(
            endpoint, self._call, AcceptedFields(endpoint), wait=wait, before_call=lambda _: None
        )

    def __call__(
        self, dialect: str, body: Mapping[str, Any]
    ) -> tuple[Reply, Mapping[str, Any]] | None:
        """Reply and answer as plain JSON; None = the endpoint does not offer the dialect.

        Raises
        ------
        EndpointError
            No access, no credit, or no answer after all attempts.
        """
        request = Request(
            self.endpoint.alias, self.endpoint.model_alias, dialect, body, note="probe"
        )
        try:
            reply, _ = self._caller(request, request.key)
        except _NotOffered:
            return None
        if reply.failed and self._error and self._error.status in NOT_OFFERED:
            return None
        if reply.failed:
            raise EndpointError(
                f"{self.endpoint.alias}: the probe of {dialect} failed ({reply.failed}). "
                "Mend: see that the server runs, then try again."
            )
        return reply, self._raw

    def _call(self, request: Request, endpoint: Endpoint) -> Mapping[str, Any]:
        try:
            self._raw = self._send(request, endpoint)
            read_answer("", request.dialect, self._raw)
        except CallError as error:
            # 400 and 422 may name a field that can be left out, so these go on to the caller
            if error.status in (404, 405) or error.kind == "unreadable":
                raise _NotOffered from error
            self._error = error
            raise
        return self._raw
