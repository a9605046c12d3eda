"""Hard topic switches: a second conversation goes on where a first one is broken off.

The released 12-turn splice joins at a turn that was written, and shortened to pronouns,
against another history (``mtr.md`` 2.5). Here the second part begins at a self-contained turn,
and no later turn of it needs what was cut off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.cluster.hierarchy import DisjointSet

from mtrlib.errors import InputError
from mtrlib.synthesis.candidates import Problem, seed_of
from mtrlib.synthesis.drafts import DraftConversation, Reject, Synthesised

LABEL = "topic_switch"
STAGE = "switch"


def openings(conversation: DraftConversation) -> list[int]:
    """Turn numbers at which the conversation may begin for somebody who saw nothing before.

    The first turn always; a later one if it and all turns after it are self-contained.
    """
    found = [1] if conversation.turns else []
    for number in range(len(conversation.turns), 1, -1):
        if not conversation.turns[number - 1].self_contained:
            break
        found.append(number)
    return sorted(found)


def splice(
    first: DraftConversation, kept: int, second: DraftConversation, opening: int
) -> DraftConversation:
    """The first ``kept`` turns of one conversation, then another from its turn ``opening`` on.

    It is called ``<first>+<second>`` and its turns ``<first>+<second>_1``, ...; it is cut to
    the length of the longer of the two. Turns keep question, gold and answer; their histories
    are those of the new conversation.

    Raises
    ------
    InputError
        Nothing would be kept of a side, a side has a switch already, or ``opening`` is none
        of the second's :func:`openings`.
    """
    name = f"{first.conversation_id}+{second.conversation_id}"
    whole = first.switch_turn is None and second.switch_turn is None
    if not whole or not 1 <= kept <= len(first.turns) or opening not in openings(second):
        raise InputError(
            f"{name}: cannot switch after turn {kept} to turn {opening}. Mend: take "
            "conversations without a switch, and begin the second at one of its openings."
        )
    longest = max(len(first.turns), len(second.turns), kept + 1)
    tail = list(second.turns[opening - 1 :])
    tail[0] = replace(tail[0], labels=(*tail[0].labels, LABEL))
    turns = [*first.turns[:kept], *tail][:longest]
    return DraftConversation(
        conversation_id=name,
        clusters=(*first.clusters, *second.clusters),
        turns=tuple(replace(t, turn_id=f"{name}_{n}") for n, t in enumerate(turns, start=1)),
        switch_turn=kept + 1,
    )


def switch_topics(
    conversations: Sequence[DraftConversation], *, share: float = 0.5, seed: int = 0
) -> Synthesised:
    """Pair a share of the conversations and splice each pair both ways; the others stay.

    Where the first part ends and at which opening the second begins is drawn per pair. Of one
    pair that shares a cluster or gold, or where a side has fewer than two turns, both stay as
    they are, with a reject of the stage ``switch``.

    Parameters
    ----------
    share : of the conversations that are paired, fraction in [0, 1].
    seed : the result depends on it and on the conversations, not on their order.

    Returns
    -------
    Synthesised
        Conversations that stay, then the spliced ones, both by id.
    """
    by_id = {c.conversation_id: c for c in conversations}
    order = np.random.default_rng(seed_of(seed, STAGE)).permutation(sorted(by_id)).tolist()
    n_pairs = int(share * len(order)) // 2
    made: list[DraftConversation] = []
    rejects: list[Reject] = []
    for one, other in zip(order[: 2 * n_pairs : 2], order[1 : 2 * n_pairs : 2], strict=True):
        problem = _problem(by_id[one], by_id[other])
        if problem:
            rejects.append(Reject(f"{one}+{other}", 0, STAGE, problem.reason, problem.detail))
            continue
        made += [_drawn(by_id[a], by_id[b], seed) for a, b in ((one, other), (other, one))]
        del by_id[one], by_id[other]
    stay = [by_id[name] for name in sorted(by_id)]
    made.sort(key=lambda c: c.conversation_id)
    return Synthesised([*stay, *made], rejects, {STAGE: n_pairs})


def split_by_cluster(
    conversations: Sequence[DraftConversation], share: float, seed: int = 0
) -> list[DraftConversation]:
    """Mark each conversation as ``train`` or ``test``, in the order given.

    Conversations that share a cluster or a gold passage, directly or through others, go
    together: both mirrors of a pair, and what is linked by a rival from another cluster.

    Parameters
    ----------
    share : of the conversations for ``test``, fraction in (0, 1). Groups are drawn in random
        order and taken while they fit, so ``test`` has at most that share.

    Raises
    ------
    InputError
        Everything hangs together, or no group is small enough: one split would be empty.
    """
    groups = _linked(conversations)
    order = np.random.default_rng(seed_of(seed, "split")).permutation(len(groups))
    room = round(share * len(conversations))
    test: set[str] = set()
    for at in order:
        if len(test) + len(groups[at]) <= room:
            test.update(groups[at])
    if not 0 < len(test) < len(conversations):
        raise InputError(
            f"{len(conversations)} conversations in {len(groups)} groups that share no cluster "
            f"cannot be split with {share:g} for test. Mend: make more clusters, or another share."
        )
    return [
        replace(c, split="test" if c.conversation_id in test else "train") for c in conversations
    ]


def _problem(one: DraftConversation, other: DraftConversation) -> Problem | None:
    if min(len(one.turns), len(other.turns)) < 2:
        return Problem("too_short")
    if one.switch_turn or other.switch_turn:
        return Problem("switched_already")
    shared = sorted(_keys(one) & _keys(other))
    return Problem("shared", shared[0][1]) if shared else None


def _drawn(first: DraftConversation, second: DraftConversation, seed: int) -> DraftConversation:
    rng = np.random.default_rng(seed_of(seed, first.conversation_id, second.conversation_id))
    kept = int(rng.integers(1, len(first.turns)))  # so that room for the second is left
    return splice(first, kept, second, int(rng.choice(openings(second))))


def _keys(conversation: DraftConversation) -> set[tuple[str, str]]:
    """What two conversations of different splits must not share."""
    gold = {("passage", p) for turn in conversation.turns for p in turn.gold}
    return gold | {("cluster", c) for c in conversation.clusters}


def _linked(conversations: Sequence[DraftConversation]) -> list[list[str]]:
    links = DisjointSet(("conversation", c.conversation_id) for c in conversations)
    for conversation in conversations:
        for key in sorted(_keys(conversation)):
            links.add(key)
            links.merge(("conversation", conversation.conversation_id), key)
    groups = ([n for kind, n in s if kind == "conversation"] for s in links.subsets())
    return sorted(sorted(group) for group in groups)
