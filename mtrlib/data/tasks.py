"""Records beside conversations: list questions, decompositions, human ratings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of a list question.

    Attributes
    ----------
    text, aliases : its forms; any of them counts (OR within an answer).
    passages : ids of the passages that support it; may be empty where the set gives none.
    """

    text: str
    aliases: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListQuestion:
    """A question with all its answers (RVR, section 2).

    Attributes
    ----------
    gold : ids of all relevant passages or documents, also those not tied to an answer.
    split, kind : as the set names them, empty where it does not.
    source : where the record was read.
    """

    question_id: str
    question: str
    answers: tuple[Answer, ...] = ()
    gold: tuple[str, ...] = ()
    split: str = ""
    kind: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Decomposition:
    """A question and the steps it is made of.

    Attributes
    ----------
    steps : sub-questions in order; one step means "do not decompose".
    evidence : per step the titles or ids it needs, () where none is named.
    answer : the answer as text, lists joined by "; ", empty where there is none.
    """

    question_id: str
    question: str
    steps: tuple[str, ...]
    evidence: tuple[tuple[str, ...], ...] = ()
    answer: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Rating:
    """What one rater said about one answer on one metric.

    Attributes
    ----------
    item_id : the rated thing; together with ``system`` it names the answer.
    rater : "" where the set does not tell raters apart.
    value : the rating as a number, or a label such as "Fully attributable".
    scale : the possible values in the set's words, for example "1-4".
    """

    item_id: str
    metric: str
    value: float | str
    system: str = ""
    rater: str = ""
    scale: str = ""
    source: str = ""
