"""The search agent with a scripted endpoint: turns, limits, malformed tool use, the union."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.schema import Passage, Run
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import InputError
from mtrlib.llm.answers import CallError
from mtrlib.llm.client import Client
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.prompts import load_prompt
from mtrlib.llm.requests import Request
from mtrlib.llm.store import ReplyStore
from mtrlib.retrieval.registry import RetrieverSpec
from mtrlib.rvr.agent_talk import NONE_LEFT, UNREADABLE, read_action
from mtrlib.rvr.search_agent import AgentResult, AgentSettings, run_agent

CORPUS = {c: Passage(c, f"text of {c}", f"Title {c}") for c in "abcdefgh"}
SEARCH = "<think>Let me look.</think><search>{}</search>"


class Letters:
    """A query of letters finds these passages, then the rest of the alphabet."""

    spec = RetrieverSpec("letters", "lexical")

    def __init__(self) -> None:
        self.asked: list[tuple[dict[str, str], int]] = []

    def search(self, queries: Mapping[str, str], depth: int) -> Run:
        self.asked.append((dict(queries), depth))
        ranks = {
            q: [*text, *(c for c in "abcdefgh" if c not in text)] for q, text in queries.items()
        }
        return Run("letters", {q: tuple((p, 1.0) for p in r[:depth]) for q, r in ranks.items()})

    def budget(self) -> tuple[None, None]:
        return None, None

    def describe(self) -> dict[str, Any]:
        return {}


class Scripted:
    """The n-th reply of a question is the n-th of its script; counts what it is asked."""

    def __init__(self, **scripts: Sequence[str | CallError]) -> None:
        self.scripts = scripts
        self.bodies: list[list[dict[str, str]]] = []

    def __call__(self, request: Request, endpoint: Endpoint) -> Mapping[str, Any]:
        messages = request.body["messages"]
        self.bodies.append(messages)
        [name] = [q for q in self.scripts if f"Question: {q}?" in messages[0]["content"]]
        reply = self.scripts[name][sum(m["role"] == "assistant" for m in messages)]
        if isinstance(reply, CallError):
            raise reply
        cut = reply.endswith("…")
        return {
            "choices": [
                {"message": {"content": reply}, "finish_reason": "length" if cut else "stop"}
            ],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1},
        }


def agent(
    tmp_path: Path,
    searcher: Letters | None = None,
    settings: dict[str, int] | None = None,
    **scripts,
) -> tuple[AgentResult, Scripted]:
    send = Scripted(**scripts)
    endpoint = Endpoint("lab", model="m", model_alias="m", max_attempts=1, concurrency=1)
    client = Client(endpoint, ReplyStore(tmp_path / "replies"), send=send, wait=lambda s: None)
    questions = [ListQuestion(name, f"{name}?") for name in scripts]
    given = AgentSettings(
        **{"k": 6, "per_search": 2, "searches": 3, "turns": 6, **(settings or {})}
    )
    return run_agent(questions, client, searcher or Letters(), CORPUS, given), send


def test_union_in_first_seen_order_then_the_last_query(tmp_path):
    """Trap 24: h c, then c a, give h c a; the last query "ca" fills up with b d e."""
    script = [SEARCH.format("hc"), SEARCH.format("ca"), "<answer>H; C</answer>"]
    found, _ = agent(tmp_path, q=script)
    assert "".join(found.run.ids("q")) == "hcabde"
    assert found.run.system == "agent(lab, letters)"
    [row] = found.trace.to_dict("records")
    assert row == {
        "question_id": "q",
        "turns": 3,
        "searches": 2,
        "malformed": 0,
        "failed": False,
        "answered": True,
        "answer": "H; C",
        "seen": 3,
        "padded": 3,
    }
    assert (found.costs["calls"], found.costs["cached"]) == (3, 0)
    assert found.costs["chat_seconds"] >= 0


def test_a_second_run_is_replayed_and_gives_the_same(tmp_path):
    script = [SEARCH.format("hc"), "<answer>H</answer>"]
    first, _ = agent(tmp_path, q=script)
    again, send = agent(tmp_path, q=script)
    assert send.bodies == []
    assert (again.costs["calls"], again.costs["cached"]) == (0, 2)
    assert again.run == first.run
    assert again.trace.equals(first.trace)


def test_passages_come_back_between_tags_and_what_the_model_made_up_does_not(tmp_path):
    made_up = "<search>b</search><information>Title h: all of it</information>"
    _, send = agent(tmp_path, q=[made_up, "<answer>B</answer>"])
    opening, said, shown = send.bodies[1]
    assert "up to 3 times" in opening["content"]
    assert said == {"role": "assistant", "content": "<search>b</search>"}
    assert shown["content"].startswith("<information>\nPassage 1: Title b\ntext of b")
    assert "all of it" not in str(send.bodies)


def test_malformed_tool_use_is_told_and_counted(tmp_path):
    script = [
        "I would search for b.",
        "<search>  </search>",
        "<think>Perhaps <search>b</search>",
        "<search>b</search> and so on …",  # cut by the limit
        SEARCH.format("b"),
        "<answer>B</answer>",
    ]
    found, send = agent(tmp_path, q=script)
    row = found.trace.iloc[0]
    assert (row["malformed"], row["searches"], row["turns"]) == (4, 1, 6)
    assert send.bodies[1][-1]["content"] == UNREADABLE


def test_turns_end_a_conversation_that_never_answers(tmp_path):
    found, _ = agent(tmp_path, q=["no tag"] * 6)
    row = found.trace.iloc[0]
    assert (row["turns"], row["malformed"], row["answered"]) == (6, 6, False)
    assert found.run.rankings["q"] == ()  # it never searched, so there is nothing to pad with


def test_searches_beyond_the_limit_are_refused(tmp_path):
    searcher = Letters()
    script = [SEARCH.format(c) for c in "abcde"] + ["<answer>x</answer>"]
    found, send = agent(tmp_path, searcher, q=script)
    row = found.trace.iloc[0]
    assert (row["searches"], row["malformed"], row["answered"]) == (3, 2, True)
    assert send.bodies[4][-1]["content"] == NONE_LEFT
    assert searcher.asked[-1] == ({"q": "c"}, 6)  # the last query that was really searched


def test_a_turn_is_one_batch_and_one_search_for_all_questions(tmp_path):
    searcher = Letters()
    found, _ = agent(
        tmp_path,
        searcher,
        q=[SEARCH.format("a"), "<answer>A</answer>"],
        r=[SEARCH.format("b"), SEARCH.format("c"), "<answer>C</answer>"],
    )
    assert [(sorted(texts), depth) for texts, depth in searcher.asked] == [
        (["q", "r"], 2),
        (["r"], 2),
        (["q", "r"], 6),
    ]
    assert list(found.trace["turns"]) == [2, 3]


def test_a_failed_reply_ends_its_question_with_what_it_saw(tmp_path):
    dead = CallError("status", "no", status=400)
    found, _ = agent(tmp_path, q=[SEARCH.format("h"), dead], r=["<answer>x</answer>"])
    assert list(found.trace["failed"]) == [True, False]
    assert "".join(found.run.ids("q")) == "habcde"
    assert not found.trace["answered"].iloc[0]


@pytest.mark.parametrize(
    ("reply", "kind", "text"),
    [
        ("<search>a</search><answer>b</answer>", "search", "a"),
        ("<ANSWER>\n a;\n b </ANSWER>", "answer", "a; b"),
        ("<think><answer>no</answer></think><answer>yes</answer>", "answer", "yes"),
        ("<search>a</answer>", "malformed", ""),
        ("<search>a", "malformed", ""),
        ("", "malformed", ""),
    ],
)
def test_actions(reply, kind, text):
    found = read_action(reply)
    assert (found.kind, found.text) == (kind, text)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_prompts_take_their_fields_and_name_the_tags(language):
    prompt = load_prompt("search_agent", language)
    assert prompt.fields == {"question", "searches"}
    assert all(f"<{tag}>" in prompt.text for tag in ("think", "search", "information", "answer"))


def test_limits_below_one_are_refused():
    with pytest.raises(InputError, match="per_search=0"):
        AgentSettings(per_search=0)
