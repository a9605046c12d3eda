"""CORAL: multi-turn conversations over Wikipedia (Cheng and others, 2024).

``*_conversation.json`` holds ``{conv_id, turns}`` as one JSON array or as JSON Lines (both are
about), each turn with ``turn_id, question, response, golden_rewrite, golden_docs_pids,
golden_docs_text``; ``passage_corpus.json`` is JSON Lines of ``{ref_id, ref_string}``.

Format facts: gold pids are whole numbers that count passages **from 1**, and so does
``ref_id``. A corpus that starts at 0 would shift every gold passage by one and is refused; a
cut corpus is fine as long as its ids still grow. Follows a description.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mtrlib.data.formats.base import Format, fields, head, records
from mtrlib.data.formats.conversational import objects, spoken
from mtrlib.data.jsonl import text_id
from mtrlib.data.schema import Conversation, Passage, Turn, Utterance
from mtrlib.errors import InputError


def conversations(path: Path) -> Iterator[Conversation]:
    """Conversations of a file, or of the only ``*conversation*.json*`` in a folder.

    The query id is ``<conv_id>_<turn_id>`` as in the set's own judgements. Where a turn has
    gold texts and no pids, the texts go to ``gold_texts``; otherwise the pids are the gold.

    Raises
    ------
    InputError
        A field is missing or mistyped, or a pid is below 1.
    """
    FORMAT.notice()
    path = _only(path, "*conversation*.json*")
    for source, record in records(path):
        name, turns = fields(record, source, path, "conv_id", "turns")
        name = text_id(name, path, None, f"{source}: conv_id")
        said: list[Utterance] = []
        found = []
        for index, turn in enumerate(objects(turns, source, path)):
            where = f"{source}/{index}"
            found.append(_turn(name, index + 1, turn, said, where, path))
            said += spoken(found[-1])
        yield Conversation(name, tuple(found))


def passages(path: Path) -> Iterator[Passage]:
    """Passages of the corpus file, or of the only ``*corpus*.json*`` in a folder.

    Raises
    ------
    InputError
        Ids that do not count upwards from 1 (or later, in a cut corpus), or no text.
    """
    FORMAT_CORPUS.notice()
    path = _only(path, "*corpus*.json*")
    last = 0
    for source, record in records(path):
        number, text = fields(record, source, path, "ref_id", "ref_string")
        number = _whole(number, "ref_id", source, path)
        if not isinstance(text, str):
            raise InputError(f"{path}: {source}: ref_string is no text. Mend: see the format.")
        if number <= last:
            raise InputError(
                f"{path}: {source}: ref_id {number} after {last}; gold pids count passages from 1. "
                "Mend: use the published passage_corpus.json, or number its passages from 1."
            )
        last = number
        yield Passage(str(number), text, source=source)


def _turn(
    name: str, number: int, turn: dict[str, Any], said: list[Utterance], where: str, path: Path
) -> Turn:
    question, response = fields(turn, where, path, "question", "response", kinds=(str,))
    turn_id, pids = fields(turn, where, path, "turn_id", "golden_docs_pids")
    if not isinstance(pids, list):
        raise InputError(f"{path}: {where}: golden_docs_pids is no list. Mend: see the format.")
    gold = []
    for pid in pids:
        gold.append(_whole(pid, "golden_docs_pids", where, path))
        if gold[-1] < 1:
            raise InputError(
                f"{path}: {where}: pid {pid} is below 1; pids count passages from 1. "
                "Mend: add 1 to every pid, or use the published file."
            )
    return Turn(
        query_id=f"{name}_{_whole(turn_id, 'turn_id', where, path)}",
        conversation_id=name,
        turn_number=number,
        raw_utterance=question,
        history=tuple(said),
        gold=tuple(dict.fromkeys(map(str, gold))),
        rewrite=turn.get("golden_rewrite") or None,
        answer=response or None,
        gold_texts=() if gold else tuple(map(str, turn.get("golden_docs_text") or ())),
        source=where,
    )


def _whole(value: Any, name: str, where: str, path: Path) -> int:
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise InputError(f"{path}: {where}: {name} {value!r} is no whole number. Mend: see the format.")


def _only(path: Path, pattern: str) -> Path:
    if not path.is_dir():
        return path
    found = sorted(path.glob(pattern))
    if len(found) != 1:
        names = ", ".join(p.name for p in found) or "none"
        raise InputError.at(path, None, f"{pattern}: {names}", "name the one file to read")
    return found[0]


def _recognises(path: Path) -> bool:
    opening = head(path) if path.suffix in (".json", ".jsonl") else ""
    return '"conv_id"' in opening and '"turns"' in opening


def _recognises_corpus(path: Path) -> bool:
    opening = head(path) if path.suffix in (".json", ".jsonl") else ""
    return '"ref_id"' in opening and '"ref_string"' in opening


FORMAT = Format(
    "coral",
    "CORAL conversations (JSON array or JSON Lines)",
    "description only",
    _recognises,
    conversations=conversations,
)
FORMAT_CORPUS = Format(
    "coral-corpus",
    "CORAL passages",
    "description only",
    _recognises_corpus,
    passages=passages,
)
FORMATS = (FORMAT, FORMAT_CORPUS)
