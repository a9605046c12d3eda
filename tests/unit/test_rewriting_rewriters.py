"""Recorded, ruled and LLM rewrites behind one interface, and what of them fails."""

from __future__ import annotations

import json
import math

import pytest

from mtrlib.data.authored.records import load_authored
from mtrlib.data.schema import Turn, Utterance
from mtrlib.errors import InputError
from mtrlib.llm.client import Client
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.prompts import FOLDER, load_prompt
from mtrlib.llm.requests import Reply
from mtrlib.llm.store import ReplyStore
from mtrlib.rewriting.llm_rewriter import LlmRewriter
from mtrlib.rewriting.recorded_rewriter import RecordedRewriter
from mtrlib.rewriting.rewrites import KINDS, Task, tasks_for
from mtrlib.rewriting.rules_rewriter import RulesRewriter

HISTORY = (
    Utterance("user", "Tell me about the Arlen Bridge."),
    Utterance("agent", "It was built by Otto Brandt."),
)
ZH = (Utterance("user", "云网关支持私有化吗"), Utterance("agent", "支持，需要三台服务器。"))


class Lab:
    """An endpoint that answers by rule and keeps what it was asked."""

    endpoint = Endpoint("lab", model="m-1", model_alias="m", temperature=0.0, max_tokens=64)

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def ask(self, requests):
        self.asked += requests
        return [
            r if isinstance(r, Reply) else Reply(request.key, text=r, seconds=0.5)
            for request in requests
            for r in [self.answer(request)]
        ]

    @property
    def shown(self):
        return self.asked[-1].body["messages"][0]["content"]


# --- tasks


def test_the_last_three_exchanges_are_shown():
    history = [Utterance(r, f"{r} {i}") for i in range(5) for r in ("user", "agent")]

    def shown(said, turns):
        (task,) = tasks_for([Turn("q", "c", 6, "and?", tuple(said))], history_turns=turns)
        return task.history

    kept = shown(history, 3)
    assert kept[0].text == "user 2" and len(kept) == 6
    assert shown(history[:2], 3) == tuple(history[:2])
    assert shown(history, 0) == () == shown([], 3)
    turn = Turn("q", "c", 6, "and?", tuple(history))
    (task,) = tasks_for([turn], {"q": "other text"}, history_turns=1, wanted=3)
    assert (task.text, len(task.history), task.wanted) == ("other text", 2, 3)


# --- recorded


def test_recorded_rewrites_of_every_kind_for_every_turn():
    records = load_authored().rewrites
    recorded = RecordedRewriter(records)
    tasks = [Task(q, "who is it about and what happened?", wanted=3) for q in records]
    for kind in KINDS:
        found = recorded.rewrite(kind, tasks)
        assert [r.query_id for r in found] == list(records)
        assert all(r.calls == 1 and math.isnan(r.seconds) for r in found), kind
        if kind != "decomposition":
            assert sum(not r.failed for r in found) > 0.95 * len(records), kind
    plans = recorded.rewrite("decomposition", tasks)
    assert sum(bool(r.need_decompose) for r in plans) >= 40
    assert all(r.got > 1 for r in plans if r.need_decompose and not r.failed)
    assert set(recorded.evidence()) == set(records)


def test_recorded_rewrites_pass_the_same_guards():
    record = {
        "standalone": {"query": "", "entities": [], "confidence": 0.9},
        "variants": ["限流", "gateway", "gateway limits", "gateway limits"],
    }
    recorded = RecordedRewriter({"q": record})
    (empty,) = recorded.rewrite("standalone", [Task("q", "gateway")])
    assert (empty.texts, empty.failed) == ((), "empty")
    (variants,) = recorded.rewrite("variants", [Task("q", "gateway", wanted=3)])
    assert variants.texts == ("gateway limits",) and variants.got == 1
    (missing,) = recorded.rewrite("variants", [Task("x", "gateway")])
    assert missing.failed == "not recorded"
    with pytest.raises(InputError, match=r"unknown.*standalone"):
        recorded.rewrite("poem", [Task("q", "x")])
    with pytest.raises(InputError, match="recorded rewrites of q: hypothetical has no"):
        recorded.rewrite("hypothetical", [Task("q", "x")])


# --- rules


@pytest.mark.parametrize(
    ("text", "history", "expected"),
    [
        ("When was it opened?", HISTORY[:1], "When was Arlen Bridge opened?"),
        ("What is its length?", HISTORY[:1], "What is Arlen Bridge's length?"),
        ("Why did that bridge close?", HISTORY[:1], "Why did Arlen Bridge close?"),
        ("When did he die?", HISTORY, "When did Otto Brandt die?"),
        ("And the cost?", HISTORY[:1], "Arlen Bridge: And the cost?"),
        ("它要多少钱", ZH, "云网关要多少钱"),
        ("这个产品要多少钱", ZH, "云网关要多少钱"),
        ("那部署呢", ZH, "云网关部署呢"),
    ],
)
def test_rules_carry_the_entity_over(text, history, expected):
    (found,) = RulesRewriter().rewrite("standalone", [Task("q", text, history)])
    assert found.texts == (expected,) and found.calls == 0
    assert found.confidence is not None and found.entities


def test_rules_say_what_they_cannot_do():
    rules = RulesRewriter()
    (none,) = rules.rewrite("standalone", [Task("q", "and then?")])
    assert none.failed == "no entity in the history" and not none.texts
    (other,) = rules.rewrite("variants", [Task("q", "x")])
    assert other.failed == "not offered"
    several = (Utterance("agent", "Otto Brandt met Ida Falk and Kurt Weber."),)
    (unsure,) = rules.rewrite("standalone", [Task("q", "When did he die?", several)])
    assert unsure.confidence < 0.6


# --- LLM


def test_prompts_exist_for_every_kind_in_both_languages():
    for kind in KINDS:
        for language in ("en", "zh"):
            prompt = load_prompt(f"rewrite_{kind}", language)
            assert "question" in prompt.fields
            assert prompt.fields <= {"question", "history", "count", "tokens"}
            wanted = {"en": "language of the", "zh": "语言"}[language]
            assert wanted in prompt.text, "pitfall 23: the target language is stated"
    assert len(list(FOLDER.glob("rewrite_*.txt"))) == 2 * len(KINDS)


def test_a_standalone_query_in_chinese_from_a_chinese_prompt():
    reply = {
        "standalone_query": "云网关要多少钱",
        "resolved_entities": ["云网关"],
        "confidence": 0.82,
    }
    lab = Lab(lambda r: json.dumps(reply, ensure_ascii=False))
    (found,) = LlmRewriter(lab).rewrite("standalone", [Task("q", "它要多少钱", ZH)])
    assert found.texts == ("云网关要多少钱",) and found.entities == ("云网关",)
    assert (found.confidence, found.calls, found.seconds) == (0.82, 1, 0.5)
    assert "用户：云网关支持私有化吗" in lab.shown and "改写最后一个问题" in lab.shown
    assert "temperature" in lab.asked[0].body and "seed" not in lab.asked[0].body


def test_variants_are_sampled_and_counted():
    lab = Lab(lambda r: "1. tide tables of the coast\n2. when is high water\n3. ebb and flow")
    (found,) = LlmRewriter(lab, seed=7).rewrite("variants", [Task("q", "the tide", wanted=3)])
    assert (found.got, found.wanted) == (3, 3)
    assert lab.asked[0].body["seed"] == 7 and "Write 3 search queries" in lab.shown


@pytest.mark.parametrize(
    ("reply", "failed"),
    [
        (Reply("k", failed="HTTP 500"), "HTTP 500"),
        (Reply("k", text="{", finish_reason="content_filter"), "refusal"),
        (Reply("k", text=""), "empty"),
        (Reply("k", text="Question: the tide"), "another"),
    ],
)
def test_failures_come_back_with_their_reason(reply, failed):
    lab = Lab(lambda r: reply)
    (found,) = LlmRewriter(lab).rewrite("hypothetical", [Task("q", "潮水什么时候涨")])
    assert not found.texts and found.failed.startswith(failed) and found.calls == 1


def test_pitfall_10_a_cut_reply_is_asked_once_more():
    def answer(request):
        cut = request.body["max_tokens"] == 64
        return Reply(request.key, text="The tide" + ("" if cut else " rises twice a day."),
                     finish_reason="length" if cut else "stop", seconds=1.0)  # fmt: skip

    lab = Lab(answer)
    (found,) = LlmRewriter(lab).rewrite("hypothetical", [Task("q", "the tide")])
    assert found.texts == ("The tide rises twice a day.",)
    assert (found.calls, found.seconds) == (2, 2.0)
    always = Lab(lambda r: Reply(r.key, text="The tide", finish_reason="length"))
    (lost,) = LlmRewriter(always).rewrite("hypothetical", [Task("q", "the tide")])
    assert (lost.texts, lost.failed, lost.calls) == ((), "truncated", 2)


def test_pitfall_22_the_same_text_for_every_query_is_rejected():
    lab = Lab(lambda r: "A passage about the topic at hand.")
    tasks = [Task(f"q{i}", f"question {i}") for i in range(5)]
    found = LlmRewriter(lab).rewrite("hypothetical", tasks)
    assert {r.failed for r in found} == {"identical for many queries"}


def test_an_echo_of_the_prompt_is_no_rewrite():
    prompt = load_prompt("rewrite_hypothetical", "en").text.split("\n---\n")[1]
    lab = Lab(lambda r: prompt)
    (found,) = LlmRewriter(lab).rewrite("hypothetical", [Task("q", "the tide")])
    assert found.failed == "echo of the prompt"


def test_replies_are_stored_and_replayed(tmp_path):
    sent = []

    def send(body, timeout):
        sent.append(body)
        raise AssertionError("nothing may be sent")

    store = ReplyStore(tmp_path / "replies.jsonl")
    client = Client(Lab.endpoint, store, replay_only=True, send=send)
    rewriter = LlmRewriter(client)
    tasks = [Task("q", "the tide")]
    (missing,) = rewriter.rewrite("hypothetical", tasks)
    assert missing.failed == "not recorded" and math.isnan(missing.seconds)
    (request,) = rewriter.requests("hypothetical", tasks)
    store.append(request, Reply(request.key, text="The tide rises twice a day."))
    (found,) = LlmRewriter(client).rewrite("hypothetical", tasks)
    assert found.texts and math.isnan(found.seconds) and not sent
    assert client.plan([request]).to_ask == 0


def test_unknown_kinds_are_refused():
    with pytest.raises(InputError, match="'poem'"):
        LlmRewriter(Lab(lambda r: "")).rewrite("poem", [])
