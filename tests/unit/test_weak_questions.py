"""Weak list questions: what they are made from, how they are worded, and what is left out."""

from __future__ import annotations

import string
from collections import defaultdict

import pytest
from needed import fetched

from mtrlib.data.authored.check_lists import main_articles
from mtrlib.data.authored.records import load_authored
from mtrlib.data.corpus import wikipedia_passages
from mtrlib.data.schema import Passage
from mtrlib.rvr.training_questions import normal_form
from mtrlib.rvr.weak_questions import WeakQuestions, weak_questions
from mtrlib.rvr.weak_topics import topics
from mtrlib.rvr.weak_wordings import WORDINGS


def passage(name: str, text: str, section: str = "", links: str = "") -> Passage:
    title = {"r": "Rivers", "b": "Boats", "s": "Secret"}[name[0]]
    path = tuple(filter(None, section.split("/")))
    return Passage(name, text, title, path, tuple(filter(None, links.split(","))))


CORPUS = [
    passage("r0", "A river is a stream of fresh water that runs downhill. It ends.", links="Sea"),
    passage("r1", "Many carry silt. Some dry up.", links="Sea"),
    passage("r2", "Floods come in spring.", links="Sea,Ferry"),
    passage("r3", "In the north there is ice.", "Regions"),
    passage("r4", "The dam was built late.", "Regions/North", "Dam"),
    passage("r5", "• Weser: slow\n• Elbe: broad", "Names", "Sea"),
    passage("r6", "• Oder: long\n• Havel: calm", "Names"),
    passage("b0", "A boat floats.", links="Ferry"),
    passage("b1", "Ferries cross.", "Kinds", "Ferry"),
    passage("s0", "Hidden things.", "Kept", "Ferry"),
    passage("s1", "More of them.", "Kept", "Ferry"),
]


def found(kind: str) -> dict[str, tuple[str, ...]]:
    return {t.text: t.gold for t in topics(CORPUS) if t.kind == kind}


def test_a_heading_has_the_passages_of_its_section_and_below():
    assert found("heading") == {
        "Regions": ("r3", "r4"),
        "Names": ("r5", "r6"),
        "Kept": ("s0", "s1"),
    }


def test_link_targets_within_one_article_and_across_articles():
    inside = {(t.title, t.text): t.gold for t in topics(CORPUS) if t.kind == "link"}
    assert inside == {
        ("Rivers", "Sea"): ("r0", "r1", "r2", "r5"),
        ("Boats", "Ferry"): ("b0", "b1"),
        ("Secret", "Ferry"): ("s0", "s1"),
    }
    assert found("mention") == {"Ferry": ("r2", "b0", "b1", "s0", "s1")}


def test_a_lead_sentence_asks_for_the_passages_that_do_not_hold_it():
    assert found("lead") == {"a stream of fresh water that runs downhill": ("r1", "r2")}


def test_lists_and_their_items():
    assert found("list") == {"Names": ("r5", "r6")}
    assert found("items") == {"Weser and Oder": ("r5", "r6"), "Elbe and Havel": ("r5", "r6")}


@pytest.mark.parametrize("kind", WORDINGS)
def test_ten_wordings_or_more_each_naming_the_topic(kind: str):
    wordings = WORDINGS[kind]
    assert len({normal_form(w) for w in wordings}) == len(wordings) >= 10
    for wording in wordings:
        fields = {name for _, name, _, _ in string.Formatter().parse(wording) if name}
        assert "topic" in fields <= {"topic", "title"}
        assert kind != "mention" or "title" not in fields  # it has no one article


def test_articles_of_test_questions_give_neither_topics_nor_gold():
    made = weak_questions(CORPUS, {"Secret"}, seed=1)
    gold = {g for q in (*made.train, *made.dev) for g in q.gold}
    assert gold
    assert not gold & {"s0", "s1"}
    assert "s0" in {g for q in weak_questions(CORPUS, (), seed=1).train for g in q.gold}


def many() -> list[Passage]:
    """Two hundred sections of two passages."""
    return [
        Passage(f"{i}_{n}", f"text {i} {n}", f"Article {i % 7}", (f"Part {i}",))
        for i in range(200)
        for n in (0, 1)
    ]


def texts(made: WeakQuestions) -> list[str]:
    return [q.question for q in (*made.train, *made.dev)]


def test_the_seed_decides_wording_choice_and_side():
    one, again = weak_questions(many(), (), seed=1), weak_questions(many(), (), seed=1)
    assert (one.train, one.dev) == (again.train, again.dev)
    assert sorted(texts(one)) != sorted(texts(weak_questions(many(), (), seed=2)))
    assert one.counts.loc["heading", "wordings"] >= 10
    assert one.dev


def test_neither_the_process_nor_other_topics_change_a_question(same_in_every_process):
    code = (
        "from mtrlib.data.schema import Passage\n"
        "from mtrlib.rvr.weak_questions import weak_questions\n"
        "ps = [Passage(f'{i}_{n}', 'x', 'A', (f'P {i}',)) for i in range(40) for n in (0, 1)]\n"
        "made = weak_questions(ps, (), seed=3).train\n"
        "print([(q.question_id, q.question, q.split) for q in made])"
    )
    same_in_every_process(code)
    few = weak_questions(many()[:100], (), seed=1)
    assert set(texts(few)) <= set(texts(weak_questions(many(), (), seed=1)))


def test_trap_19_no_normal_form_on_both_sides_and_none_twice():
    made = weak_questions(many(), (), seed=5, dev_share=0.3)
    forms = [normal_form(text) for text in texts(made)]
    assert len(forms) == len(set(forms))
    assert {q.split for q in made.train} == {"train"}
    assert {q.split for q in made.dev} == {"dev"}


def test_repeats_and_the_cap_are_counted():
    twice = [
        Passage(f"{half}{i}_{n}", f"text {half} {i} {n}", "A", (half, f"Part {i}"))
        for half in "xy"
        for i in range(20)
        for n in (0, 1)
    ]
    made = weak_questions(twice, (), seed=1, most=30)
    row = made.counts.loc["heading"]
    assert row["repeats"] > 0
    assert row["topics"] == row["capped"] + row["repeats"] + row["train"] + row["dev"]
    assert row["topics"] - row["capped"] == 30


@pytest.mark.models
def test_the_wikipedia_slice_gives_more_than_a_thousand_questions():
    with fetched("the corpus"):
        corpus = wikipedia_passages()
    test = main_articles(load_authored(), "test")
    made = weak_questions(corpus, test, seed=13)
    assert len(made.train) > 1000
    assert (made.counts["wordings"] >= 10).all()
    title = {p.passage_id: p.title for p in corpus}
    used: dict[str, int] = defaultdict(int)
    for q in (*made.train, *made.dev):
        assert 2 <= len(q.gold) <= 20
        for g in q.gold:
            used[title[g]] += 1
    assert not used.keys() & test
