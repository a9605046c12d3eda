"""TopiOCQA: information-seeking conversations over Wikipedia that change their topic.

A JSON list or JSON Lines, one object per turn: ``Conversation_no``, ``Turn_no``, ``Context``
(question, answer, ...), ``Question``, ``Answer``, ``Topic``, ``Gold_passage`` ``{id, title,
text}``. The corpus is ``full_wiki_segments.tsv`` with the columns id, text, title; titles are
``Article [SEP] Section``. Its ids are bare numbers to which the set's own readers add ``wiki:``,
as the gold has it; so does this one.

A turn whose ``Topic`` differs from that of the turn before has the label ``topic_switch``; the
first such turn is the conversation's ``topic_switch_turn``. Left out: ``Additional_answers``
(three more people's, no passage is named), ``Topic_section``, ``Rationale``.
Addresses: zenodo.org/records/7709644 (questions), zenodo.org/records/6149599 (corpus).
"""

from __future__ import annotations

import csv
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mtrlib.data.formats.base import Format, alternating, fields, head, records
from mtrlib.data.formats.grouping import by_number
from mtrlib.data.formats.nested import json_head, names_all
from mtrlib.data.jsonl import read_text_lines, text_id
from mtrlib.data.schema import Conversation, Passage, Turn
from mtrlib.errors import InputError

_SEPARATOR = " [SEP] "
_UNANSWERABLE = "UNANSWERABLE"
_ONE_RECORD = 1 << 20  # a file of one bare object is not larger


def passages(path: Path) -> Iterator[Passage]:
    """Read ``full_wiki_segments.tsv``, quoted as CSV files are; its article is the document.

    Raises
    ------
    InputError
        A row without exactly three columns, or broken quotes; file and line are named.
    """
    FORMAT_CORPUS.notice()
    lines = (f"{line}\n" for _, line in read_text_lines(path))
    rows = csv.reader(lines, delimiter="\t", strict=True)
    try:
        for row in rows:
            if len(row) != 3:
                raise InputError.at(
                    path, rows.line_num, f"{len(row)} columns, expected 3", "id, text, title"
                )
            number, text, title = row
            if rows.line_num == 1 and number == "id":
                continue
            article, *section = title.split(_SEPARATOR)
            key = text_id(number, path, rows.line_num, "id")
            yield Passage(
                key if key.startswith("wiki:") else f"wiki:{key}",
                text,
                article,
                tuple(section),
                document=article,
                source=f"{path.name}:{rows.line_num}",
            )
    except csv.Error as error:
        raise InputError.at(path, rows.line_num, str(error), "fetch the file again") from None


def conversations(path: Path, *, contiguous: bool = True) -> Iterator[Conversation]:
    """Read ``topiocqa_train.json`` or ``topiocqa_dev.json``, also one bare record.

    Raises
    ------
    InputError
        A field is missing or of the wrong kind, or rows of one conversation are apart (see
        :func:`mtrlib.data.formats.grouping.by_number`).
    """
    topics: dict[str, str] = {}  # of the conversation that is being read
    turns = (_turn(record, source, path, topics) for source, record in _records(path))
    for conversation in by_number(turns, path, contiguous=contiguous):
        yield _with_switches(conversation, topics)


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if head(path).lstrip().startswith("{") and path.stat().st_size <= _ONE_RECORD:
        try:
            yield path.name, json.loads(path.read_text(encoding="utf-8-sig"))
            return
        except json.JSONDecodeError:
            pass  # JSON Lines
    yield from records(path)


def _turn(record: dict[str, Any], source: str, path: Path, topics: dict[str, str]) -> Turn:
    (number,) = fields(record, source, path, "Turn_no", kinds=[int])
    (context,) = fields(record, source, path, "Context", kinds=[list])
    question, answer, topic = fields(
        record, source, path, "Question", "Answer", "Topic", kinds=[str]
    )
    (conversation,) = fields(record, source, path, "Conversation_no")
    key = text_id(conversation, path, None, f"{source}: Conversation_no")
    passage = record.get("Gold_passage") or {}
    if not isinstance(passage, dict):
        raise InputError(f"{path}: {source}: Gold_passage is no object. Mend: see the format.")
    gold = [passage["id"]] if passage.get("id") else []
    topics[source] = topic
    unanswerable = answer.strip() == _UNANSWERABLE
    return Turn(
        query_id=f"{key}_{number}",
        conversation_id=key,
        turn_number=number,
        raw_utterance=question,
        history=tuple(u for u in alternating(context) if u.text.strip()),
        gold=tuple(text_id(g, path, None, f"{source}: gold") for g in gold),
        gold_texts=(passage["text"],) if passage.get("text") and not gold else (),
        answer=None if unanswerable else answer or None,
        labels=("unanswerable",) if unanswerable else (),
        source=source,
    )


def _with_switches(conversation: Conversation, topics: dict[str, str]) -> Conversation:
    of_turn = [topics.pop(t.source) for t in conversation.turns]
    changed = [i for i in range(1, len(of_turn)) if of_turn[i] != of_turn[i - 1]]
    turns = tuple(
        dataclasses.replace(t, labels=(*t.labels, "topic_switch")) if i in changed else t
        for i, t in enumerate(conversation.turns)
    )
    start = turns[changed[0]].turn_number if changed else None
    return Conversation(conversation.conversation_id, turns, start)


def _is_questions(path: Path) -> bool:
    start = json_head(path)
    return names_all(start, "Conversation_no", "Turn_no", "Question") and any(
        f'"{n}"' in start for n in ("Gold_passage", "Topic_section", "is_nq")
    )


def _is_corpus(path: Path) -> bool:
    start = head(path)
    return "\t" in start and (
        path.name.startswith("full_wiki_segments")
        or (start.startswith("id\ttext\ttitle") and _SEPARATOR in start)
    )


FORMAT = Format(
    name="topiocqa",
    title="TopiOCQA questions",
    seen="real record",
    recognises=_is_questions,
    conversations=conversations,
)
FORMAT_CORPUS = Format(
    name="topiocqa-corpus",
    title="TopiOCQA corpus, full_wiki_segments.tsv",
    seen="description only",
    recognises=_is_corpus,
    passages=passages,
)
FORMATS = (FORMAT, FORMAT_CORPUS)
