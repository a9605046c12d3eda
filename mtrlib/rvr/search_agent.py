"""A search agent in the manner of SearchR1 and DeepResearch, to be counted beside RVR.

Think, search, answer, in turns, through a chat endpoint. Its retrieval result is the union of
all passages it was shown, in first-seen order (trap 24), filled up to K with the results of its
last query. No local model plays this part well; the loop is here for those who have an endpoint.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from mtrlib.data.schema import Passage, Run
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import InputError
from mtrlib.llm.client import Client
from mtrlib.llm.prompts import Prompt, load_prompt
from mtrlib.llm.requests import Request
from mtrlib.retrieval.search import Searcher
from mtrlib.rvr.agent_talk import Talk
from mtrlib.rvr.merge import distinct


@dataclass(frozen=True)
class AgentSettings:
    """Limits of the agent.

    Attributes
    ----------
    k : passages in the output.
    per_search : passages shown for one search; 5 for DeepResearch's runs in the RVR paper.
    searches : at most, per question.
    turns : replies at most, per question; also bounds replies that cannot be read.
    """

    k: int = 100
    per_search: int = 5
    searches: int = 10
    turns: int = 20

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < 1:
                raise InputError(f"{name}={value} of the search agent must be at least 1.")


@dataclass(frozen=True, eq=False)
class AgentResult:
    """What the agent found and what it cost.

    Attributes
    ----------
    run : per question the union of what it saw, then the results of its last query. A
        question for which it never searched has an empty list.
    trace : per question ``turns, searches, malformed, failed, answered, answer, seen`` (distinct
        passages shown) and ``padded`` (passages added from the last query).
    costs : ``calls`` and ``cached`` replies, ``chat_seconds``, ``search_seconds``, of the batch.
    """

    run: Run
    trace: pd.DataFrame
    costs: dict[str, float]


def run_agent(
    questions: Sequence[ListQuestion],
    client: Client,
    searcher: Searcher,
    passages_by_id: Mapping[str, Passage],
    settings: AgentSettings,
    *,
    language: str = "en",
) -> AgentResult:
    """Let the agent search for every question; one chat batch and one search call a turn.

    A reply that was cut, or that has no complete tag, counts as malformed; the agent is told so
    and goes on. A failed reply ends its question, with what it has seen.

    Parameters
    ----------
    language : of the prompt, ``en`` or ``zh``.

    Raises
    ------
    EndpointError, CoverageError, InputError
        As :meth:`mtrlib.llm.client.Client.ask`; what came before is stored.
    """
    prompt = load_prompt("search_agent", language)
    talks = [_opened(q, prompt, settings.searches) for q in questions]
    usage, chat_seconds, search_seconds = client.usage, 0.0, 0.0
    before = usage.calls, usage.replayed
    while waiting := [t for t in talks if not t.done and t.turns < settings.turns]:
        started = time.perf_counter()
        replies = client.ask([_request(client, t, prompt.version) for t in waiting])
        between = time.perf_counter()
        for talk, reply in zip(waiting, replies, strict=True):
            talk.take(reply, settings.searches)
        searching = [t for t in waiting if t.searching]
        found = _search(searching, searcher, settings.per_search)
        for talk in searching:
            ids = found.ids(talk.question.question_id)
            talk.show([passages_by_id[i] for i in ids], language)
        chat_seconds += between - started
        search_seconds += time.perf_counter() - between
    started = time.perf_counter()
    last = _search([t for t in talks if t.query], searcher, settings.k)
    search_seconds += time.perf_counter() - started
    lists = [_output(t, last, passages_by_id, settings.k) for t in talks]
    ranked = {t.question.question_id: _ranked(ids) for t, ids in zip(talks, lists, strict=True)}
    rows = [_row(t, len(ids)) for t, ids in zip(talks, lists, strict=True)]
    costs = {
        "calls": usage.calls - before[0],
        "cached": usage.replayed - before[1],
        "chat_seconds": chat_seconds,
        "search_seconds": search_seconds,
    }
    name = f"agent({client.endpoint.alias}, {searcher.spec.name})"
    return AgentResult(Run(name, ranked), pd.DataFrame(rows), costs)


def _opened(question: ListQuestion, prompt: Prompt, searches: int) -> Talk:
    state, instruction = prompt.fill(question=question.question, searches=str(searches))
    return Talk(question, [{"role": "user", "content": f"{instruction}\n\n{state}"}])


def _search(talks: Sequence[Talk], searcher: Searcher, depth: int) -> Run:
    """Results of the last query of each conversation, in one call."""
    queries = {t.question.question_id: t.query for t in talks}
    return searcher.search(queries, depth) if queries else Run(searcher.spec.name, {})


def _request(client: Client, talk: Talk, version: str) -> Request:
    endpoint = client.endpoint
    return Request(
        endpoint=endpoint.alias,
        model=endpoint.model_alias,
        dialect="chat",
        body={"messages": list(talk.messages), **endpoint.sampling},
        prompt_version=version,
        note=f"{talk.question.question_id} turn {talk.turns + 1}",
    )


def _output(talk: Talk, last: Run, passages_by_id: Mapping[str, Passage], k: int) -> list[str]:
    padding = [passages_by_id[i] for i in last.ids(talk.question.question_id)]
    return [p.passage_id for p in distinct([*talk.seen, *padding])[:k]]


def _ranked(ids: Sequence[str]) -> tuple[tuple[str, float], ...]:
    return tuple((p, float(len(ids) - i)) for i, p in enumerate(ids))


def _row(talk: Talk, listed: int) -> dict[str, object]:
    return {
        "question_id": talk.question.question_id,
        "turns": talk.turns,
        "searches": talk.searches,
        "malformed": talk.malformed,
        "failed": talk.failed,
        "answered": bool(talk.answer),
        "answer": talk.answer,
        "seen": len(talk.seen),
        "padded": max(0, listed - len(talk.seen)),
    }
