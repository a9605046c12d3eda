"""The plain layout: ``corpus.jsonl`` and ``queries.jsonl`` with history and gold.

A query record has ``query`` and ``gold`` and an ``id`` (or ``task_id``). Optional are
``conversation_id`` (absent = a conversation of its own), ``turn`` (a number, also as text;
absent = counted from the history), ``history``, ``rewrite``, ``author_voice``, ``answer`` (or
``answers``, of which the first is taken, or ``reference_answer``), ``gold_by_annotator``,
``scope`` (the document to which the search is restricted), and tags: the texts in ``labels``,
``answerability``, ``question_type`` and ``multi_turn``. ``history`` is a list of texts that
alternate user and agent, or of objects with ``role`` (or ``speaker``) and ``text`` (or
``content``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

from mtrlib.data.formats.base import Format, alternating, head
from mtrlib.data.formats.corpus_jsonl import read_corpus
from mtrlib.data.jsonl import read_jsonl, text_id
from mtrlib.data.schema import Benchmark, Conversation, Passage, Role, Turn, Utterance
from mtrlib.errors import InputError

_TAGS = ("labels", "answerability", "question_type", "multi_turn")
_ROLES = {"user": "user", "agent": "agent", "assistant": "agent", "system": "agent"}
_CORPUS_NAMES = ("corpus", "passages", "documents", "collection")


def read_conversational(folder: Path | str) -> Benchmark:
    """Read a folder; turns keep their published ids and are ordered by turn number.

    Raises
    ------
    InputError
        A field is missing or of the wrong kind; file, line and mend are named.
    """
    folder = Path(folder)
    return Benchmark(
        folder.name, read_corpus(folder / "corpus.jsonl"), tuple(conversations(folder))
    )


def conversations(path: Path) -> Iterator[Conversation]:
    """Conversations of a query file, or of ``queries.jsonl`` in a folder.

    The turns of one conversation may stand apart, so all of them are held, not the corpus.

    Raises
    ------
    InputError
        As :func:`read_conversational`.
    """
    path = path / "queries.jsonl" if path.is_dir() else path
    turns: dict[str, list[Turn]] = {}
    for line, record in read_jsonl(path):
        turn = _turn(path, line, record)
        turns.setdefault(turn.conversation_id, []).append(turn)
    for name, found in turns.items():
        yield Conversation(name, tuple(sorted(found, key=lambda t: t.turn_number)))


def passages(path: Path) -> Iterator[Passage]:
    """Passages of a corpus file (``id`` or ``_id``, ``text``, ``title``), or of ``corpus.jsonl``.

    Streams, so two records under one id are left to whoever puts the benchmark together.

    Raises
    ------
    InputError
        A record without id or text.
    """
    path = path / "corpus.jsonl" if path.is_dir() else path
    for line, record in read_jsonl(path):
        name = text_id(record.get("_id", record.get("id")), path, line, "id")
        text = record.get("text")
        if not isinstance(text, str):
            raise InputError.at(path, line, f"passage {name} has no text", "add a text field")
        yield Passage(
            name,
            text,
            str(record.get("title") or ""),
            tuple(record.get("section") or ()),
            source=f"{path.name}:{line}",
        )


def spoken(turn: Turn) -> tuple[Utterance, ...]:
    """What a turn adds to the history of the next: the question and the answer, if any."""
    asked = Utterance("user", turn.raw_utterance)
    return (asked, Utterance("agent", turn.answer)) if turn.answer else (asked,)


def once(found: Iterable[Passage], path: Path) -> Iterator[Passage]:
    """Each passage once, for sets that repeat their passages in every record.

    Raises
    ------
    InputError
        One id comes with two texts. One text under two ids is two passages.
    """
    seen: dict[str, bytes] = {}
    for passage in found:
        digest = hashlib.sha1(passage.text.encode("utf-8", "surrogatepass")).digest()
        known = seen.get(passage.passage_id)
        if known is None:
            seen[passage.passage_id] = digest
            yield passage
        elif known != digest:
            raise InputError(
                f"{path}: {passage.source}: passage {passage.passage_id} has two texts. "
                "Mend: use files of one version."
            )


def objects(values: Any, where: str, path: Path) -> list[dict[str, Any]]:
    """A list of objects as it should be, for records inside records.

    Raises
    ------
    InputError
        It is no list, or one of its items is no object.
    """
    if isinstance(values, list) and all(isinstance(v, dict) for v in values):
        return values
    raise InputError(
        f"{path}: {where}: not a list of objects. "
        "Mend: check that the file is of this format and version."
    )


def first_record(path: Path) -> dict[str, Any]:
    """The first line as an object, for ``recognises``; empty for anything else."""
    try:
        record = json.loads(head(path, 1 << 16).lstrip().partition("\n")[0])
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _turn(path: Path, line: int, record: dict[str, Any]) -> Turn:
    name = record.get("id", record.get("task_id"))
    missing = {"query", "gold"} - record.keys()
    if name is None or missing:
        raise InputError.at(
            path,
            line,
            f"no field {', '.join(sorted(missing)) or 'id'}",
            "see the layout in the module's text",
        )
    name = text_id(name, path, line, "id")
    query = record["query"]
    if not isinstance(query, str) or not query.strip():
        raise InputError.at(path, line, f"query is {query!r}", "a question is non-empty text")
    history = _history(path, line, record.get("history") or [])
    return Turn(
        query_id=name,
        conversation_id=text_id(record.get("conversation_id", name), path, line, "conversation_id"),
        turn_number=_number(path, line, record, history),
        raw_utterance=query,
        history=history,
        gold=_ids(path, line, "gold", record["gold"]),
        rewrite=record.get("rewrite"),
        author_voice=record.get("author_voice"),
        answer=_answer(record),
        labels=_labels(record),
        gold_by_annotator=tuple(
            _ids(path, line, "gold_by_annotator", ids)
            for ids in record.get("gold_by_annotator") or ()
        ),
        scope=str(record.get("scope") or ""),
        source=f"{path.name}:{line}",
    )


def _number(path: Path, line: int, record: dict[str, Any], history: tuple[Utterance, ...]) -> int:
    number = record.get("turn", 1 + sum(u.role == "user" for u in history))
    if isinstance(number, str) and number.isdecimal():
        number = int(number)
    if type(number) is not int:
        raise InputError.at(path, line, f"turn is {number!r}", "turns are numbered 1, 2, ...")
    return number


def _ids(path: Path, line: int, field: str, values: Any) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise InputError.at(
            path, line, f"{field} is no list", f"write {field} as a list of passage ids"
        )
    return tuple(dict.fromkeys(text_id(v, path, line, field) for v in values))


def _answer(record: dict[str, Any]) -> str | None:
    answers = record.get("answers") or [None]
    found = record.get("answer", record.get("reference_answer", answers[0]))
    return None if found is None else str(found)


def _labels(record: dict[str, Any]) -> tuple[str, ...]:
    """Tags that are text; "N/A" is none."""
    found: list[Any] = []
    for field in _TAGS:
        value = record.get(field) or []
        found += value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(x for x in found if isinstance(x, str) and x != "N/A"))


def _history(path: Path, line: int, entries: list[Any]) -> tuple[Utterance, ...]:
    if all(isinstance(e, str) for e in entries):
        if len(entries) % 2:
            raise InputError.at(
                path,
                line,
                f"history has {len(entries)} texts, so its last one is a user's without a reply",
                "write history as objects with role and text",
            )
        return alternating(entries)
    found = []
    for entry in entries:
        named = entry if isinstance(entry, dict) else {}
        role = named.get("role", named.get("speaker"))
        text = named.get("text", named.get("content"))
        if role not in _ROLES:
            raise InputError.at(path, line, f"role {role!r}", "roles are user and agent")
        if not isinstance(text, str):
            raise InputError.at(path, line, f"history text is {text!r}", "write it as text")
        found.append(Utterance(cast(Role, _ROLES[role]), text))
    return tuple(found)


def _is_folder(path: Path) -> bool:
    return (path / "corpus.jsonl").is_file() and _is_queries(path / "queries.jsonl")


def _is_queries(path: Path) -> bool:
    record = first_record(path) if path.suffix == ".jsonl" else {}
    return {"query", "gold"} <= record.keys() and not record.keys().isdisjoint({"id", "task_id"})


def _is_corpus(path: Path) -> bool:
    if path.suffix != ".jsonl" or not any(n in path.name.lower() for n in _CORPUS_NAMES):
        return False
    record = first_record(path)
    return "text" in record and not record.keys().isdisjoint({"id", "_id"})


FORMAT = Format(
    "plain",
    "folder with corpus.jsonl and queries.jsonl (history and gold in the query)",
    "real record",
    _is_folder,
    passages=passages,
    conversations=conversations,
)
FORMAT_QUERIES = Format(
    "plain-queries",
    "queries of the plain layout (JSON Lines)",
    "real record",
    _is_queries,
    conversations=conversations,
)
FORMAT_CORPUS = Format(
    "plain-corpus",
    "passages as JSON Lines with id or _id, text, title (the name says corpus or passages)",
    "real record",
    _is_corpus,
    passages=passages,
)
FORMATS = (FORMAT, FORMAT_QUERIES, FORMAT_CORPUS)
