"""A corpus as JSON Lines with ``id`` or ``_id``, ``text``, ``title``: BEIR and plain layouts."""

from __future__ import annotations

from pathlib import Path

from mtrlib.data.jsonl import read_jsonl, text_id
from mtrlib.data.schema import Passage
from mtrlib.errors import InputError


def read_corpus(path: Path | str) -> tuple[Passage, ...]:
    """Read passages; an empty text is allowed (it is never a hit).

    Raises
    ------
    InputError
        A record without id or text, or two texts under one id (also when ``12`` and
        ``"12"`` meet after ids became text); both lines are named.
    """
    seen: dict[str, tuple[int, str]] = {}
    passages = []
    for line, record in read_jsonl(path):
        passage_id = text_id(record.get("_id", record.get("id")), path, line, "id")
        text = record.get("text")
        if not isinstance(text, str):
            raise InputError.at(path, line, f"passage {passage_id} has no text", "add a text field")
        if passage_id in seen:
            other, known = seen[passage_id]
            what = "the same text twice" if known == text else "two texts"
            raise InputError.at(
                path, line, f"id {passage_id} has {what} (first in line {other})", "keep one record"
            )
        seen[passage_id] = (line, text)
        title = record.get("title") or ""
        passages.append(Passage(passage_id, text, str(title), tuple(record.get("section") or ())))
    if not passages:
        raise InputError.at(path, None, "no passages", "one JSON object per line")
    return tuple(passages)
