"""Questions to verdicts through a client: order, keys, and the second try of cut replies."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mtrlib.errors import InputError
from mtrlib.llm.decide import WIDE, Asked, requests_for, verdicts, wider
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.questions import Predicate, Score, Verdict
from mtrlib.llm.requests import Reply, Request

SCORE = Score("How well?", ("not", "partly", "fully"))
ENDPOINT = Endpoint("lab", model="m-1", model_alias="m", temperature=0.0, max_tokens=20)


class Scripted:
    """Answers by state and number of the try; keeps what it was asked."""

    endpoint = ENDPOINT

    def __init__(self, **replies: list[tuple[str, str, str]]) -> None:
        self.replies = replies
        self.rounds: list[list[Request]] = []

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        self.rounds.append(list(requests))
        return [self._reply(r) for r in requests]

    def _reply(self, request: Request) -> Reply:
        text, finish_reason, failed = self.replies[request.note].pop(0)
        return Reply(request.key, text=text, finish_reason=finish_reason, failed=failed)


def asked(*notes: str) -> list[Asked]:
    return [Asked(SCORE, f"Item {n}", "p.en.txt@0", sample=1, note=n) for n in notes]


def test_verdicts_come_in_order_and_requests_carry_aliases_only():
    client = Scripted(a=[('{"score": 1}', "stop", "")], b=[("3", "stop", "")])
    found = verdicts(client, asked("a", "b"), dialect="chat", sampling={"temperature": 0.7})
    assert found == [Verdict(1.0), Verdict(3.0)]
    [[first, _]] = client.rounds
    assert (first.endpoint, first.model, first.dialect) == ("lab", "m", "chat")
    assert (first.prompt_version, first.sample, first.note) == ("p.en.txt@0", 1, "a")
    assert (first.body["temperature"], first.body["max_tokens"]) == (0.7, 20)
    assert "m-1" not in str(first)


def test_only_cut_replies_are_asked_once_more_with_four_times_the_limit():
    client = Scripted(
        a=[('{"score": 2}', "stop", "")],
        b=[("Let me first", "length", ""), ('{"score": 3}', "stop", "")],
        c=[("Well, the", "length", ""), ("Well, the passage", "length", "")],
        d=[("", "", "HTTP 500")],
    )
    found = verdicts(client, asked("a", "b", "c", "d"), dialect="chat")
    missing = [Verdict.missing(r) for r in ("truncated", "failed")]
    assert found == [Verdict(2.0), Verdict(3.0), *missing]
    assert [[r.note for r in requests] for requests in client.rounds] == [list("abcd"), list("bc")]
    assert client.rounds[1][0].body["max_tokens"] == 80
    assert client.rounds[1][0].key != client.rounds[0][1].key


@pytest.mark.parametrize("failed", ["not recorded", "HTTP 500"])
def test_a_second_try_without_reply_leaves_truncated(failed):
    client = Scripted(a=[("Let me", "length", ""), ("", "", failed)])
    assert verdicts(client, asked("a"), dialect="chat") == [Verdict.missing("truncated")]


def test_wider_takes_the_limit_that_is_set():
    request = Request("e", "m", "chat", {"messages": [], "max_completion_tokens": 10})
    assert wider(request).body == {"messages": [], "max_completion_tokens": 40}
    assert wider(Request("e", "m", "chat", {})).body == {"max_tokens": WIDE}
    assert request.body["max_completion_tokens"] == 10


def test_typed_dialects_get_no_sampling_and_one_request_per_question():
    requests = requests_for(ENDPOINT, asked("a", "a"), dialect="system_one")
    assert [set(r.body) for r in requests] == [{"state", "questions"}] * 2
    assert requests[0].key == requests[1].key  # same item, same sample: one call


def test_an_impossible_question_stops_before_anything_is_sent():
    client = Scripted()
    one = Asked(Score("?", ("only",)), "state")
    with pytest.raises(InputError, match="1 levels"):
        verdicts(client, [one], dialect="decisions")
    assert client.rounds == []
    assert verdicts(client, [], dialect="chat") == []


def test_language_reaches_the_form():
    [request] = requests_for(
        ENDPOINT, [Asked(Predicate("是否切题？"), "文段")], dialect="chat", language="zh"
    )
    assert "只回答" in request.body["messages"][0]["content"]
