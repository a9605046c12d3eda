"""Retrieve, verify, retrieve: the loop, over all questions at once.

Per round there is one search call and one verifier batch for all questions. The first
retriever and the later one are searchers of their own, each with the vectors of its own
model; a query vector never meets the other's index (trap 22).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from mtrlib.data.schema import Passage, Run
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import InputError
from mtrlib.retrieval.search import Searcher
from mtrlib.rvr.context import ContextQuery, passage_key, query_with_context
from mtrlib.rvr.merge import Accepted, context_passages, distinct, merged
from mtrlib.rvr.settings import RvrSettings, Verifier
from mtrlib.rvr.trace import (
    LISTED,
    NOT_JUDGED,
    RvrResult,
    note_verdicts,
    passage_rows,
    round_row,
    verdict_counts,
)

SPARE = 8  # retrieved beyond what is kept, for texts that the corpus holds under two ids


@dataclass
class _State:
    """One question on its way."""

    question: ListQuestion
    lists: list[list[Passage]] = field(default_factory=list)
    accepted: list[Accepted] = field(default_factory=list)
    judged: set[str] = field(default_factory=set)  # keys, not asked about again
    passed_over: set[str] = field(default_factory=set)  # of these, with a verdict
    rows: list[dict[str, Any]] = field(default_factory=list)
    listed: list[dict[str, Any]] = field(default_factory=list)
    contexts: list[dict[str, Any]] = field(default_factory=list)


def retrieve_verify_retrieve(
    questions: Sequence[ListQuestion],
    first: Searcher,
    later: Searcher,
    verifier: Verifier,
    passages_by_id: Mapping[str, Passage],
    settings: RvrSettings,
) -> RvrResult:
    """Run the loop.

    D_1 is the list of ``first`` for the bare question. In each round but the last the first
    ``min(B, length)`` passages of the list are verified, those judged before aside. At most M
    accepted ones join the question, which ``later`` searches. The output is what
    :func:`mtrlib.rvr.merge.merged` makes of the accepted passages and the last list.

    Parameters
    ----------
    questions : ids unique. Answers and gold are read for the trace alone, and by an oracle.
    first, later : f_i and f_r over the same corpus; the same object where they are one model.
    passages_by_id : the corpus.
    settings : T, K, B, M and the policies. Where B > K the lists that are verified have
        length B, the last one has K.

    Raises
    ------
    InputError
        A repeated question id, or a retrieved passage that the corpus lacks.

    Notes
    -----
    Choices where the paper is silent. *Budget*: B counts per round, ranks 1 to B of the list;
    under ``seen="allow"`` ranks that hold judged passages are spent, under ``mask`` B goes to
    unseen ones alone (traps 9 and 10). *Mask*: all passages with a verdict are passed over,
    rejected ones too, and as many more are retrieved. A passage whose reply was unreadable, or
    that the verifier did not judge, is rejected but may come back. *Nothing accepted*: the
    next query is the bare question (trap 5). *Last round*: not verified, so T rounds cost at
    most (T - 1) B verdicts.

    References
    ----------
    RVR (arXiv 2602.18425), section 3.
    """
    states = [_State(q) for q in questions]
    if len({q.question_id for q in questions}) < len(states):
        raise InputError("a question id occurs twice. Mend: keep one record each.")
    costs = []
    for number in range(1, settings.rounds + 1):
        searcher = first if number == 1 else later
        started = time.perf_counter()
        _retrieve(states, number, searcher, passages_by_id, settings)
        between = time.perf_counter()
        before = verifier.calls, verifier.cached
        _verify(states, number, verifier, settings.budget if number < settings.rounds else 0)
        costs.append(
            {
                "round": number,
                "queries": len(states),
                "calls": verifier.calls - before[0],
                "cached": verifier.cached - before[1],
                "search_seconds": between - started,
                "verify_seconds": time.perf_counter() - between,
            }
        )
    name = f"rvr({first.spec.name}, {later.spec.name}, {verifier.name})"
    run = Run(name, {s.question.question_id: _output(s, settings) for s in states})
    trace = pd.DataFrame([row for s in states for row in s.rows])
    listed = pd.DataFrame([row for s in states for row in s.listed], columns=LISTED)
    contexts = pd.DataFrame([row for s in states for row in s.contexts], columns=LISTED[:4])
    return RvrResult(run, trace, pd.DataFrame(costs), listed, contexts)


def _retrieve(
    states: Sequence[_State],
    number: int,
    searcher: Searcher,
    passages_by_id: Mapping[str, Passage],
    settings: RvrSettings,
) -> None:
    wanted = settings.k if number == settings.rounds else max(settings.k, settings.budget)
    contexts = [
        context_passages(s.accepted, settings.context, settings.context_policy) for s in states
    ]
    queries = _queries(states, contexts, searcher)
    masks = [s.passed_over if settings.seen == "mask" else set() for s in states]
    depth = wanted + SPARE + max(map(len, masks), default=0)
    texts = {s.question.question_id: q.text for s, q in zip(states, queries, strict=True)}
    run = searcher.search(texts, depth)
    for state, query, context, mask in zip(states, queries, contexts, masks, strict=True):
        ids = run.ids(state.question.question_id)
        found = distinct([_passage(i, passages_by_id, run.system) for i in ids], mask)[:wanted]
        earlier = [p for listed in state.lists for p in listed]
        row = round_row(state.question, number, found, earlier, context[: query.passages])
        row |= {"context_trimmed": query.trimmed, "context_dropped": query.dropped, "filled": 0}
        state.rows.append(row)
        state.lists.append(found)
        state.contexts += passage_rows(state.question, number, context[: query.passages])
        state.listed += passage_rows(state.question, number, found)


def _queries(
    states: Sequence[_State], contexts: Sequence[Sequence[Passage]], searcher: Searcher
) -> list[ContextQuery]:
    if not any(contexts):
        return [ContextQuery(s.question.question) for s in states]
    budget, counter = searcher.budget()
    cut = counter.cut if counter else None
    return [
        query_with_context(
            s.question.question, context, budget=budget, count_tokens=counter, cut=cut
        )
        for s, context in zip(states, contexts, strict=True)
    ]


def _verify(states: Sequence[_State], number: int, verifier: Verifier, budget: int) -> None:
    chosen = [[p for p in s.lists[-1][:budget] if passage_key(p) not in s.judged] for s in states]
    pairs = [(s.question, p) for s, own in zip(states, chosen, strict=True) for p in own]
    verdicts = verifier.verify(pairs) if pairs else []
    if len(verdicts) != len(pairs):
        raise InputError(
            f"verifier {verifier.name!r} gave {len(verdicts)} verdicts for {len(pairs)} passages. "
            "Mend: one verdict per pair, in order."
        )
    waiting = iter(verdicts)
    for state, own in zip(states, chosen, strict=True):
        told = [next(waiting) for _ in own]
        state.rows[-1] |= verdict_counts(state.question, own, told)
        note_verdicts(state.listed, number, own, told)
        for passage, verdict in zip(own, told, strict=True):
            if verdict.reason != NOT_JUDGED:
                state.judged.add(passage_key(passage))
            if not verdict.reason:
                state.passed_over.add(passage_key(passage))
            if verdict.accepted:
                state.accepted.append(Accepted(passage, number, verdict.score))


def _output(state: _State, settings: RvrSettings) -> tuple[tuple[str, float], ...]:
    filler = state.lists[0] if settings.fill else ()
    passages, filled = merged(state.accepted, state.lists[-1], settings.k, filler=filler)
    state.rows[-1]["filled"] = filled
    return tuple((p.passage_id, float(len(passages) - i)) for i, p in enumerate(passages))


def _passage(passage_id: str, passages_by_id: Mapping[str, Passage], system: str) -> Passage:
    if passage_id not in passages_by_id:
        raise InputError(
            f"{system} retrieved passage {passage_id!r}, which the corpus given to the loop "
            "lacks. Mend: give the corpus that was indexed."
        )
    return passages_by_id[passage_id]
