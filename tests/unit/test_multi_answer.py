"""Recall@K and MRecall@K of list questions: worked examples under each public rule."""

from __future__ import annotations

import pytest

from mtrlib.data.schema import Passage, Run
from mtrlib.data.strings import contains_answer
from mtrlib.data.tasks import Answer, ListQuestion
from mtrlib.errors import InputError
from mtrlib.evaluation.list_answers import answers_in, merge_answers
from mtrlib.evaluation.multi_answer import RULES, multi_answer

CORPUS = {
    p.passage_id: p
    for p in (
        Passage("p1", "The ferry calls at Crete and at Cyprus.", "Ferries"),
        Passage("p2", "Malta lies south of it.", "Sicily"),
        Passage("p3", "Nothing to be found.", "Gozo"),
        Passage("p4", "The Greatest Gift of 2006."),
    )
}
ISLANDS = ListQuestion(
    "q1",
    "Which islands?",
    (
        Answer("Crete", passages=("p1",)),
        Answer("Cyprus", passages=("p1",)),
        Answer("Republic of Malta", ("Malta",), ("p2", "p9")),
    ),
    gold=("p1", "p2", "p9"),
)


def run_of(**rankings: str) -> Run:
    return Run("toy", {q: tuple((p, 1.0) for p in ids.split()) for q, ids in rankings.items()})


def scores(run: Run, k: int, rule: str, *questions: ListQuestion) -> tuple[float, float]:
    found = multi_answer(questions or [ISLANDS], run, CORPUS, k=k, rule=rule)
    return round(float(found.recall.iloc[0]), 3), float(found.mrecall.iloc[0])


@pytest.mark.parametrize(
    ("ranking", "k", "expected"),
    [
        # answers and clusters: p1 holds two of three; gold: one of three passages
        ("p1 p3", 2, {"answers": (0.667, 1), "clusters": (0.667, 1), "passages": (0.333, 0)}),
        # n = 3 > K = 1: one passage with two answers satisfies min(3, 1)
        ("p1 p2", 1, {"answers": (0.667, 1), "clusters": (0.667, 1), "passages": (0.333, 1)}),
        ("p3 p1", 1, {"answers": (0.0, 0), "clusters": (0.0, 0), "passages": (0.0, 0)}),
        # all answers with two of three gold passages: complete for all but QUEST
        ("p1 p2", 2, {"answers": (1.0, 1), "passages": (0.667, 1), "all_gold": (0.667, 0)}),
        ("p1 p2 p3", 3, {"answers": (1.0, 1), "clusters": (1.0, 1), "passages": (0.667, 0)}),
    ],
)
def test_worked_examples_of_the_public_rules(ranking, k, expected):
    """Trap 15: n > K counts answers, and one passage may cover several."""
    for rule, (recall, mrecall) in expected.items():
        assert scores(run_of(q1=ranking), k, rule) == (recall, mrecall), rule


def test_all_gold_has_no_cap():
    q = ListQuestion("q1", "?", gold=("p1", "p2"))
    assert scores(run_of(q1="p1"), 1, "passages", q) == (0.5, 1.0)
    assert scores(run_of(q1="p1"), 1, "all_gold", q) == (0.5, 0.0)
    assert scores(run_of(q1="p1 p2"), 2, "all_gold", q) == (1.0, 1.0)


def test_no_cap_of_five_answers():
    answers = tuple(Answer(word) for word in "Crete Cyprus Malta ferry calls lies south".split())
    q = ListQuestion("q1", "?", answers)
    assert scores(run_of(q1="p1"), 20, "answers", q) == (0.571, 0.0)


def test_rule_and_nominal_k_stand_in_the_output():
    """Trap 13: K is what was asked for, though the list has one passage."""
    found = multi_answer([ISLANDS], run_of(q1="p1"), CORPUS, k=20, rule="clusters")
    assert list(found.per_question) == ["Recall@20 (clusters)", "MRecall@20 (clusters)"]
    assert found.mrecall["q1"] == 0
    assert (found.rule, found.k, found.n_above_k) == ("clusters", 20, 0)


def test_repeats_are_removed_before_the_cut():
    run = Run.from_rankings("toy", {"q1": [("p1", 3.0), ("p1", 2.0), ("p2", 1.0)]})
    raw = run_of(q1="p1 p1 p2")
    for found in (run, raw):
        assert scores(found, 2, "answers") == (1.0, 1.0)
        assert multi_answer([ISLANDS], found, CORPUS, k=2).n_duplicate_rows == 1


def test_questions_without_answers_are_left_out_and_missing_ones_are_zeros():
    """Traps 14 and 17: no ``all([])``, and the mean is over all questions with answers."""
    questions = [ISLANDS, ListQuestion("q2", "?"), ListQuestion("q3", "?", (Answer("Gozo"),))]
    found = multi_answer(questions, run_of(q1="p1 p2", q2="p1"), CORPUS, k=2)
    assert found.recall.to_dict() == {"q1": 1.0, "q3": 0.0}
    assert found.means["MRecall@2 (answers)"] == 0.5
    assert found.counts == {
        "k": 2,
        "n_questions": 2,
        "n_without_answers": 1,
        "n_missing_from_run": 1,
        "n_above_k": 1,
        "n_unfindable": 0,
        "n_duplicate_rows": 0,
    }


def test_aliases_that_are_no_words_never_match_but_stay_in_the_denominator():
    """Trap 16."""
    q = ListQuestion("q1", "?", (Answer("", ("   ", "\u0301")), Answer("Crete")))
    found = multi_answer([q], run_of(q1="p1 p2 p3"), CORPUS, k=3)
    assert (found.recall["q1"], found.n_unfindable) == (0.5, 1)


def test_the_string_rule_wants_whole_tokens_and_reads_the_title():
    """Trap 16: "The Gift" is not in "The Greatest Gift"."""
    q = ListQuestion("q1", "?", tuple(map(Answer, ("The Gift", "200", "Gozo", "greatest gift"))))
    assert [answers_in(q, CORPUS[p]) for p in ("p3", "p4")] == [{2}, {3}]
    for passage in CORPUS.values():
        expected = {
            i
            for i, a in enumerate(q.answers)
            if contains_answer(f"{passage.title} {passage.text}", [a.text, *a.aliases])
        }
        assert answers_in(q, passage) == expected


def test_answers_that_share_a_form_are_merged_on_purpose_only():
    """Trap 16: repeated answers inflate n, so both ways are there."""
    a, b = Answer("Malta", ("Republic of Malta",), ("p2",)), Answer("malta", (), ("p9",))
    q = ListQuestion("q1", "?", (a, Answer("Crete"), b))
    assert scores(run_of(q1="p1"), 1, "answers", q)[0] == 0.333
    merged = merge_answers(q)
    assert [x.text for x in merged] == ["Malta", "Crete"]
    assert merged[0].passages == ("p2", "p9")
    link = ListQuestion("q", "?", (Answer("A"), Answer("B"), Answer("C", ("a", "b"))))
    assert len(merge_answers(link)) == 1


def test_an_answer_without_passages_counts_as_missed_in_clusters():
    q = ListQuestion("q1", "?", (Answer("Crete", passages=("p1",)), Answer("Malta")))
    found = multi_answer([q], run_of(q1="p1 p2"), CORPUS, k=2, rule="clusters")
    assert (found.recall["q1"], found.n_unfindable) == (0.5, 1)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"rule": "alce"}, ", ".join(RULES)),
        ({"k": 0}, "k=0"),
        ({"k": True}, "k=True"),
        ({"questions": [ISLANDS, ISLANDS]}, "twice"),
        ({"questions": [ListQuestion("q", "?")]}, "none of 1"),
        ({"passages": {}}, "'p1'.*not in the corpus"),
    ],
)
def test_what_cannot_be_scored_is_refused(change, named):
    given = {"questions": [ISLANDS], "passages": CORPUS, "k": 2, **change}
    with pytest.raises(InputError, match=named):
        multi_answer(given.pop("questions"), run_of(q1="p1"), given.pop("passages"), **given)
