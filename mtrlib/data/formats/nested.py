"""Streaming inside one JSON object: SQuAD-like files, Doc2Dial, maps from a document to its chunks.

:func:`mtrlib.data.formats.base.records` reads files that are a row of records. The files here
are one object that holds the records some levels down, often on a single line.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from mtrlib.data.formats.base import head
from mtrlib.data.jsonl import refuse_pointer
from mtrlib.errors import InputError

Keys = tuple[str, ...]
_BOM = b"\xef\xbb\xbf"


def members(path: Path, depth: int) -> Iterator[tuple[Keys, Any]]:
    """Values ``depth`` keys below the top; a list met on the way gives its items one by one.

    Memory is that of the largest value, not of the file.

    Parameters
    ----------
    depth : how many objects to step into; ``{"data": [a, b]}`` with 1 gives
        ``("data", "0"), a`` and ``("data", "1"), b``.

    Yields
    ------
    ``(keys, value)``; the last key of a list's item is its index.

    Raises
    ------
    InputError
        No such file, a Git LFS pointer, a file that is no JSON object, cut or malformed JSON.
    """
    import ijson

    with _opened(path) as stream:
        events = ijson.basic_parse(stream, use_float=True)
        next(events)  # the opening brace
        yield from _inside(events, depth, ())
        for _ in events:  # reads on to the end, where anything more is an error
            pass


def items_of(path: Path, key: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Objects of the list under ``key``, with ``file#key/index``; ten times as fast.

    Raises
    ------
    InputError
        As :func:`members`, no such list or an empty one, or an item that is no object.
    """
    import ijson

    index = -1
    with _opened(path) as stream:
        for index, item in enumerate(ijson.items(stream, f"{key}.item", use_float=True)):
            source = f"{path.name}#{key}/{index}"
            if not isinstance(item, dict):
                raise InputError(f"{path}: {source}: no object. Mend: see the format.")
            yield source, item
    if index < 0:
        raise InputError.at(path, None, f"no records under {key!r}", "see the format of this file")


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a JSON object after a BOM; what cannot be one or breaks is an InputError."""
    import ijson

    start = head(path).lstrip()
    if not path.is_file():
        raise InputError.at(path, None, "no such file", "check the path")
    refuse_pointer(path, start)
    if not start.startswith("{"):
        raise InputError.at(path, None, "not one JSON object", "see the format of this file")
    with path.open("rb") as stream:
        if stream.read(3) != _BOM:
            stream.seek(0)
        try:
            yield stream
        except ijson.JSONError as error:
            reason = str(error).splitlines()[0]
            raise InputError.at(
                path, None, f"not valid JSON ({reason})", "fetch it again; it may be cut"
            ) from None


def json_head(path: Path, size: int = 1 << 16) -> str:
    """The first characters of a JSON or JSON Lines file for ``recognises``; "" for others."""
    start = head(path, size)
    return start if start.lstrip()[:1] in ("{", "[") else ""


def names_all(start: str, *fields: str) -> bool:
    """Whether the start of a JSON text has all of the fields, as text between quotes."""
    return all(f'"{name}"' in start for name in fields)


def source_of(path: Path, keys: Keys) -> str:
    """``file#key/key/index`` of a value that :func:`members` gave."""
    return f"{path.name}#{'/'.join(keys)}"


def _inside(
    events: Iterator[tuple[str, Any]], depth: int, keys: Keys
) -> Iterator[tuple[Keys, Any]]:
    for event, key in events:
        if event == "end_map":
            return
        here = (*keys, str(key))
        kind, value = next(events)
        if kind == "start_array":
            for index, (first, item) in enumerate(events):
                if first == "end_array":
                    break
                yield (*here, str(index)), _built(events, first, item)
        elif kind == "start_map" and depth > 1:
            yield from _inside(events, depth - 1, here)
        else:
            yield here, _built(events, kind, value)


def _built(events: Iterator[tuple[str, Any]], kind: str, value: Any) -> Any:
    if not kind.startswith("start"):
        return value
    from ijson.common import ObjectBuilder

    builder = ObjectBuilder()
    level = 0
    while True:
        builder.event(kind, value)
        level += kind.startswith("start") - kind.startswith("end")
        if not level:
            return builder.value
        kind, value = next(events)
