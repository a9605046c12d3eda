"""The texts behind human ratings: what was asked, what was answered, on which evidence.

A :class:`mtrlib.data.tasks.Rating` names an answer by ``item_id`` and ``system``; a judge that
is to be compared with it needs the words. Readers of rated sets yield them with
``read_answers``, in the order of the file.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RatedAnswer:
    """One rated answer.

    Attributes
    ----------
    item_id, system : as in the ratings.
    question : the question, or the last message of the dialogue, as the set has it.
    answer : what the system said.
    reference : the set's own answer, empty where it has none.
    evidence : text that the answer is to rest on, empty where the set has none.
    source : where the record was read.
    """

    item_id: str
    system: str
    question: str
    answer: str
    reference: str = ""
    evidence: str = ""
    source: str = ""
