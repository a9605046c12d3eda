"""Read the authored sets as they are stored: one JSON object a line, no text of passages."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mtrlib import paths
from mtrlib.data.jsonl import read_jsonl
from mtrlib.errors import InputError

Record = dict[str, Any]


@dataclass
class Authored:
    """All authored records. Lists keep the order of their files.

    Attributes
    ----------
    conversations : of mtr-mini, each with its turns.
    questions : of list-mini.
    rewrites : of rewrites-mini, by query id ``<conversation_id>_<turn_number>``.
    judged : by set name (``mtr-mini``, ``list-mini``), then query or question id: the pooled
        passages, each ``passage_id, decision, by, reason``.
    items, ratings : of judgements-mini.
    rule_audit : the sample of rule rejects that was read afterwards.
    """

    conversations: list[Record] = field(default_factory=list)
    questions: list[Record] = field(default_factory=list)
    rewrites: dict[str, Record] = field(default_factory=dict)
    judged: dict[str, dict[str, list[Record]]] = field(default_factory=dict)
    items: list[Record] = field(default_factory=list)
    ratings: list[Record] = field(default_factory=list)
    rule_audit: Record = field(default_factory=dict)

    def turns(self) -> Iterator[tuple[str, Record, Record]]:
        """``(query id, conversation, turn)`` of every turn."""
        for conversation in self.conversations:
            for turn in conversation["turns"]:
                yield f"{conversation['conversation_id']}_{turn['turn_number']}", conversation, turn


def folder() -> Path:
    """``data/authored``."""
    return paths.root() / "data" / "authored"


def load_authored() -> Authored:
    """Read every authored file of the repository that exists.

    Raises
    ------
    InputError
        A line that is not JSON, or one query id twice; file and line are named.
    """
    base = folder()
    found = Authored(
        conversations=_list(base / "mtr-mini" / "conversations.jsonl"),
        questions=_list(base / "list-mini" / "questions.jsonl"),
        items=_list(base / "judgements-mini" / "items.jsonl"),
        ratings=_list(base / "judgements-mini" / "ratings.jsonl"),
    )
    audit = base / "mtr-mini" / "rule_audit.json"
    if audit.is_file():
        found.rule_audit = json.loads(audit.read_text(encoding="utf-8"))
    path = base / "rewrites-mini" / "rewrites.jsonl"
    for record in _list(path):
        if record["query_id"] in found.rewrites:
            raise InputError.at(path, None, f"{record['query_id']} occurs twice", "keep one record")
        found.rewrites[record["query_id"]] = record
    for name in ("mtr-mini", "list-mini"):
        path = base / name / "judged.jsonl.gz"
        found.judged[name] = {r["query_id"]: r["pooled"] for r in _read_judged(path)}
    return found


def _list(path: Path) -> list[Record]:
    return [record for _, record in read_jsonl(path)] if path.is_file() else []


def _read_judged(path: Path) -> list[Record]:
    """Read a pool of judged candidates; empty where there is none yet."""
    if not path.is_file():
        return []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def write_judged(path: Path, records: list[Record]) -> None:
    """Write a pool; the bytes depend on the records alone (no time stamp in the header)."""
    text = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
