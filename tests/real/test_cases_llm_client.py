"""The open case on a judging run that is resumed (05), played from its own file."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from mtrlib.llm.answers import CallError
from mtrlib.llm.client import Client
from mtrlib.llm.dialects import read
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.questions import Score
from mtrlib.llm.requests import Request
from mtrlib.llm.store import ReplyStore


class Played:
    """A fake endpoint: the n-th entry of an item's script answers its n-th call."""

    def __init__(self, script: Mapping[str, Sequence[int | str]]) -> None:
        self.script = script
        self.calls: Counter[str] = Counter()

    def __call__(self, request: Request, endpoint: Endpoint) -> Mapping[str, Any]:
        item = request.body["messages"][0]["content"]
        self.calls[item] += 1
        answer = self.script[item][self.calls[item] - 1]
        if isinstance(answer, int):
            raise CallError("status", status=answer)
        message = {"role": "assistant", "content": answer}
        return {"choices": [{"message": message, "finish_reason": "stop"}]}


def test_case_05(shared_cases: Path, tmp_path: Path, fresh_cache: Path) -> None:
    folder = shared_cases / "05_judge_run_resume"
    case = json.loads((folder / "endpoint_script.json").read_text("utf-8"))
    found = re.search(r"```json\n(.*?)```", (folder / "expected.md").read_text("utf-8"), re.DOTALL)
    assert found
    expected = json.loads(found[1])
    low, high = case["scale"]
    question = Score("How good is it?", tuple(f"level {n}" for n in range(low, high + 1)), low)
    endpoint = Endpoint("fake", "m", "m", max_attempts=case["max_attempts_per_item"])

    def run(script: str, temperature: float) -> tuple[Client, dict[str, Any], Played]:
        played = Played(case[script])
        client = Client(
            endpoint, ReplyStore(tmp_path / "fake.jsonl"), send=played, wait=lambda _: None
        )
        requests = [
            Request(
                "fake",
                "m",
                "chat",
                {"messages": [{"role": "user", "content": item}], "temperature": temperature},
            )
            for item in case["items"]
        ]
        verdicts = [read("chat", question, reply) for reply in client.ask(requests)]
        scores = {i: v.value for i, v in zip(case["items"], verdicts, strict=True)}
        return client, scores, played

    temperatures = {"first_run": 0.0, "second_run": 0.0, "third_run": case["third_run_temperature"]}
    for number, (script, temperature) in enumerate(temperatures.items(), start=1):
        client, scores, played = run(script, temperature)
        wanted = expected[f"run{number}"]
        judged = [score for score in scores.values() if score is not None]
        assert client.usage.calls == played.calls.total() == wanted["calls"]
        if "scores" in wanted:
            assert scores == wanted["scores"]
        if "mean" in wanted:
            assert sum(judged) / len(judged) == pytest.approx(wanted["mean"])
            assert [len(judged), len(scores)] == wanted["coverage"]
            assert client.last_run.coverage == "{}/{}".format(*wanted["coverage"])
        assert client.last_run.status == ("incomplete" if None in scores.values() else "ok")
