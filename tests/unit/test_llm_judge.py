"""The judge behind an endpoint: what it sends, what it makes of replies, replay at scale."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from mtrlib.audit.items import AuditItem, ItemSet
from mtrlib.audit.judging import METRICS, SWITCHED_OFF, Task
from mtrlib.audit.llm_judge import LlmJudge
from mtrlib.audit.metrics import judgements, tasks
from mtrlib.data.schema import Passage, Utterance
from mtrlib.llm.client import Client
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.languages import language_of
from mtrlib.llm.prompts import LONGEST
from mtrlib.llm.requests import Request
from mtrlib.llm.store import ReplyStore

FIRST = Utterance("user", "who built the old mill?")
ITEM = AuditItem(
    "c_2",
    "set",
    "c",
    2,
    "and when did it burn down?",
    (FIRST, Utterance("agent", "A miller did.")),
    (Passage("p1", "The mill burnt in 1802.", "Mill"),),
    (Passage("p2", "The mill stands on a hill.", "Mill"), Passage("p3", "Bread is baked.")),
    "In 1802.",
)


class Endpoint200:
    """Answers every chat with the same text and keeps what it was asked."""

    def __init__(self, text: str) -> None:
        self.text, self.asked = text, list[Request]()

    def __call__(self, request: Request, endpoint: Endpoint) -> dict[str, Any]:
        self.asked.append(request)
        choice = {"message": {"content": self.text}, "finish_reason": "stop"}
        return {"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 1}}


def judge(tmp_path: Path, send: Any, **how: Any) -> LlmJudge:
    endpoint = Endpoint("fake", model="m", model_alias="m", dialect="chat", owner="family")
    store = ReplyStore(tmp_path / "fake.jsonl")
    return LlmJudge("fake", Client(endpoint, store, send=send, **how))


def items(n: int) -> ItemSet:
    made = tuple(
        AuditItem(
            f"c{i}_1", "set", f"c{i}", 1, f"question {i}?", (), ITEM.gold, ITEM.negatives, "a"
        )
        for i in range(n)
    )
    return ItemSet("set", made, (*ITEM.gold, *ITEM.negatives))


def sent(request: Request) -> str:
    return json.dumps(request.body, ensure_ascii=False)


@pytest.mark.parametrize("metric", [*METRICS, *SWITCHED_OFF])
def test_every_metric_shows_the_current_turn_and_its_history(tmp_path, metric):
    send = Endpoint200("4")
    shown = tuple(ITEM.gold + ITEM.negatives)
    judge(tmp_path, send).judge([Task(metric, ITEM, ITEM.gold[0], shown)])
    text = sent(send.asked[0])
    assert "and when did it burn down?" in text
    assert text.index("who built the old mill?") < text.index("and when did it burn down?")
    assert ("1802." in text) == (metric not in SWITCHED_OFF)
    assert send.asked[0].note == f"set c_2 {metric}"
    assert metric in send.asked[0].prompt_version


def test_verdicts_of_each_kind(tmp_path):
    shown = tuple(ITEM.gold + ITEM.negatives)
    told = judge(tmp_path, Endpoint200("2")).judge(
        [
            Task("query_evidence", ITEM, ITEM.gold[0]),
            Task("completeness", ITEM, options=shown),
            Task("atomicity", ITEM),
        ]
    )
    assert [v.value for v in told] == [2.0, "2", None]
    assert told[2].reason == "no_score"


def test_chinese_items_get_chinese_prompts(tmp_path):
    assert (language_of("它是哪一年建成的？"), language_of("When?")) == ("zh", "en")
    assert language_of("1999?") == "en"
    send = Endpoint200("评分：4")
    item = AuditItem(
        "z_1", "set", "z", 1, "水坝是哪一年建成的？", (), (Passage("z", "建于一九三二年。"),)
    )
    told = judge(tmp_path, send).judge([Task("query_evidence", item, item.gold[0])])
    assert told[0].value == 4.0
    assert "当前问题" in sent(send.asked[0])


def test_long_passages_are_shortened_and_counted(tmp_path):
    send = Endpoint200("3")
    one = judge(tmp_path, send)
    one.judge([Task("query_evidence", ITEM, Passage("long", "word " * LONGEST))])
    assert one.shortened == 1
    assert len(sent(send.asked[0])) < LONGEST + 3000


def test_a_dry_run_sends_nothing(tmp_path):
    send = Endpoint200("3")
    plan = judge(tmp_path, send).plan(tasks(items(5), "query_evidence", "fake", seed=1))
    assert not send.asked
    assert "5" in plan["value"].tolist()


def test_ten_thousand_judgements_replay_within_ten_seconds(tmp_path):
    many = items(2500)
    send = Endpoint200("4")
    first = judgements(many, judge(tmp_path, send), METRICS, seed=1)
    assert len(first) == len(send.asked) == 10_000
    silent = judge(tmp_path, None, replay_only=True)
    start = time.perf_counter()
    again = judgements(many, silent, METRICS, seed=1)
    assert time.perf_counter() - start < 10
    assert again.equals(first)
    assert silent.client.usage.calls == 0
    start = time.perf_counter()
    silent.plan([t for m in METRICS for t in tasks(many, m, "fake", seed=1)])
    assert time.perf_counter() - start < 10


def test_what_was_never_asked_is_missing_and_not_a_score(tmp_path):
    silent = judge(tmp_path, None, replay_only=True)
    told = judgements(items(3), silent, ["query_evidence"], seed=1)
    assert told["value"].isna().all()
    assert set(told["reason"]) == {"not_recorded"}
