"""The verifiers: what passes, what becomes gold, and that an unread verdict never accepts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pytest

from mtrlib.data.schema import Passage, Run, Utterance
from mtrlib.errors import InputError
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.requests import Reply, Request
from mtrlib.synthesis.candidates import Candidate, Problem
from mtrlib.synthesis.support import LlmSupport, LocalSupport
from mtrlib.synthesis.verifiers import Verifiers

# each names the years for which it answers; all are found by the word they share
CORPUS = tuple(
    Passage(f"p{n}", f"The lantern festival {years} was held in hall {n}.", f"Hall {n}")
    for n, years in enumerate(["of 1931", "of 1931 and 1932", "of 1931", "of 1933", "of 1934"])
)
QUESTION = "Where was the lantern festival of {} held?"
HISTORY = (Utterance("user", "Which festivals are there?"), Utterance("agent", "Two."))


def candidate(year: int, claimed: int, **fields) -> Candidate:
    gold = (CORPUS[claimed],)
    return Candidate("synth-c", 2, QUESTION.format(year), **{"gold": gold, **fields})


def names_year(text: str, passages: Sequence[Passage]) -> list[float]:
    years = {word.strip("?.") for word in text.split() if word.strip("?.").isdigit()}
    return [float(any(year in p.text for year in years)) for p in passages]


def verifiers(score=names_year, **settings) -> Verifiers:
    support = settings.pop("support", None) or LocalSupport(score)
    at = {"answerable_at": 0.5, "faithful_at": 0.5, **settings}
    return Verifiers(CORPUS, support, **at)


class Judge:
    """An endpoint whose reply is chosen by the note and the prompt of the request."""

    endpoint = Endpoint("judge", model="j-1", model_alias="j", dialect="chat")

    def __init__(self, says: Callable[[str, str], str | dict]) -> None:
        self.says = says
        self.asked: list[tuple[Request, str]] = []

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        found = []
        for request in requests:
            prompt = request.body["messages"][0]["content"]
            self.asked.append((request, prompt))
            said = self.says(request.note, prompt)
            fields = said if isinstance(said, dict) else {"text": said, "finish_reason": "stop"}
            found.append(Reply(request.key, **fields))
        return found


def test_the_claimed_passage_must_answer() -> None:
    right, wrong = candidate(1933, 3), candidate(1933, 4)
    found = verifiers().answerable([right, wrong])
    assert found[0] == right
    assert found[1] == Problem("not_answerable", f"0.00: {wrong.question}")


def test_a_rival_that_answers_becomes_gold_after_the_claimed_passage() -> None:
    (found,) = verifiers().unique([candidate(1932, 1)])
    assert [p.passage_id for p in found.gold] == ["p1"]
    (found,) = verifiers(most_rivals=2).unique([candidate(1931, 2)])
    assert found.gold[0].passage_id == "p2"
    assert {p.passage_id for p in found.gold[1:]} == {"p0", "p1"}


def test_more_rivals_than_allowed_turn_the_question_away() -> None:
    (found,) = verifiers(most_rivals=1).unique([candidate(1931, 2)])
    assert found.reason == "too_many_rivals"
    assert "p0" in found.detail and "p1" in found.detail
    assert not any(p.text in found.detail for p in CORPUS)


def test_only_the_best_hits_are_judged_and_the_claimed_passage_is_none() -> None:
    judged: list[str] = []

    def score(text: str, passages: Sequence[Passage]) -> list[float]:
        judged.extend(p.passage_id for p in passages)
        return [0.0] * len(passages)

    class Fixed:
        def search(self, queries, depth):
            assert depth == 2
            return Run("fixed", {q: (("p3", 2.0), ("p4", 1.0)) for q in queries})

    (found,) = verifiers(score, hits=2, retriever=Fixed()).unique([candidate(1933, 3)])
    assert judged == ["p4"]
    assert [p.passage_id for p in found.gold] == ["p3"]


def test_further_gold_is_judged_anew() -> None:
    two = (CORPUS[0], CORPUS[2])
    (kept,) = verifiers(hits=1).unique([candidate(1931, 0, gold=two)])
    assert kept.gold == two
    (lost,) = verifiers(hits=1).unique([candidate(1933, 3, gold=(CORPUS[3], CORPUS[2]))])
    assert lost.gold == (CORPUS[3],)


def test_both_wordings_are_searched() -> None:
    seen = {}

    class Keeps:
        def search(self, queries, depth):
            seen.update(queries)
            return Run("keeps", {q: () for q in queries})

    short = candidate(1933, 3, standalone=QUESTION.format(1933))
    verifiers(retriever=Keeps()).unique([Candidate(**{**vars(short), "question": "And in 1933?"})])
    assert seen == {"0": f"{QUESTION.format(1933)}\nAnd in 1933?"}
    assert short.search_text == short.question


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_score_that_is_no_number_is_unread(value) -> None:
    checks = verifiers(lambda text, passages: [value] * len(passages))
    one = candidate(1933, 3, answer="In hall 3, in 1933.")
    for check in (checks.answerable, checks.unique, checks.faithful):
        (found,) = check([one])
        assert found.reason == "unread"


def test_one_unread_rival_is_enough() -> None:
    checks = verifiers(lambda text, ps: [math.nan if p.passage_id == "p4" else 0 for p in ps])
    assert checks.unique([candidate(1933, 3)])[0].reason == "unread"


def test_scores_must_fit_the_passages() -> None:
    with pytest.raises(InputError, match="3 scores for 1 passages"):
        verifiers(lambda text, passages: [1.0, 1.0, 1.0]).answerable([candidate(1933, 3)])


def test_an_answer_needs_one_gold_passage_behind_it() -> None:
    good = candidate(1931, 0, gold=(CORPUS[3], CORPUS[0]), answer="In 1931 it was hall 0.")
    bad = candidate(1933, 3, answer="In 1950.")
    found = verifiers().faithful([good, bad])
    assert found == [good, Problem("not_faithful", f"0.00: {bad.question}")]


def test_answers_may_have_a_score_of_their_own() -> None:
    support = LocalSupport(names_year, lambda text, passages: [0.9] * len(passages))
    bad = candidate(1933, 3, answer="In 1950.")
    assert verifiers(support=support).faithful([bad]) == [bad]


@pytest.mark.parametrize(
    ("question", "passes"),
    [
        ("Where was the lantern festival held?", True),
        ("According to the passage, where was it held?", False),
        ("Which hall does the author name?", False),
        ("Which hall do these facts name?", False),
        ("灯会是在哪里举办的？", True),
        ("根据文中内容，灯会在哪里举办？", False),
        ("作者提到的灯会在哪里？", False),
    ],
)
def test_questions_must_not_point_at_a_text(question, passes) -> None:
    one = Candidate("synth-c", 1, question, (CORPUS[0],))
    (found,) = verifiers().source_wording([one])
    assert found == (one if passes else Problem("source_wording", question))


def test_a_passage_serves_one_turn_of_a_conversation() -> None:
    fresh = candidate(1933, 3, used=frozenset({"p0"}))
    again = candidate(1931, 1, gold=(CORPUS[1], CORPUS[0]), used=frozenset({"p0"}))
    assert verifiers().used_before([fresh, again]) == [fresh, Problem("passage", again.question)]


def test_no_candidates_ask_nothing() -> None:
    checks = verifiers(lambda text, passages: pytest.fail("asked"))
    assert checks.answerable([]) == checks.unique([]) == checks.faithful([]) == []


def test_an_llm_judges_on_its_scale_and_sees_what_it_needs() -> None:
    judge = Judge(lambda note, prompt: '{"score": 4}' if "hall 3" in prompt else '{"score": 2}')
    checks = Verifiers(CORPUS, LlmSupport(judge))
    right, wrong = candidate(1933, 3, history=HISTORY), candidate(1933, 4, history=HISTORY)
    found = checks.answerable([right, wrong])
    assert found == [right, Problem("not_answerable", f"2.00: {wrong.question}")]
    (request, prompt), _ = judge.asked
    assert request.note == "synth-c turn 2 answerable"
    assert request.prompt_version.startswith("synth_answerable.en.txt@")
    assert request.body["temperature"] == 0.0
    for part in (HISTORY[0].text, HISTORY[1].text, right.question, CORPUS[3].text):
        assert part in prompt
    assert prompt.index(HISTORY[1].text) < prompt.index(right.question)


def test_all_gold_stands_behind_an_answer_in_one_prompt() -> None:
    judge = Judge(lambda note, prompt: '{"score": 5}')
    one = candidate(1931, 0, gold=(CORPUS[0], CORPUS[2]), answer="In two halls.")
    assert Verifiers(CORPUS, LlmSupport(judge)).faithful([one]) == [one]
    ((request, prompt),) = judge.asked
    assert request.note == "synth-c turn 2 faithful"
    assert all(text in prompt for text in (CORPUS[0].text, CORPUS[2].text, "In two halls."))


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("It does, I think.", "no_score"),
        ("8/10", "off_scale"),
        ('{"score": 9}', "out_of_range"),
        ("<think>5", "no_score"),
        ("", "empty"),
        ({"text": "5", "finish_reason": "length"}, "truncated"),
        ({"failed": "status 500"}, "failed"),
        ({"failed": "not recorded"}, "not_recorded"),
    ],
)
def test_a_verdict_that_cannot_be_read_turns_away(said, why) -> None:
    checks = Verifiers(CORPUS, LlmSupport(Judge(lambda note, prompt: said)))
    one = candidate(1933, 3, answer="In hall 3.")
    for check in (checks.answerable, checks.unique, checks.faithful):
        assert check([one]) == [Problem("unread", f"{why}: {one.question}")]


def test_languages_are_judged_in_their_own_prompt_and_come_back_in_order() -> None:
    judge = Judge(lambda note, prompt: '{"score": 5}' if "文段" in prompt else '{"score": 1}')
    chinese = Candidate("synth-z", 1, "灯会是在哪里举办的？", (CORPUS[0],))
    english = candidate(1933, 3)
    found = Verifiers(CORPUS, LlmSupport(judge)).answerable([english, chinese, english])
    assert [isinstance(f, Candidate) for f in found] == [False, True, False]


def test_an_endpoint_without_a_known_dialect_is_named(fresh_cache) -> None:
    judge = Judge(lambda note, prompt: "")
    judge.endpoint = Endpoint("judge", model="j-1", model_alias="j")
    with pytest.raises(InputError, match="judge: the dialect is not known"):
        Verifiers(CORPUS, LlmSupport(judge)).answerable([candidate(1933, 3)])
