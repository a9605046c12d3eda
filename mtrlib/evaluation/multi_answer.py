"""Recall@K and MRecall@K of questions with many answers, under the four public rules.

The papers that print MRecall@K do not mean one thing by it. A rule says what is counted and
when a question counts as complete:

``answers``
    Answers, found where the first K passages hold one of their forms as a run of whole
    tokens, in title or text. Complete with ``min(n, K)`` answers (JPR, AMER).
``clusters``
    Answers, found where one of their own gold passages is among the first K. Complete with
    ``min(n, K)`` answers (AMER with gold ids).
``passages``
    Gold passages. Complete with exactly ``min(K, |gold|)`` of them (LOFT).
``all_gold``
    Gold passages. Complete only with all of them, so never where there are more than K (QUEST).

ALCE's recall, capped at five answers, is none of these and is not offered here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from mtrlib.data.schema import Passage, Run
from mtrlib.data.tasks import Answer, ListQuestion
from mtrlib.errors import InputError
from mtrlib.evaluation.list_answers import answers_in, forms, gold_passages

RULES = ("answers", "clusters", "passages", "all_gold")


@dataclass(frozen=True, eq=False)
class MultiAnswer:
    """Scores of one system under one rule, and what the means are means of.

    Attributes
    ----------
    recall, mrecall : per question, fractions in [0, 1] and 0 or 1, indexed by
        ``question_id``; their names carry K and the rule.
    n_questions : questions with something to find.
    n_without_answers : left out, since they have nothing to find under the rule.
    n_missing_from_run : of ``n_questions``, how many got no passage; they score 0.
    n_above_k : of ``n_questions``, how many have more than K to find.
    n_unfindable : answers with no form (``answers``) or no passage (``clusters``); they stay
        in the denominator.
    n_duplicate_rows : rows of the run that named a passage again.
    """

    system: str
    rule: str
    k: int
    recall: pd.Series
    mrecall: pd.Series
    n_questions: int
    n_without_answers: int
    n_missing_from_run: int
    n_above_k: int
    n_unfindable: int
    n_duplicate_rows: int

    @property
    def per_question(self) -> pd.DataFrame:
        """``question_id`` x (Recall, MRecall)."""
        return pd.concat([self.recall, self.mrecall], axis=1)

    @property
    def means(self) -> pd.Series:
        """Macro averages over ``n_questions``."""
        return pd.Series(
            {str(s.name): math.fsum(s) / len(s) for s in (self.recall, self.mrecall)},
            name=self.system,
        )

    @property
    def counts(self) -> dict[str, int]:
        """The coverage counts by name, for tables and manifests."""
        return {name: value for name, value in vars(self).items() if type(value) is int}


def multi_answer(
    questions: Sequence[ListQuestion],
    run: Run,
    passages: Mapping[str, Passage],
    *,
    k: int,
    rule: str = "answers",
) -> MultiAnswer:
    """Score a run on list questions.

    ``Recall@K = found / n`` and ``MRecall@K = 1`` if the rule's number is found, else 0, with
    n answers or gold passages.

    Parameters
    ----------
    questions : with answers, gold passages, or both; question ids unique.
    run : rankings by question id, best first. A passage named twice counts once and is removed
        before the cut at K. K is the nominal one: a shorter list is a normal list (trap 13).
    passages : the corpus by id; only ``answers`` reads it.
    rule : one of ``RULES``, see the head of this module.

    Raises
    ------
    InputError
        Unknown rule, K below 1, a repeated question id, no question with anything to find, or
        a ranked passage that the corpus lacks.

    Notes
    -----
    ``min(n, K)`` counts answers and not passages: one passage may hold many, so Recall may be
    1 also where n > K (trap 15). Answers that share a form stay separate (trap 16), as in the
    public code; :func:`mtrlib.evaluation.list_answers.merge_answers` merges them on purpose.

    References
    ----------
    Min et al., "Joint passage ranking for diverse multi-answer retrieval", 2021; LOFT
    (arXiv 2406.13121); QUEST (arXiv 2305.11694); RVR (arXiv 2602.18425).

    Examples
    --------
    >>> corpus = {"1": Passage("1", "Crete and Cyprus."), "2": Passage("2", "Malta.")}
    >>> q = ListQuestion("q", "Islands?", tuple(map(Answer, ("Crete", "Cyprus", "Malta"))))
    >>> run = Run.from_rankings("bm25", {"q": [("1", 2.0), ("2", 1.0)]})
    >>> multi_answer([q], run, corpus, k=1).means.round(3).to_dict()
    {'Recall@1 (answers)': 0.667, 'MRecall@1 (answers)': 1.0}
    """
    if rule not in RULES:
        raise InputError(f"rule {rule!r} of MRecall is unknown. Known: {', '.join(RULES)}.")
    if not isinstance(k, int) or isinstance(k, bool) or k < 1:
        raise InputError(f"MRecall@K: k={k!r} must be a whole number from 1 up.")
    counted = {q.question_id: _units(q, rule) for q in questions}
    if len(counted) < len(questions):
        raise InputError(f"{run.system}: a question id occurs twice. Mend: keep one record each.")
    asked = [q for q in questions if counted[q.question_id]]
    if not asked:
        raise InputError(
            f"{run.system}: none of {len(questions)} questions has anything to find under the "
            f"rule {rule!r}. Mend: use a rule that fits what the set marks."
        )
    recall, mrecall = {}, {}
    for q in asked:
        n = counted[q.question_id]
        ids = list(dict.fromkeys(run.ids(q.question_id)))[:k]
        hits = _hits(q, ids, passages, rule)
        assert hits <= n, f"{hits} of {n} found for {q.question_id}"
        recall[q.question_id] = hits / n
        mrecall[q.question_id] = float(hits >= (n if rule == "all_gold" else min(n, k)))
    repeats = sum(len(rows) - len({p for p, _ in rows}) for rows in run.rankings.values())
    return MultiAnswer(
        system=run.system,
        rule=rule,
        k=k,
        recall=_series(recall, f"Recall@{k} ({_unit_name(rule)})"),
        mrecall=_series(mrecall, f"MRecall@{k} ({rule})"),
        n_questions=len(asked),
        n_without_answers=len(questions) - len(asked),
        n_missing_from_run=sum(not run.ids(q.question_id) for q in asked),
        n_above_k=sum(counted[q.question_id] > k for q in asked),
        n_unfindable=sum(_unfindable(q, rule) for q in asked),
        n_duplicate_rows=run.n_duplicate_rows + repeats,
    )


def _units(question: ListQuestion, rule: str) -> int:
    if rule in ("passages", "all_gold"):
        return len(gold_passages(question))
    if rule == "clusters" and not any(a.passages for a in question.answers):
        return 0
    return len(question.answers)


def _hits(
    question: ListQuestion, ids: Sequence[str], passages: Mapping[str, Passage], rule: str
) -> int:
    if rule in ("passages", "all_gold"):
        return len(gold_passages(question).intersection(ids))
    if rule == "clusters":
        return sum(not set(a.passages).isdisjoint(ids) for a in question.answers)
    lost = [p for p in ids if p not in passages]
    if lost:
        raise InputError(
            f"question {question.question_id!r}: passage {lost[0]!r} of the run is not in the "
            "corpus. Mend: score a run against the corpus that it searched."
        )
    return len(frozenset().union(*(answers_in(question, passages[p]) for p in ids)))


def _unfindable(question: ListQuestion, rule: str) -> int:
    lacks: dict[str, Callable[[Answer], bool]] = {
        "answers": lambda a: not forms(a),
        "clusters": lambda a: not a.passages,
    }
    return sum(map(lacks[rule], question.answers)) if rule in lacks else 0


def _unit_name(rule: str) -> str:
    return "passages" if rule == "all_gold" else rule


def _series(values: Mapping[str, float], name: str) -> pd.Series:
    index = pd.Index(list(values), name="question_id", dtype="str")
    return pd.Series(list(values.values()), index=index, name=name, dtype=float)
