"""Rewriting of questions: guards, the second round of verifiers, and what stays on failure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import pytest

from mtrlib.data.authored.wording import CopyCheck
from mtrlib.data.schema import Passage
from mtrlib.errors import InputError
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.requests import Reply, Request
from mtrlib.synthesis.drafts import DraftConversation, DraftTurn, as_conversation
from mtrlib.synthesis.humanise import humanise
from mtrlib.synthesis.rewriter import CONTEXT_DEPENDENT, VERBOSE, Rewriter, wording_problem
from mtrlib.synthesis.support import LocalSupport
from mtrlib.synthesis.verifiers import Verifiers

CORPUS = tuple(
    Passage(f"{town}{n}", f"The {thing} of {town} was opened in 19{n}7 by a mayor.", town)
    for town in ("Arlen", "Borvik")
    for n, thing in enumerate(["bridge", "mill", "ferry"], start=1)
)
LONG = "I was sorting old postcards of my aunt the other day, and one of them made me wonder. " * 3


class Writer:
    """An endpoint that rewrites as it is told, by note."""

    endpoint = Endpoint("lab", model="m-1", model_alias="m")

    def __init__(self, says: Callable[[str, str], str | dict]) -> None:
        self.says = says
        self.asked: list[Request] = []

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        self.asked += requests
        found = []
        for request in requests:
            prompt = request.body["messages"][0]["content"]
            said = self.says(request.note, prompt)
            fields = said if isinstance(said, dict) else {"text": said, "finish_reason": "stop"}
            found.append(Reply(request.key, **fields))
        return found


def question(town: str, thing: str) -> str:
    return f"When was the {thing} of {town} opened for the public?"


def draft(town: str) -> DraftConversation:
    turns = (
        DraftTurn(
            f"synth-{town}_{n}",
            question(town, thing),
            (f"{town}{n}",),
            f"In 19{n}7.",
            question(town, thing),
        )
        for n, thing in enumerate(["bridge", "mill", "ferry"], start=1)
    )
    return DraftConversation(f"synth-{town}", (town,), tuple(turns))


def supports(text: str, passages: Sequence[Passage]) -> list[float]:
    """An answer has its year in the passage, a question its thing and its town."""
    years = re.findall(r"19\d7", text)
    if years:
        return [float(years[0] in p.text) for p in passages]
    return [float(all(w in text for w in (p.text.split()[1], p.title))) for p in passages]


def verifiers(score=supports) -> Verifiers:
    return Verifiers(CORPUS, LocalSupport(score), answerable_at=0.5, faithful_at=0.5)


def short(note: str, prompt: str) -> str:
    thing = re.findall(r"When was the (\w+) of", prompt)[-1]
    return f"And when was its {thing} opened?"


def rewritten(says, style: str = CONTEXT_DEPENDENT, score=supports, **fields):
    rewriter = Rewriter(Writer(says), style, **fields)
    return humanise([draft("Arlen"), draft("Borvik")], rewriter, verifiers(score))


def test_later_turns_become_context_dependent_and_keep_everything_else() -> None:
    made = rewritten(short)
    assert made.rejects == [] and made.attempts == {"humanise": 4}
    for new, old in zip(made.conversations, [draft("Arlen"), draft("Borvik")], strict=True):
        assert new.turns[0] == old.turns[0]
        assert [t.question for t in new.turns[1:]] == [
            "And when was its mill opened?",
            "And when was its ferry opened?",
        ]
        for a, b in zip(new.turns[1:], old.turns[1:], strict=True):
            assert (a.turn_id, a.gold, a.answer, a.standalone) == (
                b.turn_id,
                b.gold,
                b.answer,
                b.question,
            )
            assert not a.self_contained and a.labels == (CONTEXT_DEPENDENT,)
        third = as_conversation(new).turns[2]
        assert [u.text for u in third.history if u.role == "user"] == [
            old.turns[0].question,
            "And when was its mill opened?",
        ]
        assert third.rewrite == old.turns[2].question


def test_the_rewriter_sees_the_wordings_that_stand() -> None:
    writer = Writer(short)
    humanise([draft("Arlen")], Rewriter(writer), verifiers())
    prompt = writer.asked[1].body["messages"][0]["content"]
    assert "User: And when was its mill opened?\nAssistant: In 1927." in prompt
    assert f"Next question:\n{question('Arlen', 'ferry')}" in prompt
    body = writer.asked[1].body
    assert (body["temperature"], body["top_p"], body["max_tokens"]) == (0.8, 0.9, 100)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("[ERROR: generation failed]", "error_text"),
        ("I'm sorry, I cannot rewrite this.", "refusal"),
        ({"text": "And when was", "finish_reason": "length"}, "truncated"),
        ({"failed": "status 500"}, "failed"),
        ("Here is the question: when was its mill opened?", "preface"),
        ("Sure, when was its mill opened?", "preface"),
        ("when was the mill of ARLEN opened, for the public", "unchanged"),
        ("When was the bridge of Arlen opened for the public?", "repeats_question"),
        ("And its mill.", "lost_part"),
        ("And when was its mill opened? And who came?", "added_part"),
        (
            "So tell me then, when exactly was its old mill opened for the public at large?",
            "too_long",
        ),
        ("By a person at this point of the conversation: its mill?", "echo"),
        ("它的磨坊是什么时候开放的？", "language"),
        ("According to the text, when was its mill opened?", "source_wording"),
    ],
)
def test_a_bad_wording_leaves_the_old_one_and_is_counted(text, reason) -> None:
    def says(note: str, prompt: str) -> str | dict:
        return text if note == "synth-Arlen turn 2 context_dependent" else short(note, prompt)

    made = rewritten(says)
    (reject,) = made.rejects
    assert (reject.conversation_id, reject.turn_number) == ("synth-Arlen", 2)
    assert (reject.stage, reject.reason) == ("humanise", reason)
    arlen, borvik = made.conversations
    assert arlen.turns[1] == draft("Arlen").turns[1]
    assert [t.labels for t in (*arlen.turns, *borvik.turns)].count((CONTEXT_DEPENDENT,)) == 3


@pytest.mark.parametrize(
    ("score", "reason"),
    [
        (lambda text, passages: [0.0] * len(passages), "not_answerable"),
        (lambda text, passages: [math.nan] * len(passages), "unread"),
        (lambda text, passages: [1.0] * len(passages), "too_many_rivals"),
        (lambda text, ps: [float("mill" in p.text) for p in ps], "gold_changed"),
        (lambda t, ps: [0.0] * len(ps) if "192" in t else supports(t, ps), "not_faithful"),
    ],
)
def test_the_new_wording_must_pass_the_verifiers_again(score, reason) -> None:
    made = rewritten(short, score=score)
    assert ("synth-Arlen", 2, reason) in {
        (r.conversation_id, r.turn_number, r.reason) for r in made.rejects
    }
    assert made.conversations[0].turns[1] == draft("Arlen").turns[1]


def test_a_verbose_turn_stays_self_contained() -> None:
    made = rewritten(
        lambda note, prompt: LONG + prompt.rsplit("\n\n", 2)[1].split("\n")[-1], VERBOSE
    )
    assert made.rejects == [] and made.attempts == {"humanise": 6}
    for conversation in made.conversations:
        for turn in conversation.turns:
            assert turn.question == LONG + turn.standalone
            assert turn.self_contained and turn.labels == (VERBOSE,)


def test_styles_add_up() -> None:
    first = rewritten(short)
    writer = Writer(lambda note, prompt: LONG + "And when was its mill opened?")
    made = humanise(first.conversations[:1], Rewriter(writer, VERBOSE), verifiers())
    turn = made.conversations[0].turns[1]
    assert turn.labels == (CONTEXT_DEPENDENT, VERBOSE) and not turn.self_contained
    assert turn.standalone == question("Arlen", "mill")


@pytest.mark.parametrize(
    ("new", "old", "style", "reason"),
    [
        (
            "When was it built?",
            "When and by whom was the mill built?",
            CONTEXT_DEPENDENT,
            "lost_part",
        ),
        ("When was it built?", "When was it built? By whom?", CONTEXT_DEPENDENT, "lost_part"),
        ("When and by whom?", "When and by whom was the mill built?", CONTEXT_DEPENDENT, ""),
        ("它何时建成？", "磨坊何时建成以及由谁建造？", CONTEXT_DEPENDENT, "lost_part"),
        ("改写：它何时建成？", "磨坊何时建成呢？请问？", CONTEXT_DEPENDENT, "preface"),
        ("?!", "Why did the mill stop?", CONTEXT_DEPENDENT, "too_short"),
        ("Here is a mill: why?", "Why here is a mill, tell?", CONTEXT_DEPENDENT, ""),
        ("I do wonder: why did the mill stop?", "Why did the mill stop?", VERBOSE, "too_short"),
        ("那天路过" * 20 + "，磨坊为什么停了？", "磨坊为什么停了？", VERBOSE, ""),
        (LONG * 7 + "Why did it stop?", "Why did it stop?", VERBOSE, "too_long"),
    ],
)
def test_wordings(new, old, style, reason) -> None:
    assert wording_problem(new, old, style) == reason


def test_a_share_of_the_turns_is_chosen_by_the_seed() -> None:
    turns = [t for n in range(100) for t in draft(f"T{n}").turns[1:]]

    def chosen(seed: int) -> list[bool]:
        rewriter = Rewriter(Writer(short), share=0.3, seed=seed)
        return [rewriter.chooses(turn, 2) for turn in turns]

    assert 0.2 < sum(chosen(1)) / len(turns) < 0.4
    assert chosen(1) == chosen(1) != chosen(2)


def test_copies_are_turned_away_where_replies_are_committed() -> None:
    text = CORPUS[1].text.rstrip(".") + "?"
    made = rewritten(lambda note, prompt: text, copies=CopyCheck(CORPUS))
    assert {r.reason for r in made.rejects} == {"copies_passage"}


def test_unknown_styles_and_foreign_gold_are_refused() -> None:
    with pytest.raises(InputError, match="context_dependent, verbose"):
        Rewriter(Writer(short), "slang")
    lost = DraftConversation("c", ("c",), (DraftTurn("c_1", "Why?", ("gone",), "So."),))
    with pytest.raises(InputError, match="turn c_1: gold gone"):
        humanise([lost], Rewriter(Writer(short), VERBOSE), verifiers())
    assert humanise([], Rewriter(Writer(short)), verifiers()).conversations == []
