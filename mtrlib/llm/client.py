"""The one way to an LLM: replay first, ask what is missing, store each reply as it comes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from mtrlib import paths
from mtrlib.errors import InputError
from mtrlib.llm.accounts import Limits, Plan, RunSummary, Usage
from mtrlib.llm.batch import Stopped, run_batch
from mtrlib.llm.endpoint_registry import endpoint
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.prices import find_price, request_tokens
from mtrlib.llm.recorded import LayeredReplies, read_recorded
from mtrlib.llm.request_fields import AcceptedFields
from mtrlib.llm.requests import Reply, Request
from mtrlib.llm.retry import Caller, Send
from mtrlib.llm.store import ReplyStore, store_path
from mtrlib.llm.transport import OpenAITransport

NOT_RECORDED = "not recorded"
NO_LIMITS = Limits()


class Client:
    """Asks one endpoint, through a store that replays.

    Calls run in plain threads, so it works inside a running event loop, any number of times.

    Parameters
    ----------
    store : where replies are looked up and appended.
    replay_only : nothing is ever sent; a request without a reply comes back as its stored
        failure or as ``failed="not recorded"``. Where nothing at all is recorded the caller
        decides what that means: see ``last_run``.
    limits : hard limits over the life of the client.
    send : makes one call; None = the openai client, made for each run that has calls to make.
    wait : sleeps between attempts; None = until the time is over or the run is stopped.

    Attributes
    ----------
    usage : what was done so far.
    last_run : how the last batch ended; its ``status`` is ``ok`` only without failures.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        store: ReplyStore | LayeredReplies,
        *,
        replay_only: bool = False,
        limits: Limits = NO_LIMITS,
        send: Send | None = None,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.store = store
        self.replay_only = replay_only
        self.limits = limits
        self.usage = Usage(price=find_price(endpoint.price or endpoint.model))
        self.last_run: RunSummary | None = None
        self._send = send
        self._wait = wait
        self._fields = AcceptedFields(endpoint)
        self._lock = threading.Lock()

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        """Replies in the order of the requests; the same request is asked once.

        A request that fails is stored as failed, comes back with ``failed`` set, and is asked
        again by the next run.

        Raises
        ------
        InputError
            A request is for another endpoint or model; or the run needs more calls than the
            limit leaves (before the first call).
        EndpointError
            Status 401, 402, 403, 404 or no quota. Replies that came before are stored.
        CoverageError
            A limit was reached on the way. Replies that came before are stored.
        """
        keys = self._keys(requests)
        unique = dict(zip(keys, requests, strict=True))
        found = {key: reply for key in unique if (reply := self.store.get(key)) is not None}
        missing = {key: request for key, request in unique.items() if key not in found}
        self.usage.replayed += len(found)
        try:
            if self.replay_only:
                for key in missing:
                    found[key] = self.store.failure(key) or Reply(key, failed=NOT_RECORDED)
            elif missing:
                self.limits.check_need(len(missing), self.usage, self.endpoint.alias)
                self._ask_all(missing, found)
        except BaseException:
            self.last_run = self._summary(unique, found, stopped=True)
            raise
        self.last_run = self._summary(unique, found)
        self.usage.failed += self.last_run.failed
        self.usage.not_recorded += self.last_run.not_recorded
        return [found[key] for key in keys]

    async def ask_async(self, requests: Sequence[Request]) -> list[Reply]:
        """As :meth:`ask`, without holding up the event loop."""
        return await asyncio.to_thread(self.ask, requests)

    def plan(self, requests: Sequence[Request]) -> Plan:
        """Dry run: counts, token range and price range of asking; nothing is sent.

        Raises
        ------
        InputError
            A request is for another endpoint or model.
        """
        unique = dict(zip(self._keys(requests), requests, strict=True))
        missing = {key: r for key, r in unique.items() if self.store.get(key) is None}
        tokens = [request_tokens(request) for request in missing.values()]
        return Plan(
            endpoint=self.endpoint.alias,
            requests=len(requests),
            unique=len(unique),
            replayed=len(unique) - len(missing),
            to_ask=len(missing),
            failed_before=sum(self.store.failure(key) is not None for key in missing),
            tokens_in=(sum(t[0][0] for t in tokens), sum(t[0][1] for t in tokens)),
            tokens_out=(sum(t[1][0] for t in tokens), sum(t[1][1] for t in tokens)),
            price=self.usage.price,
        )

    def describe(self) -> dict[str, Any]:
        """What a manifest says: the endpoint, and the fields sent otherwise than asked."""
        return {**self.endpoint.describe(), "fields_changed": dict(self._fields.changes)}

    def _keys(self, requests: Sequence[Request]) -> list[str]:
        own = (self.endpoint.alias, self.endpoint.model_alias)
        for request in requests:
            if (request.endpoint, request.model) != own:
                raise InputError(
                    f"a request for {request.endpoint} ({request.model}) reached the client of "
                    f"{own[0]} ({own[1]}). Mend: build requests with the client's endpoint."
                )
        return [request.key for request in requests]

    def _ask_all(self, missing: Mapping[str, Request], found: dict[str, Reply]) -> None:
        stop = threading.Event()
        opened = OpenAITransport(self.endpoint) if self._send is None else nullcontext(self._send)
        with opened as send:
            caller = Caller(
                self.endpoint,
                send,
                self._fields,
                wait=self._wait or stop.wait,
                before_call=lambda number: self._count_call(number, stop),
            )

            def one(key: str) -> None:
                reply, body = caller(missing[key], key)
                self.store.append(missing[key], reply, body)
                with self._lock:
                    found[key] = reply
                    self.usage.tokens_in += reply.tokens_in
                    self.usage.tokens_out += reply.tokens_out

            label, workers = self.endpoint.alias, self.endpoint.concurrency
            run_batch(list(missing), one, label=label, workers=workers, stop=stop)

    def _count_call(self, number: int, stop: threading.Event) -> None:
        with self._lock:
            if stop.is_set():
                raise Stopped
            self.limits.check_reached(self.usage, self.endpoint.alias)
            self.usage.calls += 1
            self.usage.retries += number > 1

    def _summary(
        self, unique: Mapping[str, Request], found: Mapping[str, Reply], *, stopped: bool = False
    ) -> RunSummary:
        reasons = [reply.failed for reply in found.values()]
        answered, absent = reasons.count(""), reasons.count(NOT_RECORDED)
        whole = "ok" if answered == len(unique) else "incomplete"
        return RunSummary(
            unique=len(unique),
            answered=answered,
            failed=len(reasons) - answered - absent,
            not_recorded=absent,
            status="stopped" if stopped else whole,
        )


def open_client(alias: str, *, replay_only: bool = False, limits: Limits = NO_LIMITS) -> Client:
    """Client of a registered endpoint, over the user's store and the committed replies.

    Raises
    ------
    InputError
        Unknown alias, no model named, or a store that cannot be read.
    """
    chosen = endpoint(alias)
    recorded = read_recorded(paths.root() / "data" / "recorded")
    # a replay gives the committed numbers, whatever the user has asked since
    store = LayeredReplies(ReplyStore(store_path(alias)), recorded, recorded_first=replay_only)
    return Client(chosen, store, replay_only=replay_only, limits=limits)
