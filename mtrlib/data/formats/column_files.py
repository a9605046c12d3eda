"""Which files the column map claims, and what each holds: questions or passages."""

from __future__ import annotations

import re
from pathlib import Path

from mtrlib.data.formats.base import head
from mtrlib.data.formats.columns import (
    MAP_FILE,
    PASSAGE_NAMES,
    QUERY_NAMES,
    SUFFIXES,
    map_file,
)
from mtrlib.data.jsonl import LFS_POINTER
from mtrlib.errors import InputError


def recognises(path: Path) -> bool:
    """A folder with a map, a file named in one, or a file whose first record names enough.

    A map that names the file of one part only is about that file; the folder is then read file by
    file. A Git LFS pointer is claimed, too, so that reading it says what it is.
    """
    if path.is_dir():
        return (path / MAP_FILE).is_file() and len(_files_named(path)) != 1
    if path.suffix not in SUFFIXES:
        return False
    start = head(path)
    if path.name in _files_named(path.parent).values() or start.startswith(LFS_POINTER):
        return True
    return bool(_holds_queries(path) or _holds_passages(path))


def _files_named(folder: Path) -> dict[str, str]:
    """Part -> its file, as the map of a folder names them; empty without a map that can be read."""
    try:
        parts = map_file(folder / MAP_FILE)
    except (InputError, OSError):
        return {}
    return {part: str(found["file"]) for part, found in parts.items() if found.get("file")}


def _keys(path: Path) -> set[str]:
    """Lower-case names at the start of a file: of its columns, or of the fields of its records."""
    start = head(path)
    if path.suffix in (".csv", ".tsv"):
        first = start.splitlines()[0] if start else ""
        return {k.strip().strip('"').lower() for k in re.split(r"[,\t;]", first)}
    return {k.lower() for k in re.findall(r'"([^"\n]{1,40})"\s*:', start)}


def _holds_queries(path: Path) -> bool:
    keys = _keys(path)
    return bool(keys & set(QUERY_NAMES["query"]) or "messages" in keys)


def _holds_passages(path: Path) -> bool:
    keys = _keys(path)
    return bool(keys & set(PASSAGE_NAMES["passage_id"]) and keys & set(PASSAGE_NAMES["text"]))


def is_part(path: Path, part: str) -> bool:
    """Whether a folder, or a file as the map or its first record says, is read for a part.

    Parameters
    ----------
    part : ``queries`` or ``passages``.
    """
    named = [of for of, file in _files_named(path.parent).items() if file == path.name]
    if path.is_dir() or named:
        return path.is_dir() or part in named
    passages = _holds_passages(path) and not _holds_queries(path)
    return passages == (part == "passages")
