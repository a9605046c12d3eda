"""QReCC: questions of TREC CAsT, QuAC and Natural Questions with human rewrites.

A JSON list, one object per turn: ``Conversation_no``, ``Turn_no``, ``Context`` (question,
answer, question, ...), ``Question``, ``Conversation_source``, and under two namings the rewrite
and the answer: ``Truth_rewrite``, ``Truth_answer``, ``Truth_passages`` in the Zenodo files,
``Rewrite``, ``Answer`` in the repository's. Only the former name gold passages (an address with
``_p<N>``), and for less than half of the training turns; the rest keeps empty gold.
``Answer_URL`` names a page, not a passage, and is left out, as is ``Transformer_rewrite``.
Addresses: github.com/apple/ml-qrecc, zenodo.org/records/4748782 (with the passages).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mtrlib.data.formats.base import Format, alternating, fields, records
from mtrlib.data.formats.grouping import by_number
from mtrlib.data.formats.nested import json_head, names_all
from mtrlib.data.jsonl import text_id
from mtrlib.data.schema import Conversation, Turn
from mtrlib.errors import InputError


def conversations(path: Path, *, contiguous: bool = True) -> Iterator[Conversation]:
    """Read ``qrecc_train.json`` or ``qrecc_test.json``; the conversation's source is a label.

    Raises
    ------
    InputError
        A field is missing or of the wrong kind, or rows of one conversation are apart (see
        :func:`mtrlib.data.formats.grouping.by_number`).
    """
    turns = (_turn(record, source, path) for source, record in records(path))
    yield from by_number(turns, path, contiguous=contiguous)


def _turn(record: dict[str, Any], source: str, path: Path) -> Turn:
    (number,) = fields(record, source, path, "Turn_no", kinds=[int])
    (context,) = fields(record, source, path, "Context", kinds=[list])
    (question,) = fields(record, source, path, "Question", kinds=[str])
    (conversation,) = fields(record, source, path, "Conversation_no")
    rewrite = record.get("Truth_rewrite", record.get("Rewrite"))
    if not isinstance(rewrite, str):
        raise InputError(
            f"{path}: {source}: neither Truth_rewrite nor Rewrite is a text. "
            "Mend: check that the file is of this format and version."
        )
    passages = record.get("Truth_passages") or []
    if not isinstance(passages, list):
        raise InputError(f"{path}: {source}: Truth_passages is no list. Mend: see the format.")
    key = text_id(conversation, path, None, f"{source}: Conversation_no")
    return Turn(
        query_id=f"{key}_{number}",
        conversation_id=key,
        turn_number=number,
        raw_utterance=question,
        history=tuple(u for u in alternating(context) if u.text.strip()),
        gold=tuple(dict.fromkeys(text_id(p, path, None, f"{source}: gold") for p in passages)),
        rewrite=rewrite or None,
        answer=record.get("Truth_answer", record.get("Answer")) or None,
        labels=tuple(filter(None, [record.get("Conversation_source")])),
        source=source,
    )


def _is_qrecc(path: Path) -> bool:
    start = json_head(path)
    return names_all(start, "Conversation_no", "Turn_no", "Question") and any(
        f'"{n}"' in start for n in ("Truth_rewrite", "Conversation_source", "Answer_URL")
    )


FORMAT = Format(
    name="qrecc",
    title="QReCC questions with human rewrites (both field namings)",
    seen="real record",
    recognises=_is_qrecc,
    conversations=conversations,
)
FORMATS = (FORMAT,)
