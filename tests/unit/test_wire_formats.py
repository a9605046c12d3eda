"""The wire formats through the real openai client, against a small server with recorded shapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from scripted_server import Answer, Server, completion, serving

from mtrlib.llm.client import Client
from mtrlib.llm.decide import Asked, verdicts
from mtrlib.llm.probe import probe
from mtrlib.llm.questions import Choice, Predicate, Score, Verdict
from mtrlib.llm.store import ReplyStore
from mtrlib.llm.transport import OpenAITransport

LEVELS = ("not at all", "hardly", "partly", "nearly", "fully")
SCORE = Score("How fully does the passage answer?", LEVELS)
YES_NO = Predicate("Does it answer?")
PICK = Choice("Which answers best?", {"1": "", "2": "", "none": ""})


@pytest.fixture
def serve(fresh_cache: Path) -> Iterator[Callable[[Answer], Server]]:
    with ExitStack() as running:
        yield lambda answer: running.enter_context(serving(answer))


def token(text: str, **masses: float) -> dict[str, Any]:
    rows = [{"token": t, "logprob": math.log(p), "bytes": None} for t, p in masses.items()]
    return {"token": text, "logprob": -0.2, "bytes": None, "top_logprobs": rows}


def decision(path: str, body: dict[str, Any]) -> tuple[int, Any]:
    """One answer per question, as the typed endpoint gives them; refuses one wording."""
    if path != "/v1/decisions":
        return 404, {"detail": "Not Found"}
    answers = []
    for asked in body["questions"]:
        if "weapon" in body["input"]:
            answer: dict[str, Any] = {"type": "refusal"}
        elif asked["type"] == "predicate":
            answer = {"type": "predicate", "probability": 0.75}
        elif asked["type"] == "choice":
            values = [c["value"] for c in asked["choices"]]
            rows = [
                {"value": v, "probability": p} for v, p in zip(values, (0.2, 0.7, 0.1), strict=True)
            ]
            answer = {"type": "choice", "choice": "2", "confidence": 0.55, "probabilities": rows}
        else:
            rows = [
                {"label": level["label"], "probability": p, "value": i}
                for i, (level, p) in enumerate(
                    zip(asked["levels"], (0.0, 0.0, 0.25, 0.5, 0.25), strict=True)
                )
            ]
            answer = {"type": "score", "score": 3.0, "confidence": 0.4, "probabilities": rows}
        answers.append({**answer, "name": asked.get("name")})
    usage = {
        "input_tokens": 50,
        "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 51,
    }
    return 200, {"answers": answers, "model": "served", "usage": usage}


def asked(*questions: Any, state: str = "Passage: it is deep.") -> list[Asked]:
    return [Asked(q, state) for q in questions]


def client_of(server: Server, folder: Path, **settings: Any) -> Client:
    return Client(server.endpoint, ReplyStore(folder / "replies.jsonl"), **settings)


def test_decisions_through_the_real_client_and_replayed(serve, tmp_path):
    server = serve(decision)
    questions = [*asked(SCORE, YES_NO, PICK), *asked(YES_NO, state="About a weapon.")]
    found = verdicts(client_of(server, tmp_path), questions, dialect="decisions")
    assert [v.value for v in found] == [4.0, 0.75, "2", None]
    assert found[3] == Verdict.missing("refusal")
    assert found[0].probabilities["4"] == pytest.approx(0.5)
    assert len(server.sent) == 4
    assert {path for path, _ in server.sent} == {"/v1/decisions"}
    assert all(set(body) == {"model", "input", "questions"} for _, body in server.sent)
    replayed = client_of(server, tmp_path, replay_only=True)
    assert verdicts(replayed, questions, dialect="decisions") == found
    assert len(server.sent) == 4


def test_schema_obeyed_and_ignored(serve, tmp_path):
    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        prompt = body["messages"][-1]["content"]
        return 200, completion("I'd say **Score: 3**" if "deaf" in prompt else '{"score": 4}')

    server = serve(answer)
    questions = [*asked(SCORE), *asked(SCORE, state="A deaf server.")]
    found = verdicts(client_of(server, tmp_path), questions, dialect="chat_schema")
    assert [v.value for v in found] == [4.0, 3.0]
    schema = server.sent[0][1]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["score"]["enum"] == [1, 2, 3, 4, 5]


def test_logprobs_present_and_absent(serve, tmp_path):
    rows = [token("4", **{"4": 0.6, "5": 0.2, "2": 0.1}), token("<|end|>", **{"<|end|>": 0.9})]

    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        assert (body["logprobs"], body["top_logprobs"], body["max_tokens"]) == (True, 20, 3)
        absent = "deaf" in body["messages"][-1]["content"]
        logprobs = None if absent else {"content": rows, "refusal": None}
        return 200, completion("4", logprobs=logprobs)

    questions = [*asked(SCORE), *asked(SCORE, state="A deaf server.")]
    found = verdicts(client_of(serve(answer), tmp_path), questions, dialect="chat_logprobs")
    assert found[0].value == pytest.approx((4 * 0.6 + 5 * 0.2 + 2 * 0.1) / 0.9)
    assert found[1] == Verdict(4.0)


def test_a_cut_reply_is_asked_again_with_more_room_and_both_replay(serve, tmp_path):
    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        if body["max_tokens"] == 8:
            return 200, completion("First, the passage says", finish_reason="length")
        return 200, completion('{"score": 2}')

    server = serve(answer)
    room = {"max_tokens": 8}
    for settings in ({}, {"replay_only": True}):
        client = client_of(server, tmp_path, **settings)
        assert verdicts(client, asked(SCORE), dialect="chat", sampling=room) == [Verdict(2.0)]
    assert [body["max_tokens"] for _, body in server.sent] == [8, 32]


def test_nothing_recorded_is_missing_and_nothing_is_sent(serve, tmp_path):
    server = serve(decision)
    client = client_of(server, tmp_path, replay_only=True)
    assert verdicts(client, asked(YES_NO), dialect="decisions") == [Verdict.missing("not_recorded")]
    assert server.sent == []


def test_probe_of_a_server_with_decisions_only(serve):
    server = serve(decision)
    with OpenAITransport(server.endpoint) as send:
        found = probe(server.endpoint, send)
    assert (found.offered, found.ignored) == (("decisions",), ())
    assert {path for path, _ in server.sent} == {
        "/v1/decisions",
        "/v1/systemone",
        "/v1/chat/completions",
    }


def test_probe_of_a_chat_server_that_ignores_what_it_does_not_know(serve):
    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        if path != "/v1/chat/completions":
            return 404, {"detail": "Not Found"}
        return 200, completion(f"We left on day {body.get('seed')}.")

    server = serve(answer)
    with OpenAITransport(server.endpoint) as send:
        found = probe(server.endpoint, send)
    assert (found.offered, found.ignored) == (("chat",), ("chat_schema", "chat_logprobs"))
    assert (found.samples_differ, found.n_honoured) == (True, False)
