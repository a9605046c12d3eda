"""Questions as people type them, verified again in their new wording.

The released code rewrites without looking at the gold again (``mtr.md`` 2.5). Here the new
wording passes the same verifiers in its own history, or the old wording stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from mtrlib.data.schema import Passage, Utterance
from mtrlib.errors import InputError
from mtrlib.progress import track
from mtrlib.synthesis.candidates import Candidate, Outcome, Problem
from mtrlib.synthesis.drafts import DraftConversation, Synthesised
from mtrlib.synthesis.rewriter import CONTEXT_DEPENDENT, Rewriter
from mtrlib.synthesis.sieve import Sieve
from mtrlib.synthesis.verifiers import Verifiers

GOLD_CHANGED = "gold_changed"


def humanise(
    drafts: Sequence[DraftConversation], rewriter: Rewriter, verifiers: Verifiers
) -> Synthesised:
    """Rewrite turns in place; ids, gold, answers and order stay as they are.

    Turn by turn over all conversations, so that each history holds the wordings that stand.
    A wording that fails a guard or a verifier, or that other passages answer than before, is
    a reject of the stage ``humanise``; the turn then keeps the wording that it had.

    Parameters
    ----------
    verifiers : those that the turns have passed in their present wording.

    Returns
    -------
    Synthesised
        All conversations that were given, in order. A turn that was rewritten has the style
        among its labels, and is not self-contained any more if it is context-dependent.

    Raises
    ------
    InputError
        A gold passage is not in the verifiers' corpus.
    EndpointError, CoverageError
        As :meth:`mtrlib.llm.client.Client.ask`. Run again to go on: what came is stored.
    """
    corpus = {p.passage_id: p for p in verifiers.corpus}
    done = {draft.conversation_id: draft for draft in drafts}
    sieve = Sieve()
    most = max((len(draft.turns) for draft in drafts), default=0)
    for number in track(range(1, most + 1), "turns rewritten", most):
        chosen = [
            _candidate(draft, number, corpus)
            for draft in done.values()
            if len(draft.turns) >= number and rewriter.chooses(draft.turns[number - 1], number)
        ]
        new = sieve.sift("humanise", chosen, lambda old: _rewritten(old, rewriter, verifiers))
        for candidate in new:
            draft = done[candidate.conversation_id]
            done[draft.conversation_id] = _replaced(draft, candidate, rewriter.style)
    return Synthesised(list(done.values()), sieve.rejects, dict(sieve.attempts))


def _rewritten(old: Sequence[Candidate], rewriter: Rewriter, verifiers: Verifiers) -> list[Outcome]:
    gold = {c.conversation_id: frozenset(c.gold) for c in old}

    def same_gold(candidates: Sequence[Candidate]) -> list[Outcome]:
        return [
            c if frozenset(c.gold) == gold[c.conversation_id] else Problem(GOLD_CHANGED, c.question)
            for c in candidates
        ]

    outcomes = rewriter.rewrite(old)
    for check in (
        verifiers.source_wording,
        verifiers.answerable,
        verifiers.unique,
        same_gold,
        verifiers.faithful,
    ):
        outcomes = _then(outcomes, check)
    return outcomes


def _then(
    outcomes: Sequence[Outcome], check: Callable[[Sequence[Candidate]], list[Outcome]]
) -> list[Outcome]:
    """Check what is left; problems stay in their places."""
    left = [o for o in outcomes if isinstance(o, Candidate)]
    told = iter(check(left) if left else ())
    return [next(told) if isinstance(o, Candidate) else o for o in outcomes]


def _candidate(draft: DraftConversation, number: int, corpus: Mapping[str, Passage]) -> Candidate:
    turn = draft.turns[number - 1]
    lost = [p for p in turn.gold if p not in corpus]
    if lost:
        raise InputError(
            f"turn {turn.turn_id}: gold {lost[0]} is not in the verifiers' corpus. "
            "Mend: give the corpus that the conversations were made from."
        )
    said = (
        (Utterance("user", t.question), Utterance("agent", t.answer))
        for t in draft.turns[: number - 1]
    )
    return Candidate(
        draft.conversation_id,
        number,
        turn.question,
        tuple(corpus[p] for p in turn.gold),
        history=tuple(utterance for pair in said for utterance in pair),
        answer=turn.answer,
        standalone=turn.standalone or turn.question,
    )


def _replaced(draft: DraftConversation, candidate: Candidate, style: str) -> DraftConversation:
    turns = list(draft.turns)
    turn = turns[candidate.turn_number - 1]
    turns[candidate.turn_number - 1] = replace(
        turn,
        question=candidate.question,
        standalone=candidate.standalone,
        self_contained=turn.self_contained and style != CONTEXT_DEPENDENT,
        labels=(*turn.labels, style),
    )
    return replace(draft, turns=tuple(turns))
