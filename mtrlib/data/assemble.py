"""From files of any known format to a benchmark: corpus, conversations and judgements together."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from mtrlib.data.formats import recognise
from mtrlib.data.formats.base import Format
from mtrlib.data.formats.columns import MAP_FILE
from mtrlib.data.matching import MatchReport, match_gold_texts
from mtrlib.data.schema import Benchmark, Conversation, Passage, Qrels, Turn
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import InputError

SKIPPED = {".md", ".txt.md", ".license", ""}


@dataclass
class Parts:
    """What the files of a dataset hold, before they are put together.

    ``read`` names each file with its format and what was taken from it; ``left_out`` files
    that no reader knows.
    """

    passages: list[Passage] = field(default_factory=list)
    conversations: list[Conversation] = field(default_factory=list)
    questions: list[ListQuestion] = field(default_factory=list)
    qrels: list[Qrels] = field(default_factory=list)
    read: list[tuple[str, str, str]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def read_parts(path: Path | str) -> Parts:
    """Read a file, a folder that is one format, or a folder of files of several formats.

    Raises
    ------
    InputError
        Nothing in the folder can be read, or a reader refuses a file.
    """
    path = Path(path)
    parts = Parts()
    try:
        whole = recognise(path)
    except InputError:
        if not path.is_dir():
            raise
    else:
        _take(parts, path, whole)
        return parts
    for file in sorted(p for p in path.iterdir() if p.is_file()):
        about = file.name == MAP_FILE or file.name.upper().startswith(("README", "LICEN"))
        if about or file.suffix.lower() in SKIPPED:
            continue
        try:
            each = recognise(file)
        except InputError:
            parts.left_out.append(file.name)
            continue
        _take(parts, file, each)
    if not parts.read:
        raise InputError.at(
            path, None, "no file here is of a known format", "see `python -m mtrlib.data list`"
        )
    return parts


def _take(parts: Parts, path: Path, each: Format) -> None:
    held = []
    before = len(parts.passages), len(parts.conversations)
    if each.passages is not None:
        parts.passages += each.passages(path)
    if each.conversations is not None:
        parts.conversations += each.conversations(path)
    held += ["passages"] * (len(parts.passages) > before[0])
    held += ["conversations"] * (len(parts.conversations) > before[1])
    if each.questions is not None and each.conversations is None:
        parts.questions += each.questions(path)
        held.append("questions")
    if each.qrels is not None:
        parts.qrels.append(each.qrels(path))
        held.append("qrels")
    parts.read.append((path.name, each.name, ", ".join(held) or "other records"))


def as_benchmark(name: str, parts: Parts) -> tuple[Benchmark, MatchReport]:
    """Put the parts together; gold texts are matched to passages, qrels replace empty gold.

    Raises
    ------
    InputError
        No conversations, or no corpus to search in.
    """
    conversations = [*parts.conversations, *map(_one_turn, parts.questions)]
    if not conversations:
        raise InputError(f"{name}: no conversations or questions. Mend: add a file with them.")
    passages = _unique(parts.passages)
    if not passages:
        raise InputError(f"{name}: no corpus. Mend: put its corpus file into the same folder.")
    matched, report = match_gold_texts(conversations, passages)
    if parts.qrels:
        merged = {q: qrels.grades(q) for qrels in parts.qrels for q in qrels}
        matched = tuple(_with_qrels(c, merged) for c in matched)
    return Benchmark(name, tuple(passages), matched), report


def _one_turn(question: ListQuestion) -> Conversation:
    """A list question as a conversation of one turn; its gold is that of all answers."""
    gold = dict.fromkeys(question.gold)
    gold |= dict.fromkeys(p for a in question.answers for p in a.passages)
    turn = Turn(
        question.question_id,
        question.question_id,
        1,
        question.question,
        gold=tuple(gold),
        source=question.source,
    )
    return Conversation(question.question_id, (turn,))


def _with_qrels(conversation: Conversation, grades: dict[str, dict[str, int]]) -> Conversation:
    turns = tuple(
        dataclasses.replace(t, gold=tuple(p for p, g in grades[t.query_id].items() if g > 0))
        if t.query_id in grades and not t.gold
        else t
        for t in conversation.turns
    )
    return dataclasses.replace(conversation, turns=turns)


def _unique(passages: Iterable[Passage]) -> list[Passage]:
    """One record per id; the same text twice is dropped with a warning, two texts stop."""
    seen: dict[str, Passage] = {}
    repeated = 0
    for p in passages:
        known = seen.setdefault(p.passage_id, p)
        if known is not p:
            repeated += 1
            if known.text != p.text:
                raise InputError(
                    f"passage {p.passage_id} has two texts ({known.source or 'first'} and "
                    f"{p.source or 'later'}). Mend: use files of one version."
                )
    if repeated:
        warnings.warn(f"{repeated} passages stood in the files twice, kept once", stacklevel=2)
    return list(seen.values())
