"""The real local server through the real openai client: System One, plain chat, two at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import psutil
import pytest

from mtrlib.llm import dialects, local_server
from mtrlib.llm.client import Client
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.questions import Choice, Predicate, Score
from mtrlib.llm.requests import Request
from mtrlib.llm.store import ReplyStore

pytestmark = pytest.mark.models

STATE = "Question: When was the bridge opened?\nPassage: The bridge was opened in 1932 by a mayor."
SUPPORT = ("not at all", "hardly", "partly", "nearly", "fully")
QUESTIONS = {
    "supports": {"type": "noul", "instructions": "Does the passage answer the question?"},
    "best": {
        "type": "choice",
        "instructions": "What is the passage about?",
        "criteria": {"a": "a bridge", "b": "a recipe", "none": None},
    },
    "align": {
        "type": "score",
        "instructions": "How well does the passage support an answer?",
        "criteria": list(SUPPORT),
    },
}


@pytest.fixture(scope="session")
def client(llm_url: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=llm_url, api_key="none", max_retries=0, timeout=60) as found:
        yield found


@pytest.fixture(scope="session")
def answered(client: openai.OpenAI) -> dict[str, Any]:
    return system_one(client, state=STATE, questions=QUESTIONS)


def system_one(client: openai.OpenAI, **fields: Any) -> dict[str, Any]:
    return client.post("/systemone", body={"model": "smollm2", **fields}, cast_to=dict)


def chat(client: openai.OpenAI, text: str, **fields: Any) -> Any:
    said = [{"role": "user", "content": text}]
    return client.chat.completions.create(model="smollm2", messages=said, **fields)


def test_the_model_folder_names_no_machine_and_samples(llm_folder: Path):
    texts = {p.name: p.read_text("utf-8") for p in llm_folder.glob("*config.json")}
    assert len(texts) == 3
    for text in texts.values():
        assert str(llm_folder.parent) not in text
        assert "sources" not in text
    config = json.loads(texts["config.json"])
    assert config["architectures"] == ["LlamaForCausalLM"]
    assert "quantization_config" not in config
    assert json.loads(texts["generation_config.json"])["do_sample"] is True
    assert "<|im_start|>" in (llm_folder / "chat_template.jinja").read_text("utf-8")


def test_the_served_name_carries_no_path(client: openai.OpenAI, answered: dict[str, Any]):
    assert [m.id for m in client.models.list().data] == ["smollm2"]
    assert answered["model"] == "smollm2"


def test_a_noul_is_a_probability(answered: dict[str, Any]):
    answer = answered["answers"]["supports"]
    assert answer["type"] == "noul"
    assert 0 < answer["noul"] < 1


def test_a_choice_comes_with_a_distribution_over_its_options(answered: dict[str, Any]):
    answer = answered["answers"]["best"]
    probabilities = answer["probabilities"]
    assert answer["type"] == "choice"
    assert set(probabilities) == {"a", "b", "none"}
    assert sum(probabilities.values()) == pytest.approx(1, abs=1e-5)
    assert answer["choice"] == max(probabilities, key=probabilities.__getitem__)


def test_a_score_is_the_expectation_over_levels_from_zero(answered: dict[str, Any]):
    answer = answered["answers"]["align"]
    probabilities = answer["probabilities"]
    assert answer["type"] == "score"
    assert answer["legend"] == {str(i): level for i, level in enumerate(SUPPORT)}
    assert set(probabilities) == set(answer["legend"])
    assert sum(probabilities.values()) == pytest.approx(1, abs=1e-5)
    expected = sum(int(level) * p for level, p in probabilities.items())
    assert answer["score"] == pytest.approx(expected, abs=1e-4)


def test_tokens_are_counted_and_none_is_generated(answered: dict[str, Any]):
    usage = answered["usage"]
    assert usage["output_tokens"] == 0
    assert usage["input_tokens"] > 3 * len(STATE.split())  # the state, once per question


@pytest.mark.parametrize("field", ["temperature", "criteria", "seed"])
def test_an_unknown_field_of_system_one_is_refused(client: openai.OpenAI, field: str):
    with pytest.raises(openai.UnprocessableEntityError) as caught:
        system_one(client, state=STATE, questions=QUESTIONS, **{field: 1})
    assert caught.value.status_code == 422


def test_decisions_are_not_offered(client: openai.OpenAI):
    with pytest.raises(openai.NotFoundError):
        client.post("/decisions", body={"model": "smollm2", "input": STATE}, cast_to=dict)


def test_plain_chat_answers_and_counts(client: openai.OpenAI):
    reply = chat(client, "What is the capital of France?", temperature=0, max_tokens=24)
    (choice,) = reply.choices
    assert "Paris" in choice.message.content
    assert choice.finish_reason == "stop"
    assert reply.usage.prompt_tokens > 10
    assert 0 < reply.usage.completion_tokens < 24
    assert reply.model == "smollm2"


def test_chat_is_cut_at_the_token_limit(client: openai.OpenAI):
    reply = chat(client, "Tell me a long story.", temperature=0, max_tokens=3)
    assert reply.choices[0].finish_reason == "length"
    assert reply.usage.completion_tokens == 3


def test_temperature_and_seed_have_an_effect(client: openai.OpenAI):
    """Without sampling switched on in the converted model every reply would be greedy."""

    def text(temperature: float, seed: int) -> str:
        reply = chat(client, "Tell a story.", temperature=temperature, seed=seed, max_tokens=10)
        return reply.choices[0].message.content

    assert text(0, 1) == text(0, 2)
    assert text(1, 1) == text(1, 1) != text(1, 2)


def test_logprobs_schema_and_number_are_ignored_in_silence(client: openai.OpenAI):
    shape = {"type": "object", "properties": {"year": {"type": "integer"}}, "required": ["year"]}
    reply = chat(
        client,
        "What is the capital of France?",
        temperature=0,
        max_tokens=12,
        logprobs=True,
        top_logprobs=5,
        n=2,
        response_format={"type": "json_schema", "json_schema": {"name": "y", "schema": shape}},
    )
    (choice,) = reply.choices
    assert choice.logprobs is None
    with pytest.raises(ValueError):
        json.loads(choice.message.content)


def test_a_second_server_has_its_own_port_and_ends_alone(client: openai.OpenAI, llm_url: str):
    with local_server.smollm2_server() as other:
        assert other.base_url != llm_url
        with openai.OpenAI(base_url=other.base_url, api_key="none") as second:
            assert [m.id for m in second.models.list().data] == ["smollm2"]
    assert not psutil.pid_exists(other.process.pid)
    assert [m.id for m in client.models.list().data] == ["smollm2"]


def test_typed_questions_go_through_the_client_and_replay(llm_url: str, tmp_path: Path):
    endpoint = Endpoint("live", model="smollm2", model_alias="smollm2", base_url=llm_url)
    questions = {
        "score": Score("How well does the passage support an answer?", SUPPORT),
        "choice": Choice("What is it about?", {"1": "a bridge", "2": "a recipe", "none": ""}),
        "predicate": Predicate("Does the passage answer the question?"),
    }
    requests = [
        Request("live", "smollm2", "system_one", dialects.build("system_one", question, STATE))
        for question in questions.values()
    ]
    store = ReplyStore(tmp_path / "replies.jsonl")
    replies = Client(endpoint, store).ask(requests)
    verdicts = {
        name: dialects.read("system_one", question, reply)
        for (name, question), reply in zip(questions.items(), replies, strict=True)
    }
    assert not any(verdict.reason for verdict in verdicts.values())
    assert 1 < verdicts["score"].value < 5
    assert set(verdicts["score"].probabilities) == set("12345")
    assert verdicts["choice"].value in {"1", "2", "none"}
    assert set(verdicts["choice"].probabilities) == {"1", "2", "none"}
    assert 0 < verdicts["predicate"].value < 1
    for verdict in verdicts.values():
        assert sum(verdict.probabilities.values()) == pytest.approx(1, abs=1e-4)

    again = Client(endpoint, ReplyStore(tmp_path / "replies.jsonl"), replay_only=True)
    assert all(reply.replayed for reply in again.ask(requests))
    assert [reply.data for reply in again.ask(requests)] == [reply.data for reply in replies]
