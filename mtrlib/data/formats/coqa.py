"""CoQA: conversations about a short text, with free-form answers and the span behind each.

``{"data": [...]}`` with one object per story: ``id``, ``source``, ``story``, ``questions[]``
(``input_text``, ``turn_id``), ``answers[]`` (``input_text``, ``span_text``, ``span_start``,
``turn_id``). The story is the passage; a question that can be answered (a span that starts at
0 or later) has it as gold. Left out: ``additional_answers`` (three more people's, in the
development file) and the spans. Address: stanfordnlp.github.io/coqa.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mtrlib.data.formats.base import Format, fields
from mtrlib.data.formats.nested import items_of, json_head
from mtrlib.data.jsonl import text_id
from mtrlib.data.schema import Conversation, Passage, Turn, Utterance
from mtrlib.errors import InputError


def passages(path: Path) -> Iterator[Passage]:
    """Read the stories.

    Raises
    ------
    InputError
        A field is missing or of the wrong kind; its place is named.
    """
    FORMAT.notice()
    for source, record in items_of(path, "data"):
        key, story = fields(record, source, path, "id", "story", kinds=[str])
        key = text_id(key, path, None, f"{source}: id")
        yield Passage(key, story, document=key, source=source)


def conversations(path: Path) -> Iterator[Conversation]:
    """Read the conversations; the domain of the story (``source``) is a label.

    Raises
    ------
    InputError
        A field is missing or of the wrong kind, or questions and answers do not pair up by
        ``turn_id``.
    """
    FORMAT.notice()
    for source, record in items_of(path, "data"):
        (key,) = fields(record, source, path, "id", kinds=[str])
        questions, answers = fields(record, source, path, "questions", "answers", kinds=[list])
        if [q.get("turn_id") for q in questions] != [a.get("turn_id") for a in answers]:
            raise InputError(
                f"{path}: {source}: questions and answers have other turn_ids. "
                "Mend: use the published file."
            )
        domain = [str(record["source"])] if record.get("source") else []
        history: tuple[Utterance, ...] = ()
        turns = []
        for number, (question, answer) in enumerate(zip(questions, answers, strict=True)):
            place = f"{source}/questions/{number}"
            (text,) = fields(question, place, path, "input_text", kinds=[str])
            turn_id, start = fields(answer, place, path, "turn_id", "span_start", kinds=[int])
            (reply,) = fields(answer, place, path, "input_text", kinds=[str])
            turns.append(
                Turn(
                    query_id=f"{key}_{turn_id}",
                    conversation_id=key,
                    turn_number=turn_id,
                    raw_utterance=text,
                    history=history,
                    gold=(key,) if start >= 0 else (),
                    answer=reply if start >= 0 else None,
                    labels=tuple(domain if start >= 0 else [*domain, "unanswerable"]),
                    source=place,
                )
            )
            history += (Utterance("user", text), Utterance("agent", reply))
        yield Conversation(key, tuple(turns))


def _is_coqa(path: Path) -> bool:
    start = json_head(path)
    return '"story"' in start and '"questions"' in start and '"input_text"' in start


FORMAT = Format(
    name="coqa",
    title="CoQA conversations with their stories",
    seen="description only",
    recognises=_is_coqa,
    passages=passages,
    conversations=conversations,
)
FORMATS = (FORMAT,)
