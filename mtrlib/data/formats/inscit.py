"""INSCIT: information-seeking conversations with mixed initiative (Wu and others, TACL 2023).

``dev.json`` is one object, conversation id -> ``{seedArticle, turns}``. A turn holds ``context``
(texts that alternate user and agent and end with the question), ``prevEvidence`` (per earlier
turn the passages behind the agent's reply) and ``labels`` (one or two annotators, each with
``responseType``, ``response`` and ``evidence``).

Format facts: passage ids such as ``Some article:12`` hold spaces and non-ASCII letters and are
never split; ``passage_titles`` goes from the article down to the innermost heading and is empty
for some passages; HTML entities in texts stay as they are. The set has no query ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mtrlib.data.formats.base import Format, alternating, fields, head, records
from mtrlib.data.formats.conversational import objects, once
from mtrlib.data.jsonl import text_id
from mtrlib.data.schema import Conversation, Passage, Turn
from mtrlib.errors import InputError


def conversations(path: Path) -> Iterator[Conversation]:
    """Conversations with the gold of each annotator and their union.

    The query id is ``<conversation>_<turn>``. ``gold_by_annotator`` has one entry per
    annotator, also for one alone and also where an annotator marked nothing. ``gold`` is the
    union in the order of first mention, ``answer`` the first annotator's response (others are
    dropped), ``labels`` the distinct response types.

    Raises
    ------
    InputError
        A field is missing or mistyped, or a context does not end with the user.
    """
    for source, record in records(path):
        (turns,) = fields(record, source, path, "turns")
        turns, name = objects(turns, source, path), record["_key"]
        yield Conversation(
            name,
            tuple(_turn(name, n, t, f"{source}/{n - 1}", path) for n, t in enumerate(turns, 1)),
        )


def passages(path: Path) -> Iterator[Passage]:
    """Every passage of ``evidence`` and ``prevEvidence``, once; a closed corpus for the file.

    Raises
    ------
    InputError
        One id comes with two texts, or a field is missing.
    """
    return once(_all_passages(path), path)


def _all_passages(path: Path) -> Iterator[Passage]:
    for source, record in records(path):
        (turns,) = fields(record, source, path, "turns")
        for index, turn in enumerate(objects(turns, source, path)):
            where = f"{source}/{index}"
            for item in _evidence(turn, where, path):
                yield _passage(item, where, path)


def _evidence(turn: dict[str, Any], where: str, path: Path) -> Iterator[dict[str, Any]]:
    earlier, labels = fields(turn, where, path, "prevEvidence", "labels", kinds=(list,))
    for group in earlier:
        yield from objects(group, where, path)
    for label in objects(labels, where, path):
        (group,) = fields(label, where, path, "evidence")
        yield from objects(group, where, path)


def _turn(conversation: str, number: int, record: dict[str, Any], where: str, path: Path) -> Turn:
    context, labels = fields(record, where, path, "context", "labels", kinds=(list,))
    if len(context) % 2 == 0:
        raise InputError(
            f"{path}: {where}: context has {len(context)} texts and so does not end with the "
            "user. Mend: a context alternates user and agent and ends with the question."
        )
    marked, types = [], []
    for label in objects(labels, where, path):
        (evidence,) = fields(label, where, path, "evidence")
        ids = []
        for item in objects(evidence, where, path):
            (passage_id,) = fields(item, where, path, "passage_id")
            ids.append(text_id(passage_id, path, None, f"{where}: passage_id"))
        marked.append(tuple(dict.fromkeys(ids)))
        types.append(str(label.get("responseType") or ""))
    return Turn(
        query_id=f"{conversation}_{number}",
        conversation_id=conversation,
        turn_number=number,
        raw_utterance=str(context[-1]),
        history=alternating(context[:-1]),
        gold=tuple(dict.fromkeys(p for ids in marked for p in ids)),
        answer=labels[0].get("response") if labels else None,
        labels=tuple(dict.fromkeys(filter(None, types))),
        gold_by_annotator=tuple(marked),
        source=where,
    )


def _passage(item: dict[str, Any], where: str, path: Path) -> Passage:
    passage_id, text = fields(item, where, path, "passage_id", "passage_text", kinds=(str,))
    titles = [str(t) for t in item.get("passage_titles") or []]
    title = titles[0] if titles else ""
    return Passage(passage_id, text, title, tuple(titles[1:]), document=title, source=where)


def _recognises(path: Path) -> bool:
    opening = head(path) if path.suffix == ".json" else ""
    return opening.lstrip().startswith("{") and '"seedArticle"' in opening


FORMAT = Format(
    "inscit",
    "INSCIT conversations (original JSON)",
    "real record",
    _recognises,
    passages=passages,
    conversations=conversations,
)
FORMATS = (FORMAT,)
