"""Wire formats: what is sent, and how each kind of answer is read or refused."""

from __future__ import annotations

import json
import math

import pytest

from mtrlib.errors import InputError
from mtrlib.llm.dialects import build, read
from mtrlib.llm.distributions import MIN_MASS, verdict_of
from mtrlib.llm.questions import Choice, Predicate, Score, Verdict
from mtrlib.llm.requests import DIALECTS, Reply

LEVELS = ("not at all", "hardly", "partly", "nearly", "fully")
SCORE = Score("How fully does the passage answer?", LEVELS)
YES_NO = Predicate("Does the passage answer the question?")
PICK = Choice("Which passage answers best?", {"1": "", "2": "", "none": ""})
STATE = "User: How deep is the lake?\n\nPassage: It is 40 m deep [3]."
TYPED = ("decisions", "system_one")
CHAT = ("chat_schema", "chat_logprobs", "chat")


def decided(*answers: dict) -> Reply:
    return Reply("k", data={"answers": list(answers)})


def named(answer: dict) -> Reply:
    return Reply("k", data={"answers": {"answer": answer}})


def alternatives(token: str, **masses: float) -> dict:
    """One token drawn, with the probabilities of its alternatives (itself only if named)."""
    rows = [{"token": t.replace("_", " "), "logprob": math.log(p)} for t, p in masses.items()]
    return {"token": token, "logprob": -0.1, "top_logprobs": rows}


def drawn(*tokens: dict, finish_reason: str = "stop") -> Reply:
    text = "".join(t["token"] for t in tokens)
    return Reply("k", text=text, data={"content": list(tokens)}, finish_reason=finish_reason)


def said(text: str, finish_reason: str = "stop") -> Reply:
    return Reply("k", text=text, finish_reason=finish_reason)


# what is sent


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("question", [SCORE, YES_NO, PICK])
def test_bodies_are_json_without_a_model_and_show_state_and_instructions(dialect, question):
    body = build(dialect, question, STATE, sampling={"temperature": 0.5, "seed": None})
    assert "model" not in body and "seed" not in body
    text = json.dumps(body, ensure_ascii=False)
    assert json.dumps(STATE, ensure_ascii=False)[1:-1] in text
    assert question.instructions in text
    assert ("temperature" in body) == (dialect in CHAT)


def test_decisions_body():
    assert build("decisions", SCORE, STATE, sampling={"max_tokens": 9}) == {
        "input": STATE,
        "questions": [
            {
                "name": "answer",
                "type": "score",
                "instructions": SCORE.instructions,
                "levels": [{"label": level} for level in LEVELS],
            }
        ],
    }
    choices = build("decisions", Choice("Which?", {"a": "Alpha", "b": ""}), STATE)["questions"][0]
    assert choices["choices"] == [{"value": "a", "description": "Alpha"}, {"value": "b"}]
    assert build("decisions", YES_NO, STATE, system="Be strict.")["input"] == [
        {"role": "system", "content": "Be strict."},
        {"role": "user", "content": STATE},
    ]


def test_system_one_body():
    body = build("system_one", Choice("Which?", {"a": "Alpha", "b": ""}), STATE, system="Strict.")
    assert body == {
        "state": f"Strict.\n\n{STATE}",
        "questions": {
            "answer": {
                "type": "choice",
                "instructions": "Which?",
                "criteria": {"a": "Alpha", "b": None},
            }
        },
    }
    asked = build("system_one", SCORE, STATE)["questions"]["answer"]
    assert asked["criteria"] == list(LEVELS)
    assert build("system_one", YES_NO, STATE)["questions"]["answer"]["type"] == "noul"


@pytest.mark.slow
def test_system_one_bodies_pass_the_checks_of_the_real_server():
    decision = pytest.importorskip("transformers.decision")
    for question in (SCORE, YES_NO, PICK):
        asked = build("system_one", question, STATE)["questions"]
        [parsed] = decision.parse_questions(asked, decision.DecisionConfig())
        assert parsed.name == "answer"


def test_chat_prompt_is_one_message_that_ends_in_the_answer_form():
    body = build("chat", SCORE, STATE, system="Be strict.", sampling={"max_tokens": 50})
    system, user = body["messages"]
    assert system == {"role": "system", "content": "Be strict."}
    assert user["content"].startswith(f"{STATE}\n\n{SCORE.instructions}\n\n1: not at all\n")
    assert user["content"].splitlines()[-1] == (
        'Answer with the JSON object {"score": n} and nothing else. '
        "In place of n write one of these numbers: 1, 2, 3, 4, 5."
    )
    assert body["max_tokens"] == 50 and set(body) == {"messages", "max_tokens"}


@pytest.mark.parametrize("dialect", CHAT)
@pytest.mark.parametrize(
    ("question", "shown"), [(SCORE, "5"), (YES_NO, "否"), (PICK, "1、2、none")]
)
def test_chinese_answer_forms(dialect, question, shown):
    last = build(dialect, question, STATE, language="zh")["messages"][-1]["content"]
    assert "只回答" in last and shown in last
    assert "nothing else" not in last


@pytest.mark.parametrize(
    ("question", "key", "value"),
    [
        (SCORE, "score", {"type": "integer", "enum": [1, 2, 3, 4, 5]}),
        (YES_NO, "answer", {"type": "string", "enum": ["yes", "no"]}),
        (PICK, "choice", {"type": "string", "enum": ["1", "2", "none"]}),
    ],
)
def test_schema_is_strict_and_closed(question, key, value):
    sent = build("chat_schema", question, STATE)["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["strict"] is True
    assert sent["json_schema"]["schema"] == {
        "type": "object",
        "properties": {key: value},
        "required": [key],
        "additionalProperties": False,
    }


def test_logprobs_are_asked_for_a_few_tokens_whatever_the_limit_is():
    body = build("chat_logprobs", SCORE, STATE, sampling={"max_tokens": 500, "temperature": 0})
    assert (body["max_tokens"], body["logprobs"], body["top_logprobs"]) == (3, True, 20)
    assert body["temperature"] == 0


def many(n: int) -> Choice:
    return Choice("Which?", {f"c{i:03}": "" for i in range(n)})


@pytest.mark.parametrize(
    ("dialect", "question", "named"),
    [
        ("decisions", many(256), "256 options.*2 to 255"),
        ("decisions", many(1), "1 options"),
        ("decisions", Score("?", tuple("abcdefghijk")), "11 levels.*2 to 10"),
        ("decisions", Score("?", ("low", "low")), "repeat a name"),
        ("system_one", many(27), "27 options.*2 to 26"),
        ("system_one", Score("?", tuple(map(str, range(27)))), "27 levels"),
        ("chat_logprobs", Score("?", LEVELS * 2), "'1' begins label '10'"),
        ("chat_logprobs", Choice("?", {"no": "", "None": ""}), "'no' begins label 'none'"),
        ("telepathy", YES_NO, "'telepathy' is unknown"),
    ],
)
def test_what_a_dialect_cannot_carry_is_refused_by_name(dialect, question, named):
    with pytest.raises(InputError, match=named):
        build(dialect, question, STATE)


def test_limits_themselves_are_allowed():
    build("decisions", many(255), STATE)
    build("system_one", many(26), STATE)
    build("decisions", Score("?", tuple("abcdefghij")), STATE)


def test_unknown_language_is_refused():
    with pytest.raises(InputError, match="'fr'"):
        build("chat", YES_NO, STATE, language="fr")


# typed answers


def test_predicates_are_read_as_probabilities():
    expected = {"yes": 0.088, "no": pytest.approx(0.912)}
    for reply, dialect in (
        (decided({"type": "predicate", "name": "answer", "probability": 0.088}), "decisions"),
        (named({"type": "noul", "noul": 0.088}), "system_one"),
    ):
        verdict = read(dialect, YES_NO, reply)
        assert verdict.value == 0.088
        assert verdict.probabilities == expected


def test_system_one_levels_count_from_zero():
    answer = {
        "type": "score",
        "score": 1.357,
        "legend": {str(i): level for i, level in enumerate(LEVELS)},
        "confidence": 0.0,
        "probabilities": {"0": 0.404, "1": 0.221, "2": 0.099, "3": 0.168, "4": 0.109},
    }
    verdict = read("system_one", SCORE, named(answer))
    assert verdict.value == pytest.approx(2.357, abs=2e-3)  # sums to 1.001, renormalised
    assert list(verdict.probabilities) == ["1", "2", "3", "4", "5"]
    assert math.fsum(verdict.probabilities.values()) == pytest.approx(1)
    from_zero = Score("?", LEVELS, low=0)
    assert read("system_one", from_zero, named(answer)).value == pytest.approx(1.357, abs=2e-3)
    bare = {"type": "score", "score": 1.357}
    assert read("system_one", SCORE, named(bare)).value == pytest.approx(2.357)
    off = {"type": "score", "score": 4.5}
    assert read("system_one", SCORE, named(off)).reason == "out_of_range"


@pytest.mark.parametrize("first", [0, 1])
def test_decisions_score_does_not_depend_on_where_the_server_starts_to_count(first):
    rows = [
        {"label": level, "probability": p, "value": first + i}
        for i, (level, p) in enumerate(zip(LEVELS, (0.1, 0.1, 0.2, 0.2, 0.4), strict=True))
    ]
    answer = {
        "type": "score",
        "name": "answer",
        "score": 2.7 + first,
        "confidence": 0.3,
        "probabilities": rows[::-1],
    }
    verdict = read("decisions", SCORE, decided(answer))
    assert verdict.value == pytest.approx(3.7)
    assert verdict.probabilities["5"] == pytest.approx(0.4)


def test_choices_keep_the_chosen_label():
    masses = {"1": 0.426, "2": 0.342, "none": 0.233}
    rows = [{"value": label, "probability": p} for label, p in masses.items()]
    one = read(
        "system_one", PICK, named({"type": "choice", "choice": "1", "probabilities": masses})
    )
    two = read("decisions", PICK, decided({"type": "choice", "choice": "1", "probabilities": rows}))
    assert one == two
    assert one.value == "1"
    assert one.probabilities["none"] == pytest.approx(0.233, abs=1e-3)


def test_refusals_are_missing_with_that_reason():
    for question in (SCORE, YES_NO, PICK):
        refused = {"type": "refusal", "name": "answer"}
        assert read("decisions", question, decided(refused)) == Verdict.missing("refusal")
        assert read("system_one", question, named(refused)) == Verdict.missing("refusal")


NONSENSE = [
    {},
    {"answers": None},
    {"answers": []},
    {"answers": {}},
    {"answers": [None]},
    {"answers": "yes"},
    {"answers": {"answer": None}},
    {"answers": {"other": {"type": "noul", "noul": 0.9}}},
    {"answers": [{"name": "other", "type": "predicate", "probability": 0.9}]},
    {"answers": [{"type": "predicate"}]},
    {"answers": [{"type": "predicate", "probability": True}]},
    {"answers": [{"type": "predicate", "probability": "0.9"}]},
    {"answers": [{"type": "predicate", "probability": math.nan}]},
    {"answers": {"answer": {"type": "noul", "noul": None}}},
    {"answers": [{"type": "choice", "choice": "3", "probabilities": []}]},
    {"answers": [{"type": "choice", "choice": True, "probabilities": []}]},
    {"answers": {"answer": {"type": "choice", "choice": "passage 1", "probabilities": None}}},
    {"answers": {"answer": {"type": "score", "score": None, "probabilities": {"0": 0.2}}}},
    {"answers": {"answer": {"type": "score", "probabilities": {"0": -0.5, "1": 1.5}}}},
    {"answers": {"answer": {"type": "score", "probabilities": {"0": 40, "1": 60}}}},
    {"answers": [{"type": "score", "score": 3, "probabilities": [{"label": "3"}]}]},
    {"answers": [{"type": "score", "probabilities": [{"label": "3", "probability": 1.0}]}]},
]


@pytest.mark.parametrize("data", NONSENSE, ids=json.dumps)
@pytest.mark.parametrize("dialect", TYPED)
@pytest.mark.parametrize("question", [SCORE, YES_NO, PICK])
def test_answers_of_another_shape_are_missing_and_never_raise(data, dialect, question):
    assert read(dialect, question, Reply("k", data=data)) == Verdict.missing("no_score")


def test_an_answer_of_another_type_is_not_read():
    assert read("system_one", SCORE, named({"type": "noul", "noul": 0.9})).value is None
    rows = [{"label": LEVELS[0], "probability": 1.0}]
    for answer, question in (
        ({"type": "score", "probability": 0.9}, YES_NO),
        ({"type": "choice", "probabilities": rows}, SCORE),
        ({"type": "predicate", "choice": "1", "probabilities": []}, PICK),
    ):
        assert read("decisions", question, decided(answer)) == Verdict.missing("no_score")


@pytest.mark.parametrize("p", [-0.01, 1.01, 88])
def test_probabilities_outside_their_range_are_not_clamped(p):
    assert read("system_one", YES_NO, named({"type": "noul", "noul": p})).reason == "out_of_range"


# label tokens


def test_score_is_the_expectation_over_the_level_tokens():
    token = alternatives("4", **{"4": 0.5, "5": 0.25, "3": 0.15, "The": 0.1})
    verdict = read("chat_logprobs", SCORE, drawn(token))
    assert verdict.value == pytest.approx((4 * 0.5 + 5 * 0.25 + 3 * 0.15) / 0.9)
    assert verdict.probabilities == pytest.approx(
        {"1": 0, "2": 0, "3": 0.15 / 0.9, "4": 0.5 / 0.9, "5": 0.25 / 0.9}
    )


def test_spellings_of_a_label_add_up():
    token = alternatives("Yes", Yes=0.3, _yes=0.2, YES=0.1, No=0.2, ĠNO=0.1, Maybe=0.1)
    assert read("chat_logprobs", YES_NO, drawn(token)).value == pytest.approx(0.6 / 0.9)
    token = alternatives("是", 是=0.6, 否=0.3)
    assert read("chat_logprobs", YES_NO, drawn(token)).value == pytest.approx(0.6 / 0.9)
    token = alternatives("none", NONE=0.3, none=0.3, **{"1": 0.35})
    assert read("chat_logprobs", PICK, drawn(token)).value == "none"


@pytest.mark.parametrize("mark", ["\n", "▁", "**", " (", '"'])
def test_marks_in_front_are_passed_over(mark):
    first = alternatives(mark, **{mark: 0.9, "1": 0.1})
    second = alternatives("2", **{"2": 0.8, "1": 0.2})
    verdict = read("chat_logprobs", PICK, drawn(first, second))
    assert (verdict.value, verdict.probabilities["2"]) == ("2", pytest.approx(0.8))


def test_the_token_drawn_counts_even_if_its_alternatives_leave_it_out():
    token = {
        "token": "5",
        "logprob": math.log(0.6),
        "top_logprobs": [{"token": "1", "logprob": math.log(0.2)}],
    }
    assert read("chat_logprobs", SCORE, drawn(token)).value == pytest.approx(4.0)


def test_too_little_mass_on_the_labels_is_no_score():
    token = alternatives("4", **{"4": MIN_MASS - 0.05, "Well": 0.5})
    assert read("chat_logprobs", SCORE, drawn(token)) == Verdict.missing("no_score")
    # a number later in a sentence is no label
    words = [alternatives(w, **{w: 0.99}) for w in ("There", " are", " 3")]
    assert read("chat_logprobs", SCORE, drawn(*words, finish_reason="length")).value is None


@pytest.mark.parametrize(
    ("question", "tokens"),
    [
        (SCORE, ("4", "/", "10")),
        (SCORE, ("4", ".", "5")),
        (SCORE, ("1", "0")),
        (SCORE, ("8", " out", " of")),
        (SCORE, ("4", " out", " of", " 10")),
        (YES_NO, ("yes", "terday")),
        (YES_NO, ("No", "t", " sure")),
        (PICK, ("1", ",", " 2")),
        (SCORE, ("-", "1")),
    ],
)
def test_a_label_that_only_begins_something_else_is_not_read_as_one(question, tokens):
    rows = [alternatives(t, **{t: 0.99}) for t in tokens]
    verdict = read("chat_logprobs", question, drawn(*rows))
    assert verdict.value is None


def test_a_label_of_several_tokens_is_read_from_the_text():
    rows = [alternatives(t, **{t: 0.9}) for t in ("n", "one")]
    assert read("chat_logprobs", PICK, drawn(*rows)) == Verdict("none")


@pytest.mark.parametrize("data", [{}, {"content": None}, {"content": [{"token": "4"}]}])
def test_without_logprobs_the_text_is_read(data):
    reply = Reply("k", text="4", data=data, finish_reason="stop")
    assert read("chat_logprobs", SCORE, reply) == Verdict(4.0)
    refusal = Reply("k", text="I'm sorry, I can't help with that.", data=data)
    assert read("chat_logprobs", SCORE, refusal).reason == "refusal"


@pytest.mark.parametrize(
    "rows",
    [
        [{"token": "4", "logprob": None}],
        [{"token": "4", "logprob": math.nan}],
        [{"token": "4", "logprob": 0.7}],
        [{"token": "4", "logprob": 1e6}],
        [{"token": None, "logprob": 0.0}],
        ["4"],
    ],
)
def test_broken_alternatives_give_no_score(rows):
    token = {"token": "4", "logprob": None, "top_logprobs": rows}
    assert read("chat_logprobs", SCORE, drawn(token)).value is None


def test_refusal_in_tokens_keeps_its_reason():
    words = [alternatives(w, **{w: 0.99}) for w in ("I'm", " sorry", ", I can't help with that.")]
    assert read("chat_logprobs", SCORE, drawn(*words)).reason == "refusal"


# schema and plain text


@pytest.mark.parametrize(
    ("question", "text", "value"),
    [
        (SCORE, '{"score": 4}', 4.0),
        (SCORE, ' {"score":\n1} ', 1.0),
        (YES_NO, '{"answer": "yes"}', 1.0),
        (YES_NO, '{"answer": "no"}', 0.0),
        (PICK, '{"choice": "none"}', "none"),
        # servers that drop the schema: the text is read
        (SCORE, "Score: 4", 4.0),
        (SCORE, '<think>{"score": 2}?</think>{"score": 5}', 5.0),
    ],
)
def test_objects_that_fit_the_schema_and_text_that_does_not(question, text, value):
    verdict = read("chat_schema", question, said(text))
    assert verdict == Verdict(value)
    assert type(verdict.value) is type(value)


@pytest.mark.parametrize("dialect", ["chat_schema", "chat"])
@pytest.mark.parametrize(
    ("question", "text", "finish_reason", "reason"),
    [
        (SCORE, '{"score": 9}', "stop", "out_of_range"),
        (SCORE, '{"score": 3.5}', "stop", "not_whole"),
        (SCORE, "8/10", "stop", "off_scale"),
        (SCORE, "", "stop", "empty"),
        (SCORE, '{"sco', "length", "truncated"),
        (SCORE, "Roses are red, violets are blue.", "stop", "no_score"),
    ],
)
def test_text_without_a_verdict_is_missing(dialect, question, text, finish_reason, reason):
    assert read(dialect, question, said(text, finish_reason)) == Verdict.missing(reason)


@pytest.mark.parametrize(
    "text",
    [
        '{"choice": "3"}',
        '{"choice": null}',
        '{"choice": ["1", "2"]}',
        '{"choice": 1.5}',
        "[" * 100_000,
    ],
)
def test_labels_are_never_made_up(text):
    assert read("chat_schema", PICK, said(text)).value is None


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_reply_is_missing_with_its_reason(dialect):
    assert read(dialect, SCORE, Reply("k", failed="not recorded")).reason == "not_recorded"
    failed = Reply("k", text='{"score": 4}', failed="HTTP 500")
    assert read(dialect, SCORE, failed) == Verdict.missing("failed")


def test_equal_labels_go_to_the_one_shown_first():
    assert verdict_of(PICK, {"none": 0.4, "2": 0.4, "1": 0.2}).value == "2"


def test_rounding_does_not_push_an_expectation_off_the_scale():
    # the plain sum is 1.9999999999999998
    masses = {"2": 0.5788116992511547, "3": 5.925839122384313e-17}
    assert verdict_of(Score("?", ("a", "b"), low=2), masses).value == 2
