"""Reading comprehension as retrieval: SQuAD 1.1 and 2.0, CMRC 2018, Quoref; DROP.

Every paragraph becomes a passage and every question a conversation of one turn whose gold is
its paragraph. Questions were written while looking at the paragraph, so as retrieval they are
easy and share its words; CMRC 2018 is of use to check Chinese tokenisation.

Facts of the formats
    SQuAD and its kin: ``{"data": [{"title", "paragraphs": [{"context", "qas": [{"id",
    "question", "answers": [{"text", "answer_start"}], "is_impossible"}]}]}]}``. CMRC 2018 also
    circulates as ``{"context_id", "context_text", "qas": [{"query_id", "query_text",
    "answers": [text]}]}`` with one paragraph a record.
    The passage id is the set's own (``id`` of CMRC, ``context_id`` of Quoref), else
    ``<title>#<paragraph, from 0>``. The title is the document.
    The first answer is taken; further ones are other annotators' wordings and are left out.
    ``answer_start`` is not used: 200 offsets of CMRC 2018 do not point at the answer.
    ``is_impossible`` questions (SQuAD 2.0) have no gold and the label ``unanswerable``.
    DROP: ``{passage id: {"passage", "qa_pairs": [{"query_id", "question", "answer": {"number",
    "spans", "date"}}]}}``; several spans are joined by "; ".

Sources: Rajpurkar et al. 2016 and 2018, Cui et al. 2019, Dasigi et al. 2019, Dua et al. 2019.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mtrlib.data.formats.base import Format, fields, head, records
from mtrlib.data.jsonl import text_id
from mtrlib.data.schema import Conversation, Passage, Turn
from mtrlib.errors import InputError

Question = tuple[str, str, str, bool]  # id, question, answer, answerable


def read_passages(path: Path | str) -> Iterator[Passage]:
    """Paragraphs of a SQuAD-like file.

    Raises
    ------
    InputError
        A required field is missing or of another type; file and record are named.
    """
    for passage, _ in _squad(Path(path)):
        yield passage


def read_conversations(path: Path | str) -> Iterator[Conversation]:
    """Questions of a SQuAD-like file, one conversation each.

    Raises
    ------
    InputError
        As :func:`read_passages`.
    """
    yield from _conversations(_squad(Path(path)))


def read_drop_passages(path: Path | str) -> Iterator[Passage]:
    """Passages of a DROP file.

    Raises
    ------
    InputError
        As :func:`read_passages`.
    """
    for passage, _ in _drop(Path(path)):
        yield passage


def read_drop_conversations(path: Path | str) -> Iterator[Conversation]:
    """Questions of a DROP file, one conversation each.

    Raises
    ------
    InputError
        As :func:`read_passages`.
    """
    yield from _conversations(_drop(Path(path)))


def _conversations(
    found: Iterator[tuple[Passage, list[Question]]],
) -> Iterator[Conversation]:
    for passage, questions in found:
        for query_id, question, answer, answerable in questions:
            turn = Turn(
                query_id,
                query_id,
                1,
                question,
                gold=(passage.passage_id,) if answerable else (),
                answer=answer or None,
                labels=() if answerable else ("unanswerable",),
                source=f"{passage.source}/{query_id}",
            )
            yield Conversation(query_id, (turn,))


def _squad(path: Path) -> Iterator[tuple[Passage, list[Question]]]:
    for source, record in records(path):
        title = str(record.get("title") or "")
        if "paragraphs" in record:
            (paragraphs,) = fields(record, source, path, "paragraphs", kinds=(list,))
        else:
            paragraphs = [record]
        for place, paragraph in enumerate(paragraphs):
            where = f"{source}/{place}" if "paragraphs" in record else source
            name = "context" if "context" in paragraph else "context_text"
            text, qas = fields(paragraph, where, path, name, "qas")
            given = paragraph.get("context_id", paragraph.get("id"))
            if given is None and not title:
                raise InputError(
                    f"{path}: {where}: a paragraph without id in an article without title. "
                    "Mend: add an id to the paragraph."
                )
            passage_id = f"{title}#{place}" if given is None else text_id(given, path, None, "id")
            yield (
                Passage(passage_id, text, title, document=title, source=where),
                [_question(qa, where, path) for qa in qas],
            )


def _question(qa: dict[str, Any], source: str, path: Path) -> Question:
    names = ("id", "question") if "question" in qa else ("query_id", "query_text")
    given, question = fields(qa, source, path, *names)
    answers = [a["text"] if isinstance(a, dict) else str(a) for a in qa.get("answers") or []]
    answerable = not qa.get("is_impossible", False)
    return (
        text_id(given, path, None, names[0]),
        str(question),
        next(iter(answers), "") if answerable else "",
        answerable,
    )


def _drop(path: Path) -> Iterator[tuple[Passage, list[Question]]]:
    for source, record in records(path):
        key, text, pairs = fields(record, source, path, "_key", "passage", "qa_pairs")
        questions = []
        for pair in pairs:
            query_id, question = fields(pair, source, path, "query_id", "question", kinds=(str,))
            questions.append((query_id, question, _drop_answer(pair.get("answer") or {}), True))
        yield Passage(key, text, source=source), questions


def _drop_answer(answer: dict[str, Any]) -> str:
    date = answer.get("date") or {}
    parts = [str(date[k]) for k in ("day", "month", "year") if date.get(k)]
    spans = "; ".join(answer.get("spans") or [])
    return str(answer.get("number") or "") or spans or " ".join(parts)


def _recognises_squad(path: Path) -> bool:
    if path.suffix not in (".json", ".jsonl"):
        return False
    start = head(path, 1 << 16)
    paragraph = ('"context"' in start and '"paragraphs"' in start) or '"context_text"' in start
    conversational = '"followup"' in start or "CANNOTANSWER" in start  # QuAC
    return paragraph and '"qas"' in start and not conversational


def _recognises_drop(path: Path) -> bool:
    start = head(path, 1 << 16) if path.suffix == ".json" else ""
    return '"qa_pairs"' in start and '"passage"' in start


FORMAT = Format(
    name="squad",
    title="SQuAD 1.1 and 2.0, CMRC 2018, Quoref: paragraphs and their questions",
    seen="real record",
    recognises=_recognises_squad,
    passages=read_passages,
    conversations=read_conversations,
)
FORMAT_DROP = Format(
    name="drop",
    title="DROP: passages and questions that ask for counting and comparing",
    seen="real record",
    recognises=_recognises_drop,
    passages=read_drop_passages,
    conversations=read_drop_conversations,
)
FORMATS = (FORMAT, FORMAT_DROP)
