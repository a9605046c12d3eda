"""The probe counts what a server does, not the status it answers with."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from mtrlib.errors import EndpointError, InputError
from mtrlib.llm.answers import CallError
from mtrlib.llm.capabilities import known
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.probe import dialect_for, probe
from mtrlib.llm.requests import Request

ENDPOINT = Endpoint("lab", model="org/m-1", model_alias="m")

Body = Mapping[str, Any]
Answer = Mapping[str, Any] | CallError


def refused(status: int, message: str = "", field: str = "") -> CallError:
    return CallError("status", message, status=status, field=field)


def chat(text: str, logprobs: Any = None, n: int = 1) -> dict[str, Any]:
    choice = {"message": {"content": text}, "finish_reason": "stop", "logprobs": logprobs}
    return {"choices": [choice] * n, "model": "m-1"}


def yes(logprob: float = -0.01) -> dict[str, Any]:
    rows = [{"token": "Yes", "logprob": logprob}, {"token": "No", "logprob": -6.0}]
    return {"content": [{"token": "Yes", "logprob": logprob, "top_logprobs": rows}]}


def able(dialect: str, body: Body) -> Answer:
    """Does all that it is asked."""
    if dialect == "decisions":
        answer = {"type": "predicate", "name": "answer", "probability": 0.93}
        return {"answers": [answer]}
    if dialect == "system_one":
        return {"answers": {"answer": {"type": "noul", "noul": 0.93}}}
    if "response_format" in body:
        [(name, value)] = body["response_format"]["json_schema"]["schema"]["properties"].items()
        return chat(json.dumps({name: value["enum"][0]}))
    if body.get("logprobs"):
        return chat("Yes", yes())
    return chat(f"A trip, told the {body.get('seed', 0)}th time.", n=body.get("n", 1))


def deaf(dialect: str, body: Body) -> Answer:
    """A chat server that takes every field and heeds none, as many do."""
    if dialect in ("decisions", "system_one"):
        return refused(404)
    return chat("We set out at dawn.")


class Server:
    """Answers as told and counts the calls."""

    def __init__(self, answer: Callable[[str, Body], Answer]) -> None:
        self.answer = answer
        self.calls: list[Request] = []

    def __call__(self, request: Request, endpoint: Endpoint) -> Mapping[str, Any]:
        self.calls.append(request)
        answer = self.answer(request.dialect, request.body)
        if isinstance(answer, CallError):
            raise answer
        return answer


def no_wait(seconds: float) -> None:
    pass


@pytest.fixture(autouse=True)
def _own_cache(fresh_cache):
    pass


def test_a_server_that_does_everything():
    server = Server(able)
    found = probe(ENDPOINT, server)
    assert found.offered == ("decisions", "system_one", "chat_schema", "chat_logprobs", "chat")
    assert found.ignored == ()
    assert (found.samples_differ, found.n_honoured) == (True, True)
    assert found.best == "decisions"
    assert len(server.calls) == 8
    assert (found.endpoint, found.model) == ("lab", "m")


def test_fields_that_are_taken_without_effect_are_not_offered():
    found = probe(ENDPOINT, Server(deaf))
    assert found.offered == ("chat",)
    assert found.ignored == ("chat_schema", "chat_logprobs")
    assert (found.samples_differ, found.n_honoured) == (False, False)
    assert found.best == "chat"


@pytest.mark.parametrize("status", [400, 404, 405, 422])
def test_refusals_of_a_dialect_are_no_error(status):
    def only_system_one(dialect: str, body: Body) -> Answer:
        return able(dialect, body) if dialect == "system_one" else refused(status)

    found = probe(ENDPOINT, Server(only_system_one))
    assert (found.offered, found.ignored) == (("system_one",), ())
    assert (found.samples_differ, found.n_honoured) == (None, None)


def test_an_answer_in_another_form_is_not_offered():
    def page(dialect: str, body: Body) -> Answer:
        if dialect == "decisions":
            return CallError("unreadable", "the answer is not JSON")
        return {"hello": "world"} if dialect == "system_one" else able(dialect, body)

    found = probe(ENDPOINT, Server(page))
    assert found.offered == ("chat_schema", "chat_logprobs", "chat")


@pytest.mark.parametrize("status", [401, 402, 403])
def test_no_access_is_an_error(status):
    with pytest.raises(EndpointError, match=f"lab: status {status}"):
        probe(ENDPOINT, Server(lambda *_: refused(status)))
    assert known(ENDPOINT) is None


@pytest.mark.parametrize("error", [refused(500), CallError("connection"), CallError("timeout")])
def test_a_server_that_is_down_is_an_error_after_the_usual_retries(error):
    waits: list[float] = []
    server = Server(lambda *_: error)
    with pytest.raises(EndpointError, match=r"lab: the probe of decisions failed"):
        probe(ENDPOINT, server, wait=waits.append)
    assert len(server.calls) == ENDPOINT.max_attempts
    assert len(waits) == ENDPOINT.max_attempts - 1


def test_one_busy_answer_is_waited_out():
    busy = [refused(429)]
    server = Server(lambda dialect, body: busy.pop() if busy else able(dialect, body))
    assert probe(ENDPOINT, server, wait=no_wait).best == "decisions"


def test_nothing_offered_is_an_error_and_not_kept():
    with pytest.raises(EndpointError, match=r"none of decisions.*base URL"):
        probe(ENDPOINT, Server(lambda *_: refused(404)))
    assert known(ENDPOINT) is None


def test_a_renamed_limit_does_not_hide_a_dialect():
    """Newer models take max_completion_tokens only and answer 400 to the other name."""

    def newer(dialect: str, body: Body) -> Answer:
        if "max_tokens" in body:
            return refused(400, "Unsupported parameter: 'max_tokens'.", "max_tokens")
        return able(dialect, body)

    found = probe(ENDPOINT, Server(newer))
    assert found.offered == ("decisions", "system_one", "chat_schema", "chat_logprobs", "chat")


@pytest.mark.parametrize(
    "reply", ["{}", '{"colour": "red"}', '["teal"]', '{"colour": "teal", "a": 1}']
)
def test_json_outside_the_schema_is_not_obedience(reply):
    def loose(dialect: str, body: Body) -> Answer:
        return chat(reply) if dialect == "chat_schema" else able(dialect, body)

    assert probe(ENDPOINT, Server(loose)).ignored == ("chat_schema",)


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {"content": []},
        {"content": [{"token": "Yes", "logprob": -0.1}]},
        # alternatives are there, but the model does not get to its answer in time
        {
            "content": [
                {
                    "token": "<think>",
                    "logprob": -0.1,
                    "top_logprobs": [{"token": "<think>", "logprob": 0.0}],
                }
            ]
        },
    ],
)
def test_logprobs_count_only_where_a_label_can_be_read(logprobs):
    def without(dialect: str, body: Body) -> Answer:
        return chat("Yes", logprobs) if dialect == "chat_logprobs" else able(dialect, body)

    assert probe(ENDPOINT, Server(without)).ignored == ("chat_logprobs",)


def test_typed_answers_that_cannot_be_read_have_no_effect():
    def broken(dialect: str, body: Body) -> Answer:
        if dialect == "system_one":
            return {"answers": {"answer": {"type": "noul", "noul": math.nan}}}
        return able(dialect, body)

    assert probe(ENDPOINT, Server(broken)).ignored == ("system_one",)


def test_the_result_is_kept_by_endpoint_and_model(fresh_cache):
    other = Endpoint("lab", model="m-2", model_alias="m2")
    assert known(ENDPOINT) is None
    found, second = probe(ENDPOINT, Server(able)), probe(other, Server(deaf))
    assert (known(ENDPOINT), known(other)) == (found, second)
    assert known(Endpoint("other", model="m-1", model_alias="m")) is None
    [path] = (fresh_cache / "endpoints").glob("*.probe.json")
    text = path.read_text("utf-8")
    assert found.date in text and "org/" not in text


@pytest.mark.parametrize("text", ["", "[]", '{"m": 3}', '{"m": {"endpoint": "lab"}}', '{"m": {"x'])
def test_a_spoilt_file_is_as_good_as_none(fresh_cache, text):
    folder = fresh_cache / "endpoints"
    folder.mkdir()
    (folder / "lab.probe.json").write_text(text, "utf-8")
    assert known(ENDPOINT) is None
    found = probe(ENDPOINT, Server(able))
    assert known(ENDPOINT) == found


def test_dialect_of_the_entry_goes_first_then_what_is_known_then_the_probe():
    named = Endpoint("lab", model="m-1", model_alias="m", dialect="chat")
    server = Server(able)
    assert dialect_for(named, server) == "chat"
    assert server.calls == []
    with pytest.raises(InputError, match="lab: the dialect is not known"):
        dialect_for(ENDPOINT)
    assert dialect_for(ENDPOINT, server) == "decisions"
    asked = len(server.calls)
    assert dialect_for(ENDPOINT, server) == dialect_for(ENDPOINT) == "decisions"
    assert len(server.calls) == asked
