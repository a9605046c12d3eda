"""Training examples of RVR: contexts, positives, negatives, repeats and splits."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from mtrlib.data.schema import Passage
from mtrlib.data.tasks import Answer, ListQuestion
from mtrlib.errors import InputError
from mtrlib.rvr.batches import batches, columns_of, false_negatives
from mtrlib.rvr.context import query_with_context
from mtrlib.rvr.examples import Example, context_lengths, draw_example, epoch, query_of
from mtrlib.rvr.training_questions import merge_repeats, normal_form, split_by_question, without
from mtrlib.rvr.training_set import TrainingSet, gold_columns

PASSAGES = [Passage(f"p{i}", f"text number {i}", f"Title {i}") for i in range(12)]


def question(name: str, gold: str, text: str = "") -> ListQuestion:
    return ListQuestion(name, text or f"Which ones of {name}?", gold=tuple(gold.split()))


def data(*questions: ListQuestion) -> TrainingSet:
    return TrainingSet(
        questions or [question("a", "p0 p1 p2 p3"), question("b", "p5 p4")], PASSAGES
    )


def draws(found: TrainingSet, most: int, times: int = 400) -> list[Example]:
    rng = np.random.default_rng(7)
    return [draw_example(found, 0, rng, most=most) for _ in range(times)]


def test_trap_4_the_context_never_takes_all_gold():
    assert list(context_lengths(1, 6)) == [0]
    assert list(context_lengths(3, 6)) == [0, 1, 2]
    assert list(context_lengths(9, 3)) == [0, 1, 2, 3]
    with pytest.raises(InputError):
        context_lengths(0, 3)


def test_lengths_are_uniform_and_positives_come_from_the_rest():
    seen = draws(data(), most=3, times=2000)
    lengths = Counter(len(e.context) for e in seen)
    assert sorted(lengths) == [0, 1, 2, 3]
    assert all(440 < n < 560 for n in lengths.values())  # 500 expected, sd 19
    assert all(e.positive not in e.context for e in seen)
    assert {e.positive for e in seen} == {0, 1, 2, 3}
    assert {e.context for e in seen if len(e.context) == 2} >= {(0, 1), (1, 0)}, "no fixed order"


def test_d_i_has_no_context_and_joint_has_both():
    found = data()
    arguments = {"most": 3, "negatives": 0, "seed": 1}
    assert all(not e.context for e in epoch(found, "initial", 0, **arguments))
    later = [e for n in range(20) for e in epoch(found, "later", n, **arguments)]
    assert {len(e.context) for e in later if e.question == 0} == {0, 1, 2, 3}
    joint = epoch(found, "joint", 0, **arguments)
    assert Counter(e.question for e in joint) == {0: 2, 1: 2}
    assert sum(not e.context for e in joint) >= 2


def test_trap_4_the_same_text_is_never_context_and_positive():
    copies = [*PASSAGES, Passage("copy", "Text  NUMBER 0", "title 0")]
    found = TrainingSet([question("a", "p0 copy p0 p1")], copies)
    assert found.gold == [(0, 1)]
    assert (found.repeated_gold, found.missing_gold) == (1, 0)
    for e in draws(found, most=6):
        passages = [found.passages[i].passage_id for i in (*e.context, e.positive)]
        assert len(set(passages)) == len(passages)
        assert "copy" not in passages


def test_a_question_with_one_gold_passage_still_trains_and_one_without_is_counted():
    found = data(question("a", "p1"), question("gone", "nowhere"), question("none", ""))
    assert [q.question_id for q in found.questions] == ["a"]
    assert found.describe() == {
        "questions": 1,
        "gold": 1,
        "passages": 12,
        "dropped_questions": 2,
        "missing_gold": 1,
        "repeated_gold": 0,
    }
    assert {e.context for e in draws(found, most=3, times=20)} == {()}
    with pytest.raises(InputError, match="no training question"):
        data(question("gone", "nowhere"))


def test_gold_without_text_is_refused_by_name():
    with pytest.raises(InputError, match=r"'empty'.*'a'.*no text"):
        TrainingSet([question("a", "p0 empty")], [*PASSAGES, Passage("empty", " \n", "Title")])


def test_trap_5_without_context_the_query_is_the_bare_question():
    found = data()
    text = query_of(found, Example(0, (), 0))
    assert text == "Which ones of a?" == query_with_context("Which ones of a?", []).text


def test_trap_6_and_7_training_uses_the_function_of_inference_with_its_budget():
    found = data()
    words = {
        "budget": 14,
        "count_tokens": lambda t: len(t.split()),
        "cut": lambda t, n: " ".join(t.split()[:n]),
    }
    text = query_of(found, Example(0, (2, 1), 0), **words)
    passages = [PASSAGES[2], PASSAGES[1]]
    assert text == query_with_context("Which ones of a?", passages, **words).text
    assert "Title 2" in text
    assert "Title 1" in text
    assert text != query_of(found, Example(0, (2, 1), 0)), "the budget cut something"


def test_trap_8_the_order_of_a_context_is_the_example_s():
    found = data()
    assert query_of(found, Example(0, (2, 1), 0)) != query_of(found, Example(0, (1, 2), 0))


def test_epochs_are_drawn_anew_and_the_seed_repeats_them():
    found = data()
    arguments = {"most": 3, "negatives": 1}
    first = epoch(found, "later", 0, seed=1, **arguments)
    assert first == epoch(found, "later", 0, seed=1, **arguments)
    assert first != epoch(found, "later", 1, seed=1, **arguments)
    assert first != epoch(found, "later", 0, seed=2, **arguments)
    more = data(*found.questions, question("c", "p7 p8"))
    kept = [e for e in epoch(more, "later", 0, seed=1, **arguments) if e.question < 2]
    assert sorted(kept, key=str) == sorted(first, key=str), "other questions change no draw"


def test_explicit_negatives_are_distinct_and_never_gold():
    found = data()
    rng = np.random.default_rng(1)
    for _ in range(200):
        e = draw_example(found, 0, rng, most=3, negatives=4)
        assert len(set(e.negatives)) == 4
        assert not set(e.negatives) & {0, 1, 2, 3}
    with pytest.raises(InputError, match="9 negatives"):
        draw_example(found, 0, rng, most=3, negatives=9)


def test_batches_are_full_as_many_as_asked_and_miss_no_question():
    found = data(*(question(f"q{i}", f"p{i} p{i + 1}") for i in range(5)))
    made = list(batches(found, "initial", steps=5, size=4, most=0, negatives=0, seed=1))
    assert [len(b) for b in made] == [4] * 5
    order = [e.question for b in made for e in b]
    for number in range(4):
        assert sorted(order[5 * number : 5 * number + 5]) == [0, 1, 2, 3, 4]
    with pytest.raises(InputError, match="batch=1"):
        next(batches(found, "initial", steps=1, size=1, most=0, negatives=0, seed=1))


def test_trap_18_shared_gold_is_masked_and_counted():
    found = data(question("a", "p0 p1"), question("b", "p1 p2"), question("c", "p3"))
    batch = [Example(0, (), 0, (2,)), Example(1, (), 1, (3,)), Example(2, (), 3, (0,))]
    assert columns_of(batch) == [0, 1, 3, 2, 3, 0]
    cells = gold_columns(found.gold, [0, 1, 2], columns_of(batch))
    # the diagonal; p1 for a; the negatives p2 for b, p3 for c and p0 for a
    assert set(cells) == {(0, 0), (1, 1), (2, 2), (0, 1), (1, 3), (2, 4), (0, 5)}
    assert false_negatives(found, batch) == 4


def test_trap_18_a_repeated_question_is_one_with_the_gold_of_both():
    same = [question("a", "p0 p1", "Who ran?"), question("b", "p2 p1", "who  RAN")]
    (merged,) = merge_repeats(same)
    assert (merged.question_id, merged.gold) == ("a", ("p0", "p1", "p2"))
    assert data(*same).gold == [(0, 1, 2)]
    answered = [
        ListQuestion("a", "Who ran?", (Answer("Ann"),)),
        ListQuestion("b", "Who ran", (Answer("Bob"), Answer("Ann"))),
    ]
    assert [a.text for a in merge_repeats(answered)[0].answers] == ["Ann", "Bob"]


def test_a_question_without_words_is_refused():
    with pytest.raises(InputError, match="'x' has no words"):
        merge_repeats([question("x", "p0", " ?! ")])


def test_trap_19_the_split_goes_by_normal_form():
    rows = [
        question(f"{i}_{n}", "p0", f"Which {i}{'?' * n}") for i in range(300) for n in (0, 1, 2)
    ]
    train, dev = split_by_question(rows, dev_share=0.2, seed=1)
    forms = [{normal_form(q.question) for q in side} for side in (train, dev)]
    assert not forms[0] & forms[1]
    assert len(train) + len(dev) == 300
    assert 35 < len(dev) < 90
    assert {q.split for q in dev} == {"dev"}
    fewer = split_by_question(rows[:30], dev_share=0.2, seed=1)[1]
    assert {q.question for q in fewer} <= {q.question for q in dev}
    with pytest.raises(InputError, match="dev_share"):
        split_by_question(rows, dev_share=1.0, seed=1)


def test_trap_3_held_out_questions_are_taken_out_by_normal_form():
    kept = without(
        [question("a", "p0", "Who ran?"), question("b", "p1")], [question("t", "p9", "who ran")]
    )
    assert [q.question_id for q in kept] == ["b"]
