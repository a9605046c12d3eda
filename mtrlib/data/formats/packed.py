"""Packed files (``.gz``, ``.bz2``) and plain ones as lines, records and JSON items, streamed.

For sets that are published packed; unpacking 25.9 million chunks first would double their disk.
A helper of the readers, not a format of its own.
"""

from __future__ import annotations

import bz2
import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mtrlib.data.formats import base
from mtrlib.data.jsonl import read_text_lines, refuse_pointer
from mtrlib.errors import InputError

_OPENERS: dict[str, Callable[[Path], Any]] = {".gz": gzip.open, ".bz2": bz2.open}
_BOM = b"\xef\xbb\xbf"
_AGAIN = "fetch it again; it may be cut"


def is_packed(path: Path) -> bool:
    """Whether the name says gzip or bzip2."""
    return path.suffix in _OPENERS


@contextmanager
def unpacked(path: Path) -> Iterator[Any]:
    """A binary stream of the unpacked bytes, after a BOM if there is one.

    Raises
    ------
    InputError
        No such file, a Git LFS pointer, or packed data that is damaged or cut.
    """
    if not path.is_file():
        raise InputError.at(path, None, "no such file", "check the path")
    refuse_pointer(path, base.head(path, 64))
    try:
        with _OPENERS.get(path.suffix, lambda p: p.open("rb"))(path) as stream:
            if stream.peek(3)[:3] == _BOM:
                stream.read(3)
            yield stream
    except (OSError, EOFError, zlib.error) as error:
        raise InputError.at(path, None, f"cannot be unpacked ({error})", _AGAIN) from None


def packed_lines(path: Path) -> Iterator[tuple[int, str]]:
    """:func:`~mtrlib.data.jsonl.read_text_lines` for packed and plain files.

    Raises
    ------
    InputError
        As :func:`unpacked`, and for bytes that are not UTF-8.
    """
    if not is_packed(path):
        yield from read_text_lines(path)
        return
    number = 0
    with unpacked(path) as stream:
        try:
            for number, line in enumerate(stream, start=1):
                yield number, line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise InputError.at(path, number, f"not UTF-8 ({error.reason})", _AGAIN) from None


def packed_records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """:func:`~mtrlib.data.formats.base.records` for packed and plain files.

    A packed file is a JSON list or JSON Lines.

    Raises
    ------
    InputError
        As :func:`unpacked`, and for malformed JSON; with the place.
    """
    if not is_packed(path):
        yield from base.records(path)
    elif packed_head(path).lstrip().startswith("["):
        yield from json_items(path)
    else:
        for number, line in packed_lines(path):
            if line.strip():
                yield f"{path.name}:{number}", _object(path, number, line)


def json_items(path: Path, prefix: str = "item") -> Iterator[tuple[str, dict[str, Any]]]:
    """Objects of one list inside a JSON document, with ``name#index`` as their source.

    Parameters
    ----------
    prefix : where the list is, in ijson's notation: ``item`` for a document that is a list,
        ``Questions.item`` for the list under the key ``Questions``.

    Raises
    ------
    InputError
        As :func:`unpacked`, malformed JSON, or an item that is no object.
    """
    import ijson

    with unpacked(path) as stream:
        try:
            for index, item in enumerate(ijson.items(stream, prefix, use_float=True)):
                if not isinstance(item, dict):
                    raise InputError.at(path, None, f"item {index} is no object", "see its format")
                yield f"{path.name}#{index}", item
        except ijson.JSONError as error:
            reason = str(error).splitlines()[0]
            raise InputError.at(path, None, f"not valid JSON ({reason})", _AGAIN) from None


def packed_head(path: Path, size: int = 4096) -> str:
    """The first characters of a packed or plain file; "" for anything unreadable."""
    if not is_packed(path):
        return base.head(path, size)
    try:
        with unpacked(path) as stream:
            return str(stream.read(size).decode("utf-8", errors="replace"))
    except InputError:
        return ""


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        reason = f"not JSON ({error.msg} at column {error.colno})"
        raise InputError.at(path, number, reason, _AGAIN) from None
    if not isinstance(record, dict):
        raise InputError.at(
            path, number, "a JSON value, not an object", "one object {...} per line"
        )
    return record
