"""Columns of files of any layout: names in use, the map over them, and cells that hold lists.

The groundwork of :mod:`mtrlib.data.formats.column_map`, where the rules are explained.
"""

from __future__ import annotations

import ast
import dataclasses
import io
import itertools
import json
import re
import tokenize
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from mtrlib.data.formats.base import records
from mtrlib.data.formats.tables import table_rows
from mtrlib.data.jsonl import text_id
from mtrlib.errors import InputError

Columns = Mapping[str, Any]
MAP_FILE = "columns.yaml"
SUFFIXES = {".jsonl", ".json", ".csv", ".tsv"}
PLAIN_ANSWERS = ("answer", "answers")  # beside a reference this is what a system said
SAFE_MESSAGES = ("messages", "turns", "history")  # may hold plain texts; the others passages, too
ROLE_NAMES = {"role", "speaker", "from", "participant"}
QUERY_NAMES: dict[str, tuple[str, ...]] = {
    "query_id": ("query_id", "query-id", "qid", "question_id", "_id", "id"),
    "conversation_id": ("conversation_id", "conv_id", "dialogue_id", "session_id"),
    "turn": ("turn", "turn_number", "turn_id", "turn_no"),
    "query": ("query", "question", "user_input", "query_text", "utterance", "问题"),
    "messages": ("messages", "input", "turns", "history", "context"),
    "gold": (
        "gold", "relevant_doc_ids", "expected_doc_ids", "expected_docs", "gold_doc_ids",
        "reference_document_ids", "reference_doc_ids", "retrieval_gt", "positive_passages",
        "truth_passages", "golden_docs_pids",
    ),
    "gold_texts": (
        "gold_texts", "gold_passages", "ground_truth_contexts", "reference_contexts",
    ),
    "answer": (
        "ground_truth", "ground_truths", "reference", "reference_answer", "gold_answer",
        "expected_answer", "generation_gt", "标准答案", *PLAIN_ANSWERS,
    ),
    "rewrite": ("rewrite", "rewritten_query", "standalone_question", "truth_rewrite"),
    "author_voice": ("author_voice",),
    "refusal": ("should_refuse", "expected_empty", "is_unanswerable"),
    "eligible": ("metric_eligible",),
    "outcome": ("expected_outcome",),
    "scope": (),
}  # fmt: skip
PASSAGE_NAMES: dict[str, tuple[str, ...]] = {
    "passage_id": ("passage_id", "pid", "_id", "id", "docid", "doc_id", "document_id"),
    "text": ("text", "content", "contents", "passage_text", "page_content"),
    "title": ("title",),
    "section": ("section",),
    "document": (),
}
SETTINGS = {"file", "encoding", "delimiter", "quotes", "columns", "split"}


@dataclasses.dataclass
class Record:
    """One record under a map: fields by our names, errors with their place."""

    path: Path
    source: str
    record: Mapping[str, Any]
    columns: Columns
    names: Mapping[str, tuple[str, ...]]
    number: int
    keys: dict[str, str] = dataclasses.field(init=False)  # their names by their folded form

    def __post_init__(self) -> None:
        self.keys = {k.strip().lower(): k for k in self.record}

    def error(self, problem: str, mend: str) -> InputError:
        """An error that names file and record."""
        return InputError(f"{self.path}: {self.source}: {problem}. Mend: {mend}.")

    def found(self, field: str) -> tuple[str, Any]:
        """Their name and value of a field; ``("", None)`` if the record has none."""
        if field in self.columns:
            wanted = self.columns[field]
            names = [wanted] if isinstance(wanted, str) else list(wanted or [])
            if names == ["#"]:
                return "#", str(self.number)
            values = [(n, v) for n in names for there, v in [_descend(self.record, n)] if there]
            if names and not values:
                raise self.error(
                    f"no field {' or '.join(names)} (has {', '.join(self.record)})",
                    f"correct {field} in the map",
                )
            return next(((n, v) for n, v in values if not is_absent(v)), ("", None))
        hits = self._recognised(field)
        if field == "messages":
            hits = [(n, v) for n, v in hits if self._are_messages(n, v)]
        if not hits:
            return "", None
        if field == "answer":
            hits = [h for h in hits if h[0].lower() not in PLAIN_ANSWERS] or hits
        hits = [h for h in hits if h[1] != []] or hits[:1]
        other = next((n for n, v in hits if v != hits[0][1]), "")
        if other and not field.endswith("_id"):
            raise self.error(
                f"both {hits[0][0]} and {other} could be the {field}",
                f"name one of them as {field} in {MAP_FILE}",
            )
        return hits[0]

    def _recognised(self, field: str) -> list[tuple[str, Any]]:
        names = [self.keys[n] for n in self.names[field] if n in self.keys]
        return [(n, self.record[n]) for n in names if not is_absent(self.record[n])]

    def _are_messages(self, name: str, value: Any) -> bool:
        """Whether a recognised field of messages holds them, and not a question or passages."""
        messages = self.listed(name, value)
        if not isinstance(messages, list):
            return False
        return name.strip().lower() in SAFE_MESSAGES or any(
            isinstance(m, dict) and ROLE_NAMES & m.keys() for m in messages
        )

    def listed(self, name: str, value: Any) -> Any:
        """A list or object that was stored as text, as what it is; anything else unchanged."""
        try:
            return read_listed(value)
        except ValueError:
            raise self.error(
                f"{name} starts like a list and cannot be read as one ({str(value)[:40]!r})",
                "write it as a JSON list",
            ) from None

    def get(self, field: str) -> Any:
        """The value of a field, None if the record has none."""
        return self.found(field)[1]

    def text(self, field: str, required: bool = False) -> str:
        """A field as text, "" where it is null or absent and not required."""
        name, value = self.found(field)
        if value is None:
            if required and not self._is_empty(field):
                raise self.error(
                    f"no {field} (has {', '.join(self.record)})",
                    f"name its field as {field} in {MAP_FILE}",
                )
            return ""
        if not isinstance(value, str):
            raise self.error(f"{name} is {type(value).__name__}, expected text", "write it as text")
        return value

    def _is_empty(self, field: str) -> bool:
        """Whether a field is there and holds an empty text (which is not the same as null)."""
        mapped = self.columns.get(field)
        names = [mapped] if isinstance(mapped, str) else mapped or self.names[field]
        return any(
            isinstance(self.record.get(key), str) for n in names for key in (n, self.keys.get(n, n))
        )

    def id(self, field: str, required: bool = False) -> str:
        """A field as an id, "" where it is null or absent and not required."""
        name, value = self.found(field)
        if value is None:
            if required:
                raise self.error(
                    f"no {field} (has {', '.join(self.record)})",
                    f'name its column in {MAP_FILE}, or "#" to number the records',
                )
            return ""
        return self.as_id(value, name)

    def as_id(self, value: Any, name: str) -> str:
        """A value as an id; floats, lists and the like are refused."""
        try:
            return text_id(value, self.path, None, name)
        except InputError:
            raise self.error(f"{name} is {value!r}, which is no id", "write ids as text") from None

    def flags(self, field: str) -> set[bool]:
        """The values of all flags that stand for ``field``."""
        hits = [self.found(field)] if field in self.columns else self._recognised(field)
        known = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        values = set()
        for name, value in hits:
            if value is None:
                continue
            if str(value).strip().lower() not in known:
                raise self.error(f"{name} is {value!r}, expected true or false", "correct it")
            values.add(known[str(value).strip().lower()])
        return values


def read_listed(value: Any) -> Any:
    """A list or object that was stored as text, as what it is; anything else unchanged.

    Raises
    ------
    ValueError
        Text that is bracketed like a list and can be read as none. So is a printed numpy
        array: Python would read ``['d1' 'd2']`` as the one id ``d1d2``.
    """
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    text = value.strip()
    for read in (json.loads, _literal):
        try:
            found = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError, tokenize.TokenError):
            continue
        if isinstance(found, list | dict):
            return found
    if re.match(r"""[\[{]\s*["'\[{]""", text) or (text[0] == "[" and text[-1] == "]"):
        raise ValueError(text)
    return value  # a text such as "[1] First note"


def _literal(text: str) -> Any:
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    strings = [t.type == tokenize.STRING for t in tokens if t.type != tokenize.NL]
    if any(a and b for a, b in itertools.pairwise(strings)):
        raise ValueError("texts without a comma between them")
    return ast.literal_eval(text)


def is_absent(value: Any) -> bool:
    """Whether a value says nothing: null, or text of white space."""
    return value is None or (isinstance(value, str) and not value.strip())


def _descend(record: Mapping[str, Any], name: str) -> tuple[bool, Any]:
    if name in record:
        return True, record[name]
    outer, dot, inner = name.partition(".")
    if dot and isinstance(record.get(outer), dict):
        return _descend(record[outer], inner)
    return False, None


def rows_of(path: Path, columns: Columns) -> Iterator[tuple[str, dict[str, Any]]]:
    """``(source, record)`` of a file, as its ending says: a table or JSON.

    Raises
    ------
    InputError
        As the readers of tables and of JSON; an encoding given for JSON; a wrong delimiter.
    """
    if path.suffix not in (".csv", ".tsv", ".txt"):
        if columns.get("encoding"):
            raise InputError.at(path, None, "JSON is UTF-8", "convert the file with iconv")
        yield from records(path)
        return
    encoding = str(columns.get("encoding") or "utf-8-sig")
    rows = table_rows(
        path,
        columns.get("delimiter") or ("," if path.suffix == ".csv" else "\t"),
        columns.get("quotes", True),
        columns.get("columns") or (),
        "utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding,
    )
    for source, record in rows:
        if len(record) == 1 and ";" in next(iter(record)):
            mend = f'say `delimiter: ";"` in {MAP_FILE}'
            raise InputError.at(path, 1, "one column with semicolons in its name", mend)
        yield source, record


def open_mapped(
    path: Path, columns: Columns | None, part: str, names: Mapping[str, Any]
) -> tuple[Path, Columns]:
    """The file to read and the map that applies to it.

    Raises
    ------
    InputError
        A map that names unknown fields or is none; a folder without a file for ``part``.
    """
    folder = path if path.is_dir() else path.parent
    source: Path | str = "the map"
    if columns is None:
        source = folder / MAP_FILE
        columns = map_file(source).get(part, {}) if source.is_file() else {}
        named = columns.get("file")
        if not path.is_dir() and named and (folder / named).name != path.name:
            columns = {}  # the map is about another file of the folder
    for name in names:
        mapped = columns.get(name)
        listed = mapped if isinstance(mapped, list | tuple) else [mapped]
        if mapped is not None and not all(isinstance(m, str) for m in listed):
            raise InputError(f"{source}: {part}: {name} is {mapped!r}. Mend: write a field name.")
    unknown = set(columns) - set(names) - SETTINGS
    if unknown:
        raise InputError(
            f"{source}: {part}: unknown field {sorted(unknown)[0]!r}. "
            f"Mend: use {', '.join([*names, *sorted(SETTINGS)])}."
        )
    if not path.is_dir():
        return path, columns
    if not columns.get("file"):
        mend = f"name it in {MAP_FILE}: `{part}: {{file: ...}}`"
        raise InputError.at(path, None, f"a folder, and no file of {part} is named", mend)
    return folder / columns["file"], columns


def map_file(path: Path) -> dict[str, Any]:
    """The parts of a map, ``queries`` and ``passages``, each our names to theirs.

    Raises
    ------
    InputError
        Not YAML, or something else than these two parts.
    """
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError.at(path, None, f"not YAML ({error})", "correct it") from None
    parts = found if isinstance(found, dict) else {"": found}
    if set(parts) - {"queries", "passages"} or not all(isinstance(p, dict) for p in parts.values()):
        mend = "two parts, queries and passages, each `our name: their name`"
        raise InputError.at(path, None, f"has {', '.join(map(str, parts))}", mend)
    return parts
