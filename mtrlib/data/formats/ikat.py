"""TREC iKAT 2023 to 2025: personalised conversations over ClueWeb22.

A JSON list of topics; the layouts differ by year:

==== ================= ========== ================ ==================== =================
year number            turns in   utterance        gold                 personal facts
==== ================= ========== ================ ==================== =================
2023 ``"9-1"``         turns      utterance        response_provenance  object, number -> text
2024 ``0``             turns      utterance        response_provenance  object, number -> text
2025 ``"1-1"``         responses  user_utterance   citations            list of texts
==== ================= ========== ================ ==================== =================

The passages are ClueWeb22 and need a signed licence; for 2023 the organisers' repository has
``*_topics_psg_text.jsonl`` with those behind the responses. Follows a description.
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

_TOPIC = {"number", "title", "ptkb", "turns", "responses", "_key"}
_UTTERANCE = ("utterance", "user_utterance")
_GOLD = ("response_provenance", "citations", "provenance")


def conversations(path: Path) -> Iterator[Conversation]:
    """One conversation per topic; query ids as in the official judgements.

    ``<number>_<turn_id>`` is the query id, ``resolved_utterance`` the rewrite, the passages
    behind the response are the gold (often none: the system asks back). The personal facts
    (``ptkb``) and which of them matter have no place in the schema and are left out.

    Raises
    ------
    InputError
        A topic with unknown or missing fields, or turn ids out of order.
    """
    FORMAT.notice()
    for source, record in records(path):
        number, _ = fields(record, source, path, "number", "ptkb")
        name = text_id(number, path, None, f"{source}: number")
        unknown = sorted(record.keys() - _TOPIC)
        lists = [record[k] for k in ("turns", "responses") if isinstance(record.get(k), list)]
        if unknown or len(lists) != 1:
            problem = f"unknown field {unknown[0]!r}" if unknown else "not one list of turns"
            raise InputError(
                f"{path}: {source}: {problem}. Mend: topics of 2023 to 2025 have {sorted(_TOPIC)}."
            )
        said: list[Utterance] = []
        turns = []
        for index, turn in enumerate(objects(lists[0], source, path)):
            turns.append(_turn(name, turn, said, f"{source}/{index}", path))
            if index and turns[-1].turn_number <= turns[-2].turn_number:
                raise InputError(
                    f"{path}: {source}/{index}: turn_id {turns[-1].turn_number} is out of order. "
                    "Mend: order the turns."
                )
            said += spoken(turns[-1])
        yield Conversation(name, tuple(turns))


def passages(path: Path) -> Iterator[Passage]:
    """Passages of a ``*_psg_text.jsonl`` file; the id is ``<doc_id>:<passage_id>``.

    Raises
    ------
    InputError
        A field is missing or mistyped.
    """
    FORMAT_PASSAGES.notice()
    for source, record in records(path):
        document, text = fields(record, source, path, "doc_id", "passage_text", kinds=(str,))
        (part,) = fields(record, source, path, "passage_id", kinds=(str, int))
        yield Passage(f"{document}:{part}", text, document=document, source=source)


def _turn(name: str, turn: dict[str, Any], said: list[Utterance], where: str, path: Path) -> Turn:
    (number,) = fields(turn, where, path, "turn_id", kinds=(int,))
    utterance = _one_of(turn, _UTTERANCE, str, where, path)
    gold = [text_id(p, path, None, where) for p in _one_of(turn, _GOLD, list, where, path)]
    resolved, response = fields(
        turn, where, path, "resolved_utterance", "response", kinds=(str, type(None))
    )
    return Turn(
        query_id=f"{name}_{number}",
        conversation_id=name,
        turn_number=number,
        raw_utterance=utterance,
        history=tuple(said),
        gold=tuple(dict.fromkeys(gold)),
        rewrite=resolved or None,
        answer=response or None,
        source=where,
    )


def _one_of(
    turn: dict[str, Any], names: tuple[str, ...], kind: type, where: str, path: Path
) -> Any:
    present = [n for n in names if n in turn]
    if len(present) != 1:
        raise InputError(
            f"{path}: {where}: {len(present)} of the fields {', '.join(names)}, expected one. "
            "Mend: use the topics as published."
        )
    return fields(turn, where, path, present[0], kinds=(kind,))[0]


def _recognises(path: Path) -> bool:
    opening = head(path) if path.suffix == ".json" else ""
    return opening.lstrip().startswith("[") and '"ptkb"' in opening


def _recognises_passages(path: Path) -> bool:
    opening = head(path) if path.suffix == ".jsonl" else ""
    return '"doc_id"' in opening and '"passage_id"' in opening and '"passage_text"' in opening


FORMAT = Format(
    "ikat",
    "TREC iKAT topics 2023, 2024, 2025",
    "description only",
    _recognises,
    conversations=conversations,
)
FORMAT_PASSAGES = Format(
    "ikat-passages",
    "TREC iKAT texts of the passages behind the responses",
    "description only",
    _recognises_passages,
    passages=passages,
)
FORMATS = (FORMAT, FORMAT_PASSAGES)
