"""From clusters to verified conversations, wave by wave: one turn of all at a time.

A conversation's history consists of its accepted turns and its turns are numbered by them, so
nothing that fails can shift questions, answers or gold against each other. All requests follow
from the seed and the store, so a killed run goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mtrlib.data.schema import Passage, Utterance
from mtrlib.errors import InputError
from mtrlib.progress import track
from mtrlib.synthesis.agents import Agents, Scene
from mtrlib.synthesis.candidates import Candidate, seed_of
from mtrlib.synthesis.drafts import DraftConversation, DraftTurn, Synthesised
from mtrlib.synthesis.sieve import Placed, Sieve
from mtrlib.synthesis.verifiers import AMBIGUOUS, Verifiers


def generate(
    clusters: Mapping[str, Sequence[Passage]],
    agents: Agents,
    verifiers: Verifiers,
    *,
    turns: int = 4,
    attempts_per_turn: int = 3,
    seed: int = 0,
) -> Synthesised:
    """One conversation per cluster, in the order of the clusters.

    A turn is tried until it passes every stage, at most ``attempts_per_turn`` times; then it
    is left out and the next one is tried. A question that too many passages answer is asked
    anew about the same passages (counted as ``rewrite``); any other try sees other passages.

    Parameters
    ----------
    clusters : name -> passages, ids unique within a cluster; the conversation is called
        ``synth-<name>``, its turns ``synth-<name>_1``, ``_2``, ...
    turns : planned turns of a conversation; it ends early when its passages are used up.
    seed : of which passages are shown when.

    Returns
    -------
    Synthesised
        Conversations without a single turn are left out; their rejects say why.

    Raises
    ------
    InputError
        A passage of a cluster is not in the verifiers' corpus, or is in the cluster twice.
    EndpointError, CoverageError
        As :meth:`mtrlib.llm.client.Client.ask`. Run again to go on: what came is stored.
    """
    _check(clusters, verifiers)
    growing = [_Growing(name, tuple(passages), seed) for name, passages in clusters.items()]
    sieve = Sieve()
    for slot in track(range(1, turns + 1), "turns", turns):
        waiting = [each for each in growing if each.free()]
        for each in growing:
            each.begin_turn()
        for attempt in range(1, attempts_per_turn + 1):
            waiting = _wave(waiting, agents, verifiers, sieve, slot, attempt)
    found = [each.draft() for each in growing if each.turns]
    return Synthesised(found, sieve.rejects, dict(sieve.attempts))


def _wave(
    waiting: Sequence[_Growing],
    agents: Agents,
    verifiers: Verifiers,
    sieve: Sieve,
    slot: int,
    attempt: int,
) -> list[_Growing]:
    """One try at the next turn of each; returns those that may try again."""
    by_id = {each.conversation_id: each for each in waiting}
    sieve.attempts["rewrite"] += sum(each.rewriting for each in waiting)
    scenes = [each.scene(slot, attempt, agents.at_once) for each in waiting]
    found = sieve.sift("query", scenes, agents.questions)
    found = sieve.sift("source_wording", found, verifiers.source_wording)
    found = sieve.sift("answerable", found, verifiers.answerable)
    found = sieve.sift("unique", found, verifiers.unique)
    found = sieve.sift("used_before", found, verifiers.used_before)
    found = sieve.sift("response", found, agents.answers)
    for candidate in sieve.sift("faithful", found, verifiers.faithful):
        by_id.pop(candidate.conversation_id).accept(candidate)
    for each in by_id.values():
        lost, reason = sieve.last[each.conversation_id]
        each.try_again(lost if reason == AMBIGUOUS else None)
    return [each for each in by_id.values() if each.free()]


def _check(clusters: Mapping[str, Sequence[Passage]], verifiers: Verifiers) -> None:
    known = {p.passage_id for p in verifiers.corpus}
    for name, passages in clusters.items():
        ids = [p.passage_id for p in passages]
        if len(set(ids)) < len(ids) or not known.issuperset(ids):
            raise InputError(
                f"cluster {name!r} has a passage twice, or one that is not in the verifiers' "
                "corpus. Mend: give each passage once, and the whole corpus to the verifiers."
            )


@dataclass
class _Growing:
    """A conversation so far, and where the tries at its next turn stand."""

    cluster: str
    passages: tuple[Passage, ...]
    seed: int
    turns: list[DraftTurn] = field(default_factory=list)
    shift: int = 0  # how often other passages were drawn for this turn
    ambiguous: tuple[str, ...] = ()  # questions of tries that had too many rivals
    rewriting: bool = False

    @property
    def conversation_id(self) -> str:
        return f"synth-{self.cluster}"

    def free(self) -> list[Passage]:
        """Passages that are no turn's gold yet, in a stable order."""
        used = self._used()
        found = (p for p in self.passages if p.passage_id not in used)
        return sorted(found, key=lambda p: p.passage_id)

    def begin_turn(self) -> None:
        self.shift, self.ambiguous, self.rewriting = 0, (), False

    def try_again(self, ambiguous: Placed | None) -> None:
        """The same passages after an ambiguous question, other ones after anything else."""
        self.rewriting = isinstance(ambiguous, Candidate)
        if isinstance(ambiguous, Candidate):
            self.ambiguous += (ambiguous.question,)
        else:
            self.shift += 1

    def scene(self, slot: int, attempt: int, n: int) -> Scene:
        """What the query agent is shown: ``n`` free passages, or as many as are left."""
        free = self.free()
        rng = np.random.default_rng(seed_of(self.seed, self.conversation_id, slot))
        order = np.roll(rng.permutation(len(free)), -n * self.shift)
        said = ((Utterance("user", t.question), Utterance("agent", t.answer)) for t in self.turns)
        return Scene(
            self.conversation_id,
            turn_number=len(self.turns) + 1,
            slot=slot,
            attempt=attempt,
            passages=tuple(free[i] for i in order[:n]),
            history=tuple(utterance for pair in said for utterance in pair),
            taken=(*(t.question for t in self.turns), *self.ambiguous),
            used=self._used(),
        )

    def accept(self, candidate: Candidate) -> None:
        """The candidate becomes the next turn."""
        self.turns.append(
            DraftTurn(
                turn_id=f"{self.conversation_id}_{len(self.turns) + 1}",
                question=candidate.question,
                gold=tuple(p.passage_id for p in candidate.gold),
                answer=candidate.answer,
                standalone=candidate.question,
            )
        )

    def draft(self) -> DraftConversation:
        return DraftConversation(self.conversation_id, (self.cluster,), tuple(self.turns))

    def _used(self) -> frozenset[str]:
        return frozenset(p for turn in self.turns for p in turn.gold)
