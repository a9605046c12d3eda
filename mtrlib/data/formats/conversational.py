"""The plain conversational layout: ``corpus.jsonl`` and ``queries.jsonl`` with history and gold.

A query record has ``id``, ``conversation_id``, ``turn``, ``history``, ``query``, ``gold`` and
optionally ``rewrite``, ``answer``, ``labels``. ``history`` is a list of texts that
alternate user and agent, or of objects with ``role`` and ``text``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from mtrlib.data.formats.corpus_jsonl import read_corpus
from mtrlib.data.jsonl import read_jsonl, text_id
from mtrlib.data.schema import Benchmark, Conversation, Role, Turn, Utterance
from mtrlib.errors import InputError


def read_conversational(folder: Path | str) -> Benchmark:
    """Read the layout; turns keep their published ids and are ordered by turn number.

    Raises
    ------
    InputError
        A field is missing or of the wrong kind; file, line and mend are named.
    """
    folder = Path(folder)
    path = folder / "queries.jsonl"
    turns: dict[str, list[Turn]] = {}
    for line, record in read_jsonl(path):
        turn = _turn(path, line, record)
        turns.setdefault(turn.conversation_id, []).append(turn)
    conversations = tuple(
        Conversation(c, tuple(sorted(found, key=lambda t: t.turn_number)))
        for c, found in turns.items()
    )
    return Benchmark(folder.name, read_corpus(folder / "corpus.jsonl"), conversations)


def _turn(path: Path, line: int, record: dict[str, Any]) -> Turn:
    missing = {"id", "conversation_id", "turn", "query", "gold"} - record.keys()
    if missing:
        raise InputError.at(
            path,
            line,
            f"no field {', '.join(sorted(missing))}",
            "see the layout in the module's text",
        )
    query = record["query"]
    if not isinstance(query, str) or not query.strip():
        raise InputError.at(path, line, f"query is {query!r}", "a question is non-empty text")
    if not isinstance(record["gold"], list):
        raise InputError.at(path, line, "gold is no list", "write gold as a list of passage ids")
    number = record["turn"]
    if isinstance(number, str) and number.isdecimal():
        number = int(number)
    if type(number) is not int:
        raise InputError.at(path, line, f"turn is {number!r}", "turns are numbered 1, 2, ...")
    labels = record.get("labels") or []
    gold = [text_id(g, path, line, "gold") for g in record["gold"]]
    return Turn(
        query_id=text_id(record["id"], path, line, "id"),
        conversation_id=text_id(record["conversation_id"], path, line, "conversation_id"),
        turn_number=number,
        raw_utterance=query,
        history=_history(path, line, record.get("history") or []),
        gold=tuple(dict.fromkeys(gold)),
        rewrite=record.get("rewrite"),
        answer=record.get("answer"),
        labels=tuple(x for x in labels if isinstance(x, str)),
    )


def _history(path: Path, line: int, entries: list[Any]) -> tuple[Utterance, ...]:
    if all(isinstance(e, str) for e in entries):
        if len(entries) % 2:
            raise InputError.at(
                path,
                line,
                f"history has {len(entries)} texts, so its last one is a user's without a reply",
                "write history as objects with role and text",
            )
        roles: tuple[Role, Role] = ("user", "agent")
        return tuple(Utterance(roles[i % 2], text) for i, text in enumerate(entries))
    found = []
    for entry in entries:
        role = {"assistant": "agent", "system": "agent"}.get(entry["role"], entry["role"])
        if role not in ("user", "agent"):
            raise InputError.at(path, line, f"role {entry['role']!r}", "roles are user and agent")
        found.append(Utterance(cast(Role, role), str(entry.get("text", entry.get("content")))))
    return tuple(found)
