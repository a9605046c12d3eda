"""Weak supervision: list questions made from a corpus by code, to train retrievers on.

Their gold is what the article's make-up suggests; nobody read it. They are for training and
early stopping, never for a reported number.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import pandas as pd

from mtrlib.data.schema import Passage
from mtrlib.data.tasks import ListQuestion
from mtrlib.rvr.training_questions import normal_form, split_by_question, stable_rng
from mtrlib.rvr.weak_topics import Topic, topics
from mtrlib.rvr.weak_wordings import WORDINGS


@dataclass(frozen=True, eq=False)
class WeakQuestions:
    """Weak questions and what became of the topics.

    Attributes
    ----------
    train, dev : no normal form stands in both.
    counts : one row per source kind: ``topics`` found, ``capped`` beyond the limit,
        ``repeats`` of a question that is there already, ``train``, ``dev``, ``wordings`` used,
        ``gold`` passages per question on average.
    """

    train: tuple[ListQuestion, ...]
    dev: tuple[ListQuestion, ...]
    counts: pd.DataFrame


def weak_questions(
    passages: Sequence[Passage],
    leave_out: Collection[str],
    *,
    seed: int,
    most: int = 400,
    dev_share: float = 0.1,
) -> WeakQuestions:
    """Turn headings, links, lead sentences and lists into list questions.

    Parameters
    ----------
    passages : the corpus, articles contiguous.
    leave_out : titles of articles that no question is made from, nor has gold in: the main
        sources of test questions.
    most : questions per source kind at most, so that the commonest does not drown the rest.
    dev_share : expected share of dev.

    Notes
    -----
    A topic's wording and whether it is kept hang on the seed and the topic alone. A topic is
    asked about once, so dev has no reworded train question.
    """
    usable = [p for p in passages if p.title not in leave_out]
    by_kind: dict[str, list[Topic]] = {kind: [] for kind in WORDINGS}
    for topic in topics(usable):
        by_kind[topic.kind].append(topic)
    made: list[ListQuestion] = []
    wordings: dict[str, set[int]] = {kind: set() for kind in WORDINGS}
    seen: set[str] = set()
    repeats: Counter[str] = Counter()
    for kind, found in by_kind.items():
        chosen = sorted(found, key=lambda t: _rank(t, seed))[:most]
        for topic in chosen:
            question, wording = _worded(topic, seed)
            if normal_form(question.question) in seen:
                repeats[kind] += 1
                continue
            seen.add(normal_form(question.question))
            wordings[kind].add(wording)
            made.append(question)
    train, dev = split_by_question(made, dev_share=dev_share, seed=seed)
    counts = _counts(by_kind, most, repeats, wordings, train, dev)
    return WeakQuestions(tuple(train), tuple(dev), counts)


def _rank(topic: Topic, seed: int) -> bytes:
    text = "\x1f".join((str(seed), topic.kind, topic.title, topic.text, *topic.gold))
    return hashlib.sha256(text.encode()).digest()


def _worded(topic: Topic, seed: int) -> tuple[ListQuestion, int]:
    patterns = WORDINGS[topic.kind]
    wording = int(stable_rng(seed, topic.kind, topic.title, topic.text).integers(len(patterns)))
    text = patterns[wording].format(topic=topic.text, title=topic.title)
    return (
        ListQuestion(
            question_id=f"weak-{topic.kind}-{_rank(topic, seed).hex()[:12]}",
            question=text,
            gold=topic.gold,
            kind=f"weak-{topic.kind}",
            source=f"{topic.kind} of {topic.title or 'several articles'}",
        ),
        wording,
    )


def _counts(
    by_kind: dict[str, list[Topic]],
    most: int,
    repeats: Counter[str],
    wordings: dict[str, set[int]],
    train: list[ListQuestion],
    dev: list[ListQuestion],
) -> pd.DataFrame:
    rows = []
    for kind, found in by_kind.items():
        sides = [[q for q in side if q.kind == f"weak-{kind}"] for side in (train, dev)]
        gold = [len(q.gold) for side in sides for q in side]
        rows.append(
            {
                "kind": kind,
                "topics": len(found),
                "capped": max(0, len(found) - most),
                "repeats": repeats[kind],
                "train": len(sides[0]),
                "dev": len(sides[1]),
                "wordings": len(wordings[kind]),
                "gold": sum(gold) / len(gold) if gold else 0.0,
            }
        )
    return pd.DataFrame(rows).set_index("kind")
