"""Whatever a server writes: scores stay on the scale, labels are those shown, nothing raises."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from mtrlib.llm.dialects import read
from mtrlib.llm.distributions import allowed, verdict_of
from mtrlib.llm.questions import Choice, Predicate, Question, Score
from mtrlib.llm.requests import DIALECTS, Reply

scores = st.builds(
    lambda n, low: Score("How well?", tuple(f"level {i}" for i in range(n)), low),
    st.integers(2, 9),
    st.integers(-2, 3),
)
choices = st.builds(
    lambda labels: Choice("Which?", dict.fromkeys(labels, "")),
    st.lists(st.sampled_from("A B C 1 2 none 无".split()), min_size=2, unique=True),
)
questions = st.one_of(scores, choices, st.just(Predicate("Is it?")))

scraps = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 12),
    st.floats(),
    st.sampled_from(
        "answer choice score noul predicate refusal A B 1 2 4 10 none yes No \n ▁yes 无".split(" ")
    ),
)
keys = st.sampled_from(
    "answers answer name type choice score noul probability probabilities value label content "
    "token logprob top_logprobs 0 1 2 A none".split()
)
shapes = st.recursive(
    scraps,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=6)),
    max_leaves=20,
)
tokens = st.builds(
    lambda token, rows: {
        "token": token,
        "logprob": -0.5,
        "top_logprobs": [{"token": t, "logprob": p} for t, p in rows],
    },
    st.sampled_from("1 2 4 10 A B none no yes \n / . Not 无".split(" ")),
    st.lists(
        st.tuples(
            st.sampled_from("1 2 4 10 A B none no yes Yes Well 无 是".split()), st.floats(-9, 0.5)
        ),
        max_size=8,
    ),
)


def check(question: Question, verdict) -> None:
    if verdict.value is None:
        return
    if isinstance(question, Choice):
        assert verdict.value in question.options
    elif isinstance(question, Score):
        assert question.low <= verdict.value <= question.high
    else:
        assert 0 <= verdict.value <= 1
    if verdict.probabilities:
        assert set(verdict.probabilities) == set(allowed(question))
        assert math.isclose(math.fsum(verdict.probabilities.values()), 1, abs_tol=1e-9)


@given(questions, st.data())
def test_verdicts_from_masses_stay_in_what_is_allowed(question, data):
    labels = st.sampled_from([*allowed(question), "other"])
    masses = data.draw(st.dictionaries(labels, st.floats(0, 1)))
    verdict = verdict_of(question, masses)
    check(question, verdict)
    total = math.fsum(masses.get(a, 0) for a in allowed(question))
    assert (verdict.value is None) == (not 0.5 <= total <= 1.05)


@given(questions, st.lists(shapes, max_size=3), st.sampled_from(DIALECTS))
def test_no_shape_of_answer_raises_or_invents(question, rows, dialect):
    for data in (
        {"answers": rows},
        {"answers": {"answer": rows[0]} if rows else None},
        {"content": rows},
    ):
        check(question, read(dialect, question, Reply("k", data=data)))


@given(questions, st.lists(tokens, min_size=1, max_size=3))
def test_label_tokens_stay_in_what_is_allowed(question, drawn):
    text = "".join(t["token"] for t in drawn)
    reply = Reply("k", text=text, data={"content": drawn}, finish_reason="stop")
    check(question, read("chat_logprobs", question, reply))


@given(questions, st.text(max_size=40), st.sampled_from(["chat", "chat_schema"]))
def test_no_text_invents_a_label(question, text, dialect):
    check(question, read(dialect, question, Reply("k", text=text, finish_reason="stop")))
