"""The client against a small HTTP server with scripted answers, through the real openai client."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mtrlib.errors import CoverageError, EndpointError, InputError
from mtrlib.llm.accounts import Limits
from mtrlib.llm.answers import CallError, read_answer
from mtrlib.llm.client import Client, open_client
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.requests import Request
from mtrlib.llm.retry import LONGEST_RETRY_AFTER, LONGEST_WAIT, waiting_time
from mtrlib.llm.store import ReplyStore

KEY = "sk-very-secret-42"
Answer = int | str | tuple[int, Any, Mapping[str, str]] | dict[str, Any]


class Server(ThreadingHTTPServer):
    """The n-th call for an item gets the n-th answer of its script; the last one repeats.

    An item is the last user message, or the state. A number is a status, text a reply, a dict
    the whole answer, a triple status, error body and headers.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: dict[str, Sequence[Answer]] = {}
        self.refused: dict[str, str] = {}  # field -> message of the 400
        self.calls: dict[str, int] = defaultdict(int)
        self.seen: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        self.under_way = self.most_under_way = 0
        self.slow = 0.0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up waiting is part of the tests."""

    def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Answer:
        said = body.get("messages", [{"content": body.get("state") or body.get("input")}])
        item = said[-1]["content"]
        with self.lock:
            self.seen.append((path, body, headers))
            for field, message in self.refused.items():
                if field in body:
                    return 400, {"error": {"message": message}}, {}
            answers = self.script.get(item, ["ok"])
            self.calls[item] += 1
            return answers[min(self.calls[item], len(answers)) - 1]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.under_way += 1
            self.server.most_under_way = max(self.server.most_under_way, self.server.under_way)
        answer = self.server.answer(
            self.path, body, {k.lower(): v for k, v in self.headers.items()}
        )
        time.sleep(self.server.slow)
        with self.server.lock:
            self.server.under_way -= 1
        status, headers = 200, {}
        if isinstance(answer, tuple):
            status, payload, headers = answer
        elif isinstance(answer, int):
            status, payload = answer, {"error": {"message": f"scripted {answer}"}}
        elif isinstance(answer, str):
            payload = chat(answer)
        else:
            payload = answer
        data = payload.encode() if isinstance(payload, str) else json.dumps(payload).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        pass


def chat(text: str | None, finish: str = "stop", **choice: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "/models/served",
        "choices": [{"index": 0, "message": message, "finish_reason": finish, **choice}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14},
    }


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def surroundings(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEMO_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-account")
    for name in ("http_proxy", "HTTP_PROXY"):  # nobody listens there
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("MTR_ENDPOINTS", "MTR_PRICES", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def endpoint_of(url: str = "", **fields: Any) -> Endpoint:
    return Endpoint("demo", "served-name", "demo-model", base_url=url, key_env="DEMO_KEY", **fields)


def request(item: str, dialect: str = "chat", **fields: Any) -> Request:
    body = {"messages": [{"role": "user", "content": item}], "temperature": 0.0, **fields}
    return Request("demo", "demo-model", dialect, body, note=item)


def client_of(
    server: Server, path: Path, *, waits: list[float] | None = None, **options: Any
) -> Client:
    fields = {
        name: options.pop(name)
        for name in ("max_attempts", "concurrency", "timeout_s", "price")
        if name in options
    }
    return Client(
        endpoint_of(server.url, **fields),
        ReplyStore(path),
        wait=(waits if waits is not None else []).append,
        **options,
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "demo.jsonl"


def scores(client: Client, items: str, **fields: Any) -> dict[str, int | None]:
    replies = client.ask([request(item, **fields) for item in items])
    return {
        item: None if r.failed else json.loads(r.text)["score"]
        for item, r in zip(items, replies, strict=True)
    }


# --- case 05


def test_case_05(server: Server, path: Path) -> None:
    """One rate limit, one dead item; then two further runs, one of them at another temperature."""
    server.script = {
        "a": ['{"score": 4}'],
        "b": [429, '{"score": 3}'],
        "c": [500, 500, '{"score": 2}'],
        "d": ['{"score": 5}'],
    }
    first = client_of(server, path, max_attempts=2)
    assert scores(first, "abcd") == {"a": 4, "b": 3, "c": None, "d": 5}
    assert first.usage.calls == len(server.seen) == 6
    assert first.last_run.status == "incomplete" and first.last_run.coverage == "3/4"
    failure = ReplyStore(path).failure(request("c").key)
    assert failure is not None and failure.failed == "status 500: scripted 500"

    second = client_of(server, path, max_attempts=2)
    assert scores(second, "abcd") == {"a": 4, "b": 3, "c": 2, "d": 5}
    assert second.usage.calls == 1 and server.seen[-1][1]["messages"][0]["content"] == "c"
    assert (second.last_run.status, second.last_run.coverage) == ("ok", "4/4")

    server.script = {
        item: [f'{{"score": {n}}}'] for item, n in zip("abcd", (4, 3, 2, 5), strict=True)
    }
    third = client_of(server, path, max_attempts=2)
    assert None not in scores(third, "abcd", temperature=0.7).values()
    assert third.usage.calls == 4


# --- retries


def test_the_wait_is_what_retry_after_says(server: Server, path: Path) -> None:
    in_a_minute = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    server.script = {
        "seconds": [(429, {}, {"Retry-After": "7"}), "ok"],
        "date": [(503, {}, {"Retry-After": in_a_minute}), "ok"],
        "far": [(429, {}, {"Retry-After": "86400"}), "ok"],
        "odd": [(429, {}, {"Retry-After": "soon"}), "ok"],
    }
    for item, low, high in (
        ("seconds", 7, 7),
        ("date", 50, 60),
        ("far", LONGEST_RETRY_AFTER, LONGEST_RETRY_AFTER),
        ("odd", 0.5, 1),
    ):
        waits: list[float] = []
        (reply,) = client_of(server, path, waits=waits).ask([request(item)])
        assert reply.text == "ok" and reply.attempts == 2
        assert len(waits) == 1 and low <= waits[0] <= high


def test_back_off_doubles_up_to_a_cap_and_is_seeded() -> None:
    error = CallError("timeout")
    waits = [
        [waiting_time(error, n, np.random.default_rng(s)) for n in range(1, 12)] for s in (1, 1, 2)
    ]
    assert waits[0] == waits[1] != waits[2]
    for n, wait in enumerate(waits[0], start=1):
        whole = min(LONGEST_WAIT, 2.0 ** (n - 1))
        assert whole / 2 <= wait <= whole


@pytest.mark.parametrize("status", [408, 409, 500, 502, 529])
def test_passing_errors_are_tried_up_to_max_attempts_in_one_place(
    server: Server, path: Path, status: int
) -> None:
    server.script = {"a": [status]}
    waits: list[float] = []
    client = client_of(server, path, waits=waits, max_attempts=3)
    (reply,) = client.ask([request("a")])
    assert len(server.seen) == client.usage.calls == reply.attempts == 3
    assert client.usage.retries == len(waits) == 2
    assert reply.failed.startswith(f"status {status}")


def test_time_outs_and_dead_servers_are_failures_of_one_item(server: Server, path: Path) -> None:
    server.slow = 0.4
    client = client_of(server, path, max_attempts=2, timeout_s=0.1)
    assert client.ask([request("a")])[0].failed.startswith("timeout")
    assert client.usage.calls == 2
    dead = Client(
        endpoint_of("http://127.0.0.1:9/v1", max_attempts=2), ReplyStore(path), wait=[].append
    )
    assert dead.ask([request("b")])[0].failed.startswith("connection")


@pytest.mark.parametrize(
    "answer",
    [
        (200, "<html>gateway</html>", {"Content-Type": "text/html"}),
        (200, "{", {}),
        (200, {"choices": []}, {}),
        (200, {"error": {"message": "upstream is busy", "code": 502}}, {}),
    ],
)
def test_an_answer_without_a_message_is_no_reply(
    server: Server, path: Path, answer: Answer
) -> None:
    server.script = {"a": [answer, "ok"], "b": [answer]}
    a, b = client_of(server, path, max_attempts=2).ask([request("a"), request("b")])
    assert a.text == "ok" and b.failed and b.attempts == 2


def test_other_refusals_are_not_retried(server: Server, path: Path) -> None:
    server.script = {"a": [(400, {"error": {"message": "context too long"}}, {})], "b": [413]}
    client = client_of(server, path)
    a, b, c = client.ask([request(item) for item in "abc"])
    assert a.failed == "status 400: context too long" and b.failed and c.text == "ok"
    assert client.usage.calls == 3


# --- what ends a run


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_errors_that_no_retry_cures_end_the_run_and_keep_what_came(
    server: Server, path: Path, status: int
) -> None:
    server.script = {"c": [(status, {"error": {"message": f"no: {KEY} at {server.url}"}}, {})]}
    client = client_of(server, path, concurrency=1)
    with pytest.raises(EndpointError, match=f"demo: status {status}.*Mend") as caught:
        client.ask([request(item) for item in "abcdef"])
    assert KEY not in str(caught.value) and server.url not in str(caught.value)
    assert len(server.seen) == 3 and client.last_run.status == "stopped"
    assert len(ReplyStore(path)) == 2
    server.script = {}
    again = client_of(server, path)
    again.ask([request(item) for item in "abcdef"])
    assert again.usage.calls == 4 and again.usage.replayed == 2


def test_no_quota_ends_the_run_though_it_is_a_429(server: Server, path: Path) -> None:
    error = {"message": "You exceeded your quota", "type": "x", "code": "insufficient_quota"}
    server.script = {"a": [(429, {"error": error}, {})]}
    with pytest.raises(EndpointError, match="credit"):
        client_of(server, path).ask([request("a")])
    assert len(server.seen) == 1


def test_an_interrupt_keeps_what_came(path: Path) -> None:
    def send(asked: Request, endpoint: Endpoint) -> Mapping[str, Any]:
        if asked.note == "b":
            raise KeyboardInterrupt
        return chat("ok")

    client = Client(endpoint_of(concurrency=1), ReplyStore(path), send=send)
    with pytest.raises(KeyboardInterrupt):
        client.ask([request(item) for item in "abc"])
    assert len(ReplyStore(path)) == 1 and client.last_run.status == "stopped"


def test_a_run_over_the_limit_of_calls_is_refused_before_the_first(
    server: Server, path: Path
) -> None:
    client = client_of(server, path, limits=Limits(calls=2))
    with pytest.raises(InputError, match="needs 3 calls, but 2 of 2"):
        client.ask([request(item) for item in "abc"])
    assert not server.seen
    assert client.ask([request("a"), request("a"), request("b")])[1].text == "ok"
    client.ask([request("a")])  # replay costs nothing
    with pytest.raises(InputError, match="needs 1 calls, but 0 of 2"):
        client.ask([request("c")])


def test_retries_count_against_the_limit(server: Server, path: Path) -> None:
    server.script = {"a": [500]}
    client = client_of(server, path, limits=Limits(calls=2), max_attempts=9, concurrency=1)
    with pytest.raises(CoverageError, match="2 calls used"):
        client.ask([request("a")])
    assert len(server.seen) == 2


def test_a_run_past_the_limit_of_tokens_ends_and_keeps_what_came(
    server: Server, path: Path
) -> None:
    client = client_of(server, path, limits=Limits(tokens=20), concurrency=1)
    with pytest.raises(CoverageError, match="28 tokens used, the limit is 20"):
        client.ask([request(item) for item in "abcd"])
    assert len(server.seen) == 2 == len(ReplyStore(path))


# --- fields


def test_a_refused_field_is_renamed_or_dropped_once_and_remembered(
    server: Server, path: Path
) -> None:
    server.refused = {
        "max_tokens": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        "temperature": "'temperature' does not support 0.0 with this model.",
    }
    client = client_of(server, path, concurrency=1)
    asked = [request(item, max_tokens=9, seed=1) for item in "ab"]
    replies = client.ask(asked)
    assert [r.text for r in replies] == ["ok", "ok"]
    assert [r.attempts for r in replies] == [3, 1]
    sent = server.seen[-1][1]
    assert sent["max_completion_tokens"] == 9 and "temperature" not in sent and sent["seed"] == 1
    line = json.loads(path.read_text("utf-8").splitlines()[-1])
    assert line["sent"] == {"max_completion_tokens": 9, "seed": 1}
    assert line["key"] == asked[1].key
    changes = {"max_tokens": "max_completion_tokens", "temperature": None}
    assert client.describe()["fields_changed"] == changes
    # the next session knows it already
    (reply,) = client_of(server, path).ask([request("c", max_tokens=9)])
    assert reply.attempts == 1 and reply.text == "ok"


def test_a_change_that_does_not_help_is_not_remembered(server: Server, path: Path) -> None:
    message = "max_tokens or max_completion_tokens is too large for the context"
    server.refused = {"max_tokens": message, "max_completion_tokens": message}
    client = client_of(server, path)
    (reply,) = client.ask([request("a", max_tokens=9)])
    assert "too large" in reply.failed and client.usage.calls == 2
    assert client.describe()["fields_changed"] == {}


def test_a_field_named_by_a_validator_is_dropped_with_what_needs_it(
    server: Server, path: Path
) -> None:
    detail = [{"loc": ["body", "logprobs"], "msg": "extra field", "input": "a secret passage"}]
    server.script = {"a": [(422, {"detail": detail}, {}), "ok"]}
    asked = request("a", "chat_logprobs", logprobs=True, top_logprobs=5)
    assert client_of(server, path).ask([asked])[0].text == "ok"
    assert not {"logprobs", "top_logprobs"} & server.seen[-1][1].keys()


# --- dialects


def test_each_dialect_goes_to_its_own_address_and_comes_back_in_its_own_form(
    server: Server, path: Path
) -> None:
    alternatives = [{"token": "4", "logprob": -0.1, "bytes": [52]}, {"token": "5", "logprob": -2.0}]
    token = {"token": "4", "logprob": -0.1, "bytes": [52], "top_logprobs": alternatives}
    choice = {"type": "choice", "name": "answer", "choice": "1", "confidence": 0.2}
    decided = {
        "object": "decision",
        "model": "m",
        "answers": [{**choice, "probabilities": [{"value": "1", "probability": 0.6}]}],
        "usage": {"input_tokens": 20, "output_tokens": 1},
    }
    system_one = {
        "model": "m",
        "answers": {"answer": {"type": "noul", "noul": 0.088}},
        "usage": {"input_tokens": 285, "output_tokens": 0},
    }
    server.script = {
        "tokens": [chat("4", logprobs={"content": [token]})],
        "decide": [decided],
        "judge": [system_one],
    }
    asked = [
        request("tokens", "chat_logprobs", logprobs=True, top_logprobs=2),
        Request(
            "demo",
            "demo-model",
            "decisions",
            {"input": "decide", "questions": [{"type": "predicate", "instructions": "?"}]},
        ),
        Request(
            "demo",
            "demo-model",
            "system_one",
            {"state": "judge", "questions": {"answer": {"type": "noul", "instructions": "?"}}},
        ),
    ]
    replies = client_of(server, path, concurrency=1).ask(asked)
    assert [p for p, _, _ in server.seen] == [
        "/v1/chat/completions",
        "/v1/decisions",
        "/v1/systemone",
    ]
    assert {body["model"] for _, body, _ in server.seen} == {"served-name"}
    assert replies[0].data["content"][0]["top_logprobs"][1] == {"token": "5", "logprob": -2.0}
    assert replies[1].data["answers"] == decided["answers"]
    assert replies[2].data == {"answers": system_one["answers"]}
    assert [r.tokens_in for r in replies] == [11, 20, 285]
    assert replies[0].model == "served"  # no path of the server's machine
    stored = ReplyStore(path)
    assert [stored.get(r.key).data for r in replies] == [r.data for r in replies]


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": None, "refusal": "I cannot help."}, "I cannot help."),
        ({"content": [{"type": "text", "text": "4"}, {"type": "x"}]}, "4"),
        ({"content": None}, ""),
    ],
)
def test_messages_in_other_forms(message: dict[str, Any], text: str) -> None:
    raw = {"choices": [{"message": message, "finish_reason": "length"}], "usage": None}
    reply = read_answer("k", "chat", raw)
    assert (reply.text, reply.finish_reason, reply.tokens_in) == (text, "length", 0)


# --- secrets


def test_no_key_address_or_message_in_any_file(server: Server, path: Path, tmp_path: Path) -> None:
    passage = "a passage of nine words that must stay here"
    messages = {
        "url": f"see {server.url}/docs",
        "key": f"Incorrect API key provided: {KEY}. Bearer {KEY}",
        passage: f"cannot read: {passage}",
    }
    server.script = {k: [(422, {"error": {"message": m}}, {})] for k, m in messages.items()}
    client = client_of(server, path)
    replies = client.ask([Request("demo", "demo-model", "chat", request(k).body) for k in messages])
    assert all(r.failed for r in replies)
    assert server.seen[0][2]["authorization"] == f"Bearer {KEY}"
    written = "".join(f.read_text("utf-8") for f in tmp_path.rglob("*") if f.is_file())
    assert "status 422" in written
    shown = f"{client.describe()} {client.endpoint!r}"
    for secret in (KEY, "127.0.0.1", str(server.server_address[1]), "stay here", "another-account"):
        assert secret not in written and secret not in shown


def test_a_server_without_a_key_never_gets_that_of_another(server: Server, path: Path) -> None:
    endpoint = Endpoint("demo", "m", "demo-model", base_url=server.url)
    Client(endpoint, ReplyStore(path)).ask([request("a")])
    assert "another-account" not in str(server.seen[0][2])


# --- order, threads, event loops


def test_order_is_kept_and_the_same_request_is_asked_once(server: Server, path: Path) -> None:
    server.slow = 0.05
    server.script = {str(i): [f"reply {i}"] for i in range(12)}
    asked = [request(str(i % 12)) for i in range(24)]
    client = client_of(server, path, concurrency=3)
    assert [r.text for r in client.ask(asked)] == [f"reply {i % 12}" for i in range(24)]
    assert len(server.seen) == 12 and 1 < server.most_under_way <= 3


def test_ask_works_twice_inside_a_running_event_loop(server: Server, path: Path) -> None:
    client = client_of(server, path)

    async def cell() -> list[str]:
        texts = []
        for item in "ab":
            texts += [r.text for r in client.ask([request(item)])]
            texts += [r.text for r in await client.ask_async([request(item + item)])]
        return texts

    assert asyncio.run(cell()) == ["ok"] * 4


def test_two_clients_in_two_threads_share_a_file(server: Server, path: Path) -> None:
    clients = [client_of(server, path) for _ in range(2)]
    threads = [
        threading.Thread(target=c.ask, args=([request(f"{n}-{i}") for i in range(20)],))
        for n, c in enumerate(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ReplyStore(path)) == 40


def test_a_run_resumes_after_a_torn_line(server: Server, path: Path) -> None:
    client_of(server, path, concurrency=1).ask([request(item) for item in "abc"])
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.warns(UserWarning, match="cut off"):
        client = client_of(server, path)
    client.ask([request(item) for item in "abcd"])
    assert client.usage.calls == 2
    assert len(ReplyStore(path)) == 4


# --- replay and dry run


def test_replay_only_never_calls(path: Path) -> None:
    def send(asked: Request, endpoint: Endpoint) -> Mapping[str, Any]:
        if asked.note == "b":
            raise CallError("status", "no", status=500)
        return chat("ok")

    live = Client(endpoint_of(max_attempts=1), ReplyStore(path), send=send)
    live.ask([request("a"), request("b")])
    # no address and no key are needed, even for a server elsewhere
    endpoint = Endpoint("demo", "m", "demo-model", base_url="https://llm.invalid", key_env="NO_KEY")
    client = Client(endpoint, ReplyStore(path), replay_only=True)
    a, b, c = client.ask([request("a"), request("b"), request("c")])
    assert a.text == "ok" and a.replayed and a.attempts == 0
    assert b.failed == "status 500: no" and c.failed == "not recorded"
    run = client.last_run
    assert (run.status, run.answered, run.failed, run.not_recorded) == ("incomplete", 1, 1, 1)
    assert client.usage.calls == 0


def test_ten_thousand_replies_replay_fast_and_their_plan_calls_nothing(path: Path) -> None:
    def send(asked: Request, endpoint: Endpoint) -> Mapping[str, Any]:
        raise AssertionError("called")

    words = "some words of a passage " * 40
    asked = [request(f"{words}{i}") for i in range(10_000)]
    store = ReplyStore(path)
    lines = (
        json.dumps({"key": r.key, "text": '{"score": 4}', "data": {}, "failed": ""}) for r in asked
    )
    path.write_text("\n".join(lines) + "\n", "utf-8")
    started = time.perf_counter()
    client = Client(endpoint_of(), ReplyStore(path), send=send)
    replies = client.ask(asked)
    assert time.perf_counter() - started < 8  # about 0.5 alone
    assert len(replies) == 10_000 and all(r.replayed for r in replies)
    empty = Client(endpoint_of(), store, send=send)
    started = time.perf_counter()
    plan = empty.plan([*asked, asked[0]])
    assert time.perf_counter() - started < 8
    assert (plan.requests, plan.unique, plan.replayed, plan.to_ask) == (10_001, 10_000, 0, 10_000)
    assert plan.cost is None and "unknown" in plan.table().loc["cost", "value"]
    assert client.plan(asked).to_ask == 0
    assert client.plan(asked).table().loc["cost", "value"] == "0 (no calls)"


def test_usage_and_plan_are_tables(server: Server, path: Path) -> None:
    server.script = {"b": [500]}
    client = client_of(server, path, max_attempts=2, price="gpt-4o-mini")
    client.ask([request("a"), request("b")])
    plan = client.plan([request("a"), request("b"), request("c")])
    assert (plan.replayed, plan.to_ask, plan.failed_before) == (1, 2, 1)
    low, high = plan.cost
    assert 0 < low < high
    usage = client.usage.table()["value"]
    assert usage["calls"] == "3" and usage["of these retries"] == "1" and usage["failed"] == "1"
    assert client.usage.cost == pytest.approx([(11 * 0.15 + 3 * 0.60) / 1e6] * 2)
    assert "USD" in usage["cost"] and "2024-07-18" in usage["cost"]


def test_a_request_for_another_model_is_refused(path: Path) -> None:
    other = Request("demo", "other-model", "chat", request("a").body)
    with pytest.raises(InputError, match="other-model"):
        Client(endpoint_of(), ReplyStore(path)).ask([other])


def test_open_client_reads_the_users_store_and_the_committed_replies(
    fresh_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = tmp_path / "data" / "recorded"
    recorded.mkdir(parents=True)
    (tmp_path / "data" / "registry.json").write_text("{}", "utf-8")
    asked = Request("smollm2", "SmolLM2-135M-Instruct", "chat", request("a").body)
    line = {"key": asked.key, "text": "committed"}
    (recorded / "smollm2.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    (recorded / "smollm2.json").write_text('{"replies": 1, "rejected": 0}', "utf-8")
    monkeypatch.setenv("MTR_ROOT", str(tmp_path))
    client = open_client("smollm2", replay_only=True)
    assert client.ask([asked])[0].text == "committed"
    own = ReplyStore(fresh_cache / "replies" / "smollm2.jsonl")
    own.append(asked, read_answer(asked.key, "chat", chat("own")))
    # a replay keeps to what is committed; whoever may send goes by the own store
    assert open_client("smollm2", replay_only=True).ask([asked])[0].text == "committed"
    assert open_client("smollm2").ask([asked])[0].text == "own"
