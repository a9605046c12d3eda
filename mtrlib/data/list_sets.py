"""List questions with their corpus: list-mini, or a folder of the user's, cut to the profile."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mtrlib import paths
from mtrlib.data.assemble import read_parts
from mtrlib.data.authored.list_mini import SPLITS, list_questions
from mtrlib.data.corpus import articles, wikipedia_passages
from mtrlib.data.schema import Passage, corpus_digest
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import InputError
from mtrlib.profiles import Profile

LIST_MINI = "list-mini"


@dataclass(frozen=True, eq=False)
class ListSet:
    """List questions by split, over one corpus.

    Attributes
    ----------
    questions : ``train``, ``dev`` and ``test``; a split that the set lacks is empty.
    left_out : questions with nothing to find in this corpus, by split.
    """

    name: str
    passages: tuple[Passage, ...]
    questions: Mapping[str, tuple[ListQuestion, ...]]
    left_out: Mapping[str, int]

    @property
    def by_id(self) -> dict[str, Passage]:
        """The corpus by passage id."""
        return {p.passage_id: p for p in self.passages}

    def digest(self) -> str:
        """SHA-256 of corpus, questions, answers and gold."""
        rows = [
            (split, q.question_id, q.question, q.gold, [(a.text, a.aliases) for a in q.answers])
            for split, found in self.questions.items()
            for q in found
        ]
        return hashlib.sha256(f"{corpus_digest(self.passages)} {rows}".encode()).hexdigest()


def load_list_set(profile: Profile) -> ListSet:
    """The set that ``LISTS`` names.

    Parameters
    ----------
    profile : ``LISTS`` is ``list-mini``, or a folder with question files and a corpus in any
        format that :mod:`mtrlib.data.formats` reads; splits as the records or file names say.
        ``QUESTION_LIMIT`` keeps the first questions of each split, ``PASSAGE_LIMIT`` cuts the
        corpus to their gold, filled up with whole articles.

    Returns
    -------
    ListSet
        Each passage id once. A question without an answer and without gold in the corpus has
        nothing to find; it is left out and counted.

    Raises
    ------
    InputError
        Neither list-mini nor a path, no corpus, or no question in the split ``LIST_SPLIT``.
    """
    name, passages, questions = _read(profile.LISTS)
    wanted = {s: [q for q in questions if _split(q) == s] for s in SPLITS}
    known = {p.passage_id for p in passages}
    usable = {s: [q for q in found if _findable(q, known)] for s, found in wanted.items()}
    limit = profile.QUESTION_LIMIT or None
    kept = {s: tuple(found[:limit]) for s, found in usable.items()}
    if not kept.get(profile.LIST_SPLIT):
        raise InputError(
            f"{name}: no usable question in the split {profile.LIST_SPLIT!r}; there are "
            f"{ {s: len(found) for s, found in wanted.items()} }. "
            "Mend: LIST_SPLIT, or questions with answers or gold that the corpus holds."
        )
    if profile.PASSAGE_LIMIT:
        passages = _cut(passages, kept.values(), profile.PASSAGE_LIMIT)
    left_out = {s: len(found) - len(usable[s]) for s, found in wanted.items()}
    return ListSet(name, tuple(passages), kept, left_out)


def _read(name: str) -> tuple[str, Sequence[Passage], list[ListQuestion]]:
    if name == LIST_MINI:
        return name, wikipedia_passages(), list_questions()
    path = paths.given(name)
    if not path.exists():
        raise InputError(
            f"LISTS={name!r} is neither {LIST_MINI!r} nor a file or folder. Mend: check the path."
        )
    parts = read_parts(path)
    passages = list({p.passage_id: p for p in parts.passages}.values())
    if not passages:
        raise InputError.at(path, None, "no corpus", "put its corpus file into the same folder")
    return path.name, passages, parts.questions


def _split(question: ListQuestion) -> str:
    return "dev" if question.split in ("val", "valid", "validation") else question.split


def _findable(question: ListQuestion, known: set[str]) -> bool:
    return bool(question.answers) or not known.isdisjoint(question.gold)


def _cut(
    passages: Sequence[Passage], kept: Iterable[Sequence[ListQuestion]], limit: int
) -> list[Passage]:
    """Gold of the kept questions, then whole articles as far as they fit, in corpus order."""
    chosen = {g for found in kept for q in found for g in q.gold}
    for _, group in articles(passages):
        new = {p.passage_id for p in group} - chosen
        if len(chosen) + len(new) <= limit:
            chosen |= new
    return [p for p in passages if p.passage_id in chosen]
