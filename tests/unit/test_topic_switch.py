"""Splices at self-contained turns, rebuilt histories, and splits that share nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtrlib.errors import InputError
from mtrlib.synthesis.drafts import DraftConversation, DraftTurn, as_conversation
from mtrlib.synthesis.topic_switch import (
    LABEL,
    openings,
    splice,
    split_by_cluster,
    switch_topics,
)


def draft(name: str, self_contained: str = "yyyy", clusters: tuple[str, ...] = ()):
    """One turn per letter; ``n`` = it needs what was said before."""
    turns = tuple(
        DraftTurn(
            f"{name}_{n}", f"Q {name} {n}?", (f"{name}-p{n}",), f"A {name} {n}.", "", mark == "y"
        )
        for n, mark in enumerate(self_contained, start=1)
    )
    return DraftConversation(name, clusters or (f"cluster-{name}",), turns)


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ("y", [1]),
        ("yyy", [1, 2, 3]),
        ("ynn", [1]),
        ("ynyy", [1, 3, 4]),
        ("yyny", [1, 4]),
        ("yyn", [1]),
        ("", []),
    ],
)
def test_a_conversation_opens_where_nothing_later_needs_what_came_before(marks, expected) -> None:
    assert openings(draft("a", marks)) == expected


def test_a_splice_keeps_turns_and_rebuilds_histories() -> None:
    made = splice(draft("a"), 2, draft("b", "ynyy"), 3)
    assert made.conversation_id == "a+b"
    assert made.clusters == ("cluster-a", "cluster-b")
    assert [t.turn_id for t in made.turns] == ["a+b_1", "a+b_2", "a+b_3", "a+b_4"]
    assert [t.question for t in made.turns] == ["Q a 1?", "Q a 2?", "Q b 3?", "Q b 4?"]
    assert [t.gold[0] for t in made.turns] == ["a-p1", "a-p2", "b-p3", "b-p4"]
    assert [t.labels for t in made.turns] == [(), (), (LABEL,), ()]
    conversation = as_conversation(made)
    assert conversation.topic_switch_turn == made.switch_turn == 3
    said = [u.text for u in conversation.turns[3].history]
    assert said == ["Q a 1?", "A a 1.", "Q a 2?", "A a 2.", "Q b 3?", "A b 3."]


def test_a_splice_is_no_longer_than_the_longer_side() -> None:
    assert len(splice(draft("a", "yyy"), 2, draft("b", "yyyyy"), 1).turns) == 5
    assert len(splice(draft("a", "yyyyy"), 4, draft("b", "yyy"), 1).turns) == 5
    assert len(splice(draft("a", "yy"), 2, draft("b", "yy"), 1).turns) == 3


@pytest.mark.parametrize(("kept", "opening"), [(0, 1), (5, 1), (2, 2), (2, 4), (2, 0), (2, 5)])
def test_a_splice_inside_a_thread_is_refused(kept, opening) -> None:
    with pytest.raises(InputError, match=r"a\+b: cannot switch"):
        splice(draft("a"), kept, draft("b", "ynyn"), opening)


def test_a_second_switch_is_refused() -> None:
    with pytest.raises(InputError, match="without a switch"):
        splice(splice(draft("a"), 1, draft("b"), 1), 1, draft("c"), 1)


def test_pairs_are_spliced_both_ways_and_the_others_stay() -> None:
    drafts = [draft(name) for name in "abcdefgh"]
    made = switch_topics(drafts, share=0.5, seed=1)
    ids = [c.conversation_id for c in made.conversations]
    stay, pairs = [i for i in ids if "+" not in i], [i for i in ids if "+" in i]
    assert len(stay) == 4 and len(pairs) == 4
    assert {"+".join(reversed(i.split("+"))) for i in pairs} == set(pairs)
    assert sorted("".join(stay) + "".join(p.split("+")[0] for p in pairs)) == list("abcdefgh")
    assert made.rejects == [] and made.attempts == {"switch": 2}
    at = [c.switch_turn for c in made.conversations if c.switch_turn is not None]
    assert len(at) == 4 and set(at) <= {2, 3, 4}


def test_the_result_depends_on_the_seed_and_not_on_the_order() -> None:
    drafts = [draft(name) for name in "abcdefgh"]
    made = switch_topics(drafts, share=1.0, seed=1)
    assert switch_topics(drafts[::-1], share=1.0, seed=1) == made
    assert switch_topics(drafts, share=1.0, seed=2) != made


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (draft("b", "y"), "too_short"),
        (draft("b", clusters=("cluster-a",)), "shared"),
        (replace(draft("b"), turns=draft("a").turns), "shared"),
        (splice(draft("b"), 1, draft("c"), 1), "switched_already"),
    ],
)
def test_pairs_that_cannot_switch_stay_as_they_are(other, reason) -> None:
    made = switch_topics([draft("a"), other], share=1.0)
    assert made.conversations == [draft("a"), other]
    (reject,) = made.rejects
    assert (reject.stage, reject.reason) == ("switch", reason)


marks = st.lists(st.text("yn", max_size=4).map(lambda rest: "y" + rest), max_size=12)


@given(marks, st.floats(0, 1), st.integers(0, 1000))
def test_no_switched_turn_has_lost_its_history(lengths, share, seed) -> None:
    drafts = [draft(f"d{n}", m) for n, m in enumerate(lengths)]
    made = switch_topics(drafts, share=share, seed=seed)
    for c in made.conversations:
        own = c.conversation_id.split("+")
        names = [t.question.split()[1] for t in c.turns]
        assert [t.gold[0].split("-")[0] for t in c.turns] == names
        assert [t.turn_id for t in c.turns] == [
            f"{c.conversation_id}_{n}" for n in range(1, len(c.turns) + 1)
        ]
        if len(own) == 1:
            continue
        at = c.switch_turn
        assert names == [own[0]] * (at - 1) + [own[1]] * (len(names) - at + 1)
        numbers = [int(t.question.split()[2].strip("?")) for t in c.turns]
        assert numbers[: at - 1] == list(range(1, at))
        tail = c.turns[at - 1 :]
        # what needs its history has all of it: either the tail starts at turn 1, or none does
        assert numbers[at - 1] == 1 or all(t.self_contained for t in tail)
    # every conversation that was given is there, alone or as a side of two mirrors
    firsts = sorted(c.conversation_id.split("+")[0] for c in made.conversations)
    assert firsts == sorted(d.conversation_id for d in drafts)


@given(st.integers(4, 30), st.integers(0, 1000), st.floats(0.1, 0.6))
def test_splits_share_no_cluster_and_no_gold(n, seed, share) -> None:
    made = switch_topics([draft(f"d{i}") for i in range(n)], share=0.6, seed=seed).conversations
    try:
        marked = split_by_cluster(made, share, seed)
    except InputError:
        assert round(share * n) < 2  # every group has one or two conversations
        return
    assert [replace(c, split="") for c in marked] == made
    sides = {
        split: {
            key
            for c in marked
            if c.split == split
            for key in (*c.clusters, *(p for t in c.turns for p in t.gold))
        }
        for split in ("train", "test")
    }
    assert sides["train"].isdisjoint(sides["test"])
    assert 0 < sum(c.split == "test" for c in marked) <= round(share * n)
    assert split_by_cluster(made, share, seed) == marked


def test_mirrors_and_linked_rivals_stay_together() -> None:
    a, b, c, d = (draft(name) for name in "abcd")
    rival = replace(c.turns[0], gold=(*c.turns[0].gold, "b-p1"))
    linked = replace(c, turns=(rival, *c.turns[1:]))
    drafts = [splice(a, 2, b, 1), splice(b, 2, a, 1), linked, d, draft("e")]
    for seed in range(20):
        marked = {c.conversation_id: c.split for c in split_by_cluster(drafts, 0.4, seed)}
        assert marked["a+b"] == marked["b+a"] == marked["c"] == "train"


def test_what_hangs_together_cannot_be_split() -> None:
    drafts = [
        draft("a", clusters=("x",)),
        draft("b", clusters=("x", "y")),
        draft("c", "yy", ("y",)),
    ]
    with pytest.raises(InputError, match="3 conversations in 1 groups"):
        split_by_cluster(drafts, 0.5)
