"""Checks of list-mini: answers, their passages, kinds, disjoint splits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from mtrlib.data.authored.records import Authored, Record
from mtrlib.data.authored.wording import CopyCheck
from mtrlib.data.schema import Passage
from mtrlib.data.strings import answer_tokens, contains_answer

KINDS = ("simple", "intersection", "composition")
SPLITS = {"train_dev": 30, "test": 60}
TEST_ARTICLES, WEAK_QUESTIONS, ANSWERS, MEAN_ANSWERS, PASSAGES = 35, 500, 4, 7.0, 3


def check_lists(
    found: Authored, passages: Mapping[str, Passage], copies: CopyCheck
) -> Iterator[str]:
    """Yield every problem, each naming its question."""
    for question in found.questions:
        yield from _question(question, passages)
        yield from copies.problems(question["question_id"], question["question"])
    texts = Counter(" ".join(answer_tokens(q["question"])) for q in found.questions)
    yield from (f"list-mini: asked twice: {q}" for q, n in texts.items() if n > 1)
    ids = Counter(q["question_id"] for q in found.questions)
    yield from (f"list-mini: {i} occurs twice" for i, n in ids.items() if n > 1)
    yield from _totals(found, passages)


def _question(question: Record, passages: Mapping[str, Passage]) -> Iterator[str]:
    name = question["question_id"]
    if question["kind"] not in KINDS:
        yield f"{name}: kind {question['kind']!r}, must be one of {KINDS}"
    if question["split"] not in ("train", "dev", "test"):
        yield f"{name}: split {question['split']!r}, must be train, dev or test"
    if len(question["answers"]) < ANSWERS:
        yield f"{name}: {len(question['answers'])} answers, at least {ANSWERS}"
    support = {p for a in question["answers"] for p in a["passages"]}
    if len(support) < PASSAGES:
        yield f"{name}: answers in {len(support)} passages, at least {PASSAGES}"
    forms = Counter(
        form
        for a in question["answers"]
        for form in {" ".join(answer_tokens(f)) for f in (a["text"], *a["aliases"])}
    )
    yield from (f"{name}: {form!r} is in two answers" for form, n in forms.items() if n > 1)
    for answer in question["answers"]:
        if not answer["passages"]:
            yield f"{name}: {answer['text']!r} has no passage"
        for passage_id in answer["passages"]:
            passage = passages.get(passage_id)
            if passage is None:
                yield f"{name}: no passage {passage_id}"
            elif not contains_answer(
                f"{passage.title} {passage.text}", [answer["text"], *answer["aliases"]]
            ):
                yield f"{name}: {answer['text']!r} does not stand in {passage_id}"


def main_articles(found: Authored, *splits: str) -> set[str]:
    """Articles that are a main source of a question of these splits."""
    return {a for q in found.questions if q["split"] in splits for a in q["main_articles"]}


def weak_questions(found: Authored, passages: Mapping[str, Passage]) -> int:
    """How many headings with text lie outside the main articles of test questions.

    Each can be turned into at least one weak training question; links, lead sentences and
    list items give more, so this is a lower bound.
    """
    test = main_articles(found, "test")
    return len({(p.title, p.section) for p in passages.values() if p.title not in test})


def _totals(found: Authored, passages: Mapping[str, Passage]) -> Iterator[str]:
    sizes = Counter("test" if q["split"] == "test" else "train_dev" for q in found.questions)
    for split, wanted in SPLITS.items():
        if sizes[split] != wanted:
            yield f"list-mini: {sizes[split]} questions in {split}, must be {wanted}"
    test = main_articles(found, "test")
    both = test & main_articles(found, "train", "dev")
    if both:
        yield f"list-mini: {sorted(both)[0]} is a main source on both sides of the split"
    if len(test) > TEST_ARTICLES:
        yield f"list-mini: test draws on {len(test)} articles, at most {TEST_ARTICLES}"
    if passages and weak_questions(found, passages) < WEAK_QUESTIONS:
        yield f"list-mini: {weak_questions(found, passages)} weak questions remain, too few"
    answers = [len(q["answers"]) for q in found.questions]
    if answers and sum(answers) / len(answers) < MEAN_ANSWERS:
        yield f"list-mini: {sum(answers) / len(answers):.2f} answers on average, must be 7"
