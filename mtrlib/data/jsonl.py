"""JSON Lines in and out: a BOM is accepted, U+2028 never splits a line, ids are text."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mtrlib.errors import InputError

LFS_POINTER = "version https://git-lfs"


def refuse_pointer(path: Path, start: str) -> None:
    """Tell a Git LFS pointer, which a clone leaves in place of large files, from the data.

    Raises
    ------
    InputError
        The file starts as a pointer does.
    """
    if start.startswith(LFS_POINTER):
        raise InputError.at(
            path, 1, "a Git LFS pointer, not the data", "run `git lfs pull` at its source"
        )


def read_text_lines(path: Path | str) -> Iterator[tuple[int, str]]:
    r"""Yield ``(line number, line without its end)``, streaming, UTF-8 with or without BOM.

    Lines end at ``\n`` or ``\r\n`` only; U+2028 and NEL inside a record stay where they are.

    Raises
    ------
    InputError
        File missing, not UTF-8, or a Git LFS pointer instead of data.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError.at(path, None, "no such file", "check the path")
    number = 0
    with path.open(encoding="utf-8-sig", newline="\n") as lines:
        try:
            for number, line in enumerate(lines, start=1):
                if number == 1:
                    refuse_pointer(path, line)
                yield number, line.rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise InputError.at(
                path,
                number + 1,
                f"not UTF-8 near here (byte 0x{error.object[error.start]:02x})",
                "convert the file, for example `iconv -f GB18030 -t UTF-8`",
            ) from None


def read_jsonl(path: Path | str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield ``(line number, record)`` for every non-empty line.

    Raises
    ------
    InputError
        As :func:`read_text_lines`, and for a line that is not a JSON object.
    """
    for number, line in read_text_lines(path):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise InputError.at(
                path,
                number,
                f"not JSON ({error.msg} at column {error.colno})",
                "repair the line; a cut last line means an unfinished download",
            ) from None
        if not isinstance(record, dict):
            raise InputError.at(
                path, number, "a JSON value, not an object", "one object {...} per line"
            )
        yield number, record


def write_jsonl(path: Path | str, records: Iterable[dict[str, Any]]) -> int:
    """Write records, one line each, atomically; returns how many."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    count = 0
    with part.open("w", encoding="utf-8", newline="\n") as out:
        for record in records:
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
            count += 1
    part.replace(path)
    return count


def text_id(value: Any, path: Path | str, line: int | None, field: str) -> str:
    """An id as text: ``12`` becomes ``"12"``, ``"0012"`` stays; anything else is refused.

    Raises
    ------
    InputError
        For floats (``700.0`` may have been ``7e2``), booleans, null, empty text, lists.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and value:
        return value
    raise InputError.at(
        path, line, f"{field} is {value!r}, which is no id", "write ids as non-empty text"
    )
