"""Rewrites of TREC CAsT that lie beside the topics: human ones, and sampled ones of LLM4CS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from mtrlib.data.formats.base import Format, fields, head
from mtrlib.data.formats.conversational import first_record
from mtrlib.data.jsonl import read_jsonl, read_text_lines, text_id
from mtrlib.data.schema import Conversation, Turn, Utterance
from mtrlib.errors import InputError


def resolved_utterances(path: Path) -> dict[str, str]:
    """Rewrites of 2019: ``31_2`` TAB text, no header, CRLF.

    Raises
    ------
    InputError
        A line that is not two columns, or two rewrites of one turn.
    """
    found: dict[str, str] = {}
    for number, line in read_text_lines(path):
        if not line.strip():
            continue
        columns = line.split("\t")
        if len(columns) != 2 or not all(c.strip() for c in columns):
            raise InputError.at(path, number, f"{len(columns)} columns", "turn id, tab, rewrite")
        if found.setdefault(columns[0], columns[1].strip()) != columns[1].strip():
            raise InputError.at(path, number, f"turn {columns[0]} again", "keep one rewrite")
    return found


def beside(topics: Path, resolved: Path | None) -> dict[str, str]:
    """Rewrites of 2019 from ``resolved``, or from the first ``*resolved*.tsv`` beside the topics.

    ``*annotated_resolved*`` goes before other names; without such a file there are none.
    """
    if resolved is None:
        found = sorted(topics.parent.glob("*resolved*.tsv"))
        found.sort(key=lambda p: "annotated_resolved" not in p.name)
        if not found:
            return {}
        resolved = found[0]
    return resolved_utterances(resolved)


def rewritten_turns(path: Path) -> Iterator[Conversation]:
    """Turns of all years in one JSON Lines file, a turn a record, with their rewrites.

    A record has ``id, year, history`` (the user's utterances), ``query`` and
    ``manual_rewrite``, and ``gold`` (2021), ``provenance`` (2022) or ``canonical`` (2020). Each
    record is a conversation of one turn; repeated ids get ``@2``, ``@3`` ... and the label
    ``repeated_turn`` as in :mod:`mtrlib.data.formats.cast`. The label is also the year.

    Raises
    ------
    InputError
        A field is missing or mistyped.
    """
    seen: Counter[str] = Counter()
    for line, record in read_jsonl(path):
        where = f"{path.name}:{line}"
        name, year = fields(record, where, path, "id", "year")
        query, rewrite = fields(record, where, path, "query", "manual_rewrite", kinds=(str,))
        (history,) = fields(record, where, path, "history", kinds=(list,))
        name = text_id(name, path, line, "id")
        seen[name] += 1
        labels: tuple[str, ...] = (str(year),)
        if seen[name] > 1:
            name, labels = f"{name}@{seen[name]}", (*labels, "repeated_turn")
        gold = record.get("gold") or record.get("provenance") or []
        if record.get("canonical"):
            gold = [record["canonical"]]
        turn = Turn(
            query_id=name,
            conversation_id=name,
            turn_number=len(history) + 1,
            raw_utterance=query,
            history=tuple(Utterance("user", str(text)) for text in history),
            gold=tuple(dict.fromkeys(text_id(p, path, line, "gold") for p in gold)),
            rewrite=rewrite,
            labels=labels,
            source=where,
        )
        yield Conversation(name, (turn,))


def sampled_rewrites(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Rewrites of one turn sampled several times (LLM4CS): ``(query_id, rewrites)``.

    Raises
    ------
    InputError
        A field is missing or mistyped.
    """
    for line, record in read_jsonl(path):
        where = f"{path.name}:{line}"
        (name,) = fields(record, where, path, "sample_id")
        (sampled,) = fields(record, where, path, "predicted_rewrite", kinds=(list,))
        yield text_id(name, path, line, "sample_id"), tuple(map(str, sampled))


def _is_resolved(path: Path) -> bool:
    return path.suffix == ".tsv" and "resolved" in path.name


def _is_sampled(path: Path) -> bool:
    opening = head(path) if path.suffix == ".jsonl" else ""
    return '"sample_id"' in opening and '"predicted_rewrite"' in opening


def _is_turns(path: Path) -> bool:
    fields_ = first_record(path) if path.suffix == ".jsonl" else {}
    return {"id", "year", "query", "manual_rewrite"} <= fields_.keys()


FORMAT_RESOLVED = Format(
    "cast-2019-resolved",
    "TREC CAsT 2019 rewrites, read together with the topics beside them",
    "real record",
    _is_resolved,
    rewrites=resolved_utterances,
)
FORMAT_TURNS = Format(
    "cast-rewrites",
    "turns of TREC CAsT 2019 to 2022 with human rewrites, one a line",
    "real record",
    _is_turns,
    conversations=rewritten_turns,
)
FORMAT_SAMPLED = Format(
    "llm4cs",
    "LLM4CS rewrites, several per turn (sampled_rewrites)",
    "real record",
    _is_sampled,
    rewrites=sampled_rewrites,
)
FORMATS = (FORMAT_RESOLVED, FORMAT_TURNS, FORMAT_SAMPLED)
