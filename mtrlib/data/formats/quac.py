"""QuAC: a student asks about a section of Wikipedia, a teacher answers with spans of it.

Laid out like SQuAD: ``data[]`` with ``title``, ``section_title`` and ``paragraphs[]``, each
paragraph one dialogue: ``id``, ``context`` (ends in ``CANNOTANSWER``), ``qas[]`` with ``id``,
``question``, ``orig_answer`` (the teacher's), ``answers`` (also other people's), ``followup``
(y, m, n) and ``yesno`` (y, n, x).

The section is the passage; a question that can be answered has it as gold. No scope is set,
since a search restricted to the section would have one candidate; for chunks of a section use
the QuAC subset of ChatRAG-Bench. The teacher's answer is the answer; other people's are left
out, as is ``background``. In the history an unanswered question is followed by
``CANNOTANSWER``, as in the files. Address: quac.ai.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mtrlib.data.formats.base import Format, fields
from mtrlib.data.formats.nested import items_of, json_head
from mtrlib.data.jsonl import text_id
from mtrlib.data.schema import Conversation, Passage, Turn, Utterance

_NONE = "CANNOTANSWER"


def passages(path: Path) -> Iterator[Passage]:
    """Read the sections, without the ``CANNOTANSWER`` at their end.

    Each dialogue brings its own copy of the section under its own id.

    Raises
    ------
    InputError
        A field is missing or of the wrong kind; its place is named.
    """
    for source, article, paragraph in _paragraphs(path):
        key, context = fields(paragraph, source, path, "id", "context", kinds=[str])
        section = article.get("section_title")
        yield Passage(
            text_id(key, path, None, f"{source}: id"),
            context.removesuffix(_NONE).rstrip(),
            str(article.get("title") or ""),
            (str(section),) if section else (),
            document=key,
            source=source,
        )


def conversations(path: Path) -> Iterator[Conversation]:
    """Read the dialogues; ids of questions are the set's own (``C_..._q#0``).

    Raises
    ------
    InputError
        A field is missing or of the wrong kind; its place is named.
    """
    for source, _, paragraph in _paragraphs(path):
        (key,) = fields(paragraph, source, path, "id", kinds=[str])
        history: tuple[Utterance, ...] = ()
        turns = []
        (questions,) = fields(paragraph, source, path, "qas", kinds=[list])
        for number, record in enumerate(questions, start=1):
            turn, answer = _turn(record, key, number, history, f"{source}/{number - 1}", path)
            turns.append(turn)
            history += (Utterance("user", turn.raw_utterance), Utterance("agent", answer))
        yield Conversation(key, tuple(turns))


def _turn(
    record: dict[str, Any],
    key: str,
    number: int,
    history: tuple[Utterance, ...],
    source: str,
    path: Path,
) -> tuple[Turn, str]:
    query_id, question = fields(record, source, path, "id", "question", kinds=[str])
    answer = record.get("orig_answer")
    if answer is None:
        (answers,) = fields(record, source, path, "answers", kinds=[list])
        answer = answers[0] if answers else {"text": _NONE}
    (text,) = fields(answer, source, path, "text", kinds=[str])
    found = text != _NONE
    codes = [f"{n}:{record[n]}" for n in ("followup", "yesno") if record.get(n)]
    turn = Turn(
        query_id=text_id(query_id, path, None, f"{source}: id"),
        conversation_id=key,
        turn_number=number,
        raw_utterance=question,
        history=history,
        gold=(key,) if found else (),
        answer=text if found else None,
        labels=tuple(codes if found else ["unanswerable", *codes]),
        source=source,
    )
    return turn, text


def _paragraphs(path: Path) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    for source, article in items_of(path, "data"):
        (found,) = fields(article, source, path, "paragraphs", kinds=[list])
        for number, paragraph in enumerate(found):
            yield f"{source}/{number}", article, paragraph


def _is_quac(path: Path) -> bool:
    start = json_head(path)
    return '"paragraphs"' in start and any(n in start for n in ('"followup"', '"yesno"', _NONE))


FORMAT = Format(
    name="quac",
    title="QuAC dialogues with their Wikipedia sections",
    seen="real record",
    recognises=_is_quac,
    passages=passages,
    conversations=conversations,
)
FORMATS = (FORMAT,)
