"""Which requests a run has asked, so that their replies can be committed."""

from __future__ import annotations

from collections.abc import Sequence

from mtrlib.llm.decide import Asker
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.requests import Reply, Request


class KeyLog:
    """A client that keeps every request that went through it.

    Attributes
    ----------
    requests : by key, in the order in which they were first asked.

    Examples
    --------
    ``commit_replies(store, log.requests, corpus, where, header)`` writes what a run of
    :func:`mtrlib.synthesis.generation.generate` through ``log = KeyLog(client)`` needs to be
    replayed.
    """

    def __init__(self, client: Asker) -> None:
        self._client = client
        self.requests: dict[str, Request] = {}

    @property
    def endpoint(self) -> Endpoint:
        """Whom the client asks."""
        return self._client.endpoint

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        """As :meth:`mtrlib.llm.client.Client.ask`."""
        self.requests.update((request.key, request) for request in requests)
        return self._client.ask(requests)
