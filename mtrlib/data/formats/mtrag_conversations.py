"""Whole conversations of MTRAG, and what they share with its tasks: contexts and labels.

A JSON list; a record has ``messages`` (``speaker``, ``text``; the user's with ``enrichments``,
the agent's with ``contexts``, whose ``feedback`` says who found them relevant), ``author``,
``retriever`` and more. Follows a description.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mtrlib.data.formats.base import Format, fields, head, records
from mtrlib.data.formats.conversational import objects, once
from mtrlib.data.jsonl import text_id
from mtrlib.data.schema import Conversation, Passage, Turn, Utterance
from mtrlib.errors import InputError

_LABELS = ("answerability", "question type", "multi-turn", "standalone type", "ambiguity type")


def conversations(path: Path) -> Iterator[Conversation]:
    """Whole conversations, a turn per message of the user.

    ``gold`` are the contexts of the reply that any annotator marked relevant,
    ``gold_by_annotator`` keeps the annotators apart (in the order of their ids; the ids are
    not kept). The file names neither conversations nor turns: ids are ``<file>#<index>`` and
    ``<file>#<index>_<turn>`` and do not meet those of the task files.

    Raises
    ------
    InputError
        A field is missing, an unknown speaker, or two messages of one side in a row.
    """
    FORMAT_CONVERSATIONS.notice()
    for index, (source, record) in enumerate(records(path)):
        (messages,) = fields(record, source, path, "messages")
        messages = objects(messages, source, path)
        name = f"{path.stem}#{index}"
        turns: list[Turn] = []
        said: list[Utterance] = []
        for place, message in enumerate(messages):
            where = f"{source}/{place}"
            speaker, text = fields(message, where, path, "speaker", "text", kinds=(str,))
            if speaker != ("user", "agent")[place % 2]:
                raise InputError(
                    f"{path}: {where}: {speaker!r} speaks out of turn. Mend: user and agent "
                    "alternate, the user first."
                )
            if speaker == "user":
                reply = messages[place + 1] if place + 1 < len(messages) else {}
                turns.append(_turn(name, len(turns) + 1, message, reply, said, where, path))
            said.append(Utterance("user" if speaker == "user" else "agent", text))
        yield Conversation(name, tuple(turns))


def passages(path: Path) -> Iterator[Passage]:
    """Every context of the replies, relevant or not, once each.

    Raises
    ------
    InputError
        A context without id or text, or one id with two texts.
    """
    FORMAT_CONVERSATIONS.notice()

    def every() -> Iterator[Passage]:
        for source, record in records(path):
            (messages,) = fields(record, source, path, "messages")
            for message in objects(messages, source, path):
                yield from contexts(message.get("contexts"), source, path)

    return once(every(), path)


def _turn(
    name: str,
    number: int,
    message: dict[str, Any],
    reply: dict[str, Any],
    said: Sequence[Utterance],
    where: str,
    path: Path,
) -> Turn:
    marked: dict[str, list[str]] = {}
    for item in objects(reply.get("contexts") or [], where, path):
        (passage_id,) = fields(item, where, path, "document_id")
        passage_id = text_id(passage_id, path, None, f"{where}: document_id")
        for annotator, said_of in ((item.get("feedback") or {}).get("relevant") or {}).items():
            chosen = marked.setdefault(annotator, [])
            if said_of.get("value") == "yes" and passage_id not in chosen:
                chosen.append(passage_id)
    by_annotator = tuple(tuple(marked[a]) for a in sorted(marked))
    return Turn(
        query_id=f"{name}_{number}",
        conversation_id=name,
        turn_number=number,
        raw_utterance=str(message["text"]),
        history=tuple(said),
        gold=tuple(dict.fromkeys(p for ids in by_annotator for p in ids)),
        answer=reply.get("text"),
        labels=labels(message.get("enrichments") or {}),
        gold_by_annotator=by_annotator,
        source=where,
    )


def contexts(items: Any, source: str, path: Path) -> Iterator[Passage]:
    """Contexts of a task or reply as passages; a title may be missing."""
    for item in objects(items or [], source, path):
        name, text = fields(item, source, path, "document_id", "text")
        if not isinstance(text, str):
            raise InputError(f"{path}: {source}: context {name} has no text. Mend: see the format.")
        name = text_id(name, path, None, f"{source}: document_id")
        yield Passage(name, text, str(item.get("title") or ""), source=source)


def labels(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Answerability, question types and the like; "N/A" and NaN are none."""
    found: list[Any] = []
    for key, value in record.items():
        if key.lower() in _LABELS:
            found += value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(x for x in found if isinstance(x, str) and x not in ("", "N/A")))


def _is_conversations(path: Path) -> bool:
    opening = head(path, 1 << 16) if path.suffix == ".json" else ""
    return opening.lstrip().startswith("[") and all(
        f'"{key}"' in opening for key in ("messages", "speaker", "retriever")
    )


FORMAT_CONVERSATIONS = Format(
    "mtrag-conversations",
    "MTRAG conversations with the annotators' feedback",
    "description only",
    _is_conversations,
    passages=passages,
    conversations=conversations,
)
FORMATS = (FORMAT_CONVERSATIONS,)
