"""Questions, their gold and the passages by number: what examples are drawn from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from mtrlib.data.schema import Passage
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import InputError
from mtrlib.rvr.context import passage_key
from mtrlib.rvr.training_questions import merge_repeats


class TrainingSet:
    """Questions with their gold, and the passages, each distinct text once.

    Repeated questions are merged. Two passages of the same text are one (trap 4): by id and by
    :func:`mtrlib.rvr.context.passage_key`, so no text is context and positive at once.

    Parameters
    ----------
    questions : with gold passage ids.
    passages : the corpus; explicit negatives are drawn from it, so leave out what must not be
        seen. Gold that it lacks is passed over and counted.

    Attributes
    ----------
    questions : the questions that have gold left, in order.
    passages : distinct passages, the first of each text.
    gold : numbers of the gold passages of each question, in the order of the set's gold.
    dropped : questions without any gold in the corpus.
    missing_gold, repeated_gold : gold ids not in the corpus; gold of a text that is there.

    Raises
    ------
    InputError
        No question is left, or a passage without text is gold.
    """

    def __init__(self, questions: Iterable[ListQuestion], passages: Sequence[Passage]) -> None:
        number: dict[str, int] = {}  # of a text
        by_id: dict[str, int] = {}
        self.passages: list[Passage] = []
        for p in passages:
            key = passage_key(p)
            if key not in number:
                number[key] = len(self.passages)
                self.passages.append(p)
            by_id[p.passage_id] = number[key]
        self.questions: list[ListQuestion] = []
        self.gold: list[tuple[int, ...]] = []
        self.dropped = self.missing_gold = self.repeated_gold = 0
        for q in merge_repeats(questions):
            known = [by_id[g] for g in q.gold if g in by_id]
            distinct = tuple(dict.fromkeys(known))
            self.missing_gold += len(q.gold) - len(known)
            self.repeated_gold += len(known) - len(distinct)
            if distinct:
                self.questions.append(q)
                self.gold.append(distinct)
            else:
                self.dropped += 1
        self._refuse_empty()

    def _refuse_empty(self) -> None:
        if not self.questions:
            raise InputError(
                "no training question has a gold passage in the corpus. "
                "Mend: check that the ids of both are from the same set."
            )
        for q, gold in zip(self.questions, self.gold, strict=True):
            for number in gold:
                if not self.passages[number].text.strip():
                    raise InputError(
                        f"passage {self.passages[number].passage_id!r}, gold of question "
                        f"{q.question_id!r}, has no text. Mend: leave it out of the set."
                    )

    def describe(self) -> Mapping[str, int]:
        """Sizes and what was passed over, for a manifest."""
        return {
            "questions": len(self.questions),
            "gold": sum(map(len, self.gold)),
            "passages": len(self.passages),
            "dropped_questions": self.dropped,
            "missing_gold": self.missing_gold,
            "repeated_gold": self.repeated_gold,
        }


def gold_columns(
    gold: Sequence[tuple[int, ...]], questions: Sequence[int], columns: Sequence[int]
) -> list[tuple[int, int]]:
    """Cells ``(row, column)`` of a batch whose passage is gold for the row's question.

    Parameters
    ----------
    gold : of :class:`TrainingSet`.
    questions, columns : number of the question of each row, of the passage of each column.
    """
    at: dict[int, list[int]] = defaultdict(list)
    for column, passage in enumerate(columns):
        at[passage].append(column)
    return [
        (row, column)
        for row, question in enumerate(questions)
        for passage in gold[question]
        for column in at.get(passage, ())
    ]
