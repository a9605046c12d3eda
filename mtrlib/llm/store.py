"""The replies store: one appended JSONL line per finished request, readable after any crash."""

from __future__ import annotations

import json
import os
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mtrlib import paths
from mtrlib.errors import InputError
from mtrlib.llm.replies import Replies, line_of
from mtrlib.llm.requests import Reply, Request

if sys.platform != "win32":
    import fcntl

_START = b'{"key"'


def store_path(alias: str) -> Path:
    """Where the replies of an endpoint are kept in the user's cache."""
    return paths.cache("replies") / f"{alias}.jsonl"


class ReplyStore(Replies):
    """The replies in one JSONL file that several threads and processes may append to.

    A line has ``key``, ``endpoint``, ``model`` (alias), ``dialect``, ``note``, ``sent``
    (sampling fields as they really went out), ``text``, ``data``, ``finish_reason``,
    ``tokens_in``, ``tokens_out``, ``served_model``, ``failed`` and ``when`` (UTC date); never
    messages, an address or a key of the endpoint.

    Parameters
    ----------
    path : the file; it and its folder are made by the first append.

    Attributes
    ----------
    torn : what a crash left of unfinished lines, as ``file:line``. Their bytes are moved to
        ``<file>.torn`` and a warning says so, once; the requests are asked again.

    Raises
    ------
    InputError
        A line that is neither a stored reply nor the start of one.
    """

    def __init__(self, path: Path | str) -> None:
        super().__init__()
        self.path = Path(path)
        self.torn: tuple[str, ...] = ()
        self._lock = threading.Lock()
        if self.path.exists():
            self._load()

    def append(self, request: Request, reply: Reply, body: Mapping[str, Any] | None = None) -> None:
        """Store the reply to a request: one line, written in one call and not buffered.

        Parameters
        ----------
        body : what was really sent, where it differs from ``request.body``.
        """
        line = line_of(request, reply, request.body if body is None else body)
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        # a lone surrogate in a reply must not cost the reply
        data = text.encode("utf-8", "replace") + b"\n"
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a+b", buffering=0) as out, _locked(out.fileno()):
                if out.seek(0, os.SEEK_END):
                    out.seek(-1, os.SEEK_END)
                    if out.read(1) != b"\n":
                        data = b"\n" + data
                while data:  # a short write means a full disk, and the next one raises
                    data = data[out.write(data) :]
            self.add(line)

    def _load(self) -> None:
        torn: list[tuple[int, int, bytes]] = []  # line, offset, bytes
        # under the lock, or another process's line might look torn while it is written
        with self.path.open("rb") as file, _locked(file.fileno()):
            offset = 0
            for number, raw in enumerate(file.read().split(b"\n"), start=1):
                # blocks of NUL are what a power cut leaves
                piece = raw.removeprefix(b"\xef\xbb\xbf").strip(b"\0 \t\r")
                if piece:
                    line = self._parsed(piece, number)
                    if line is None:
                        torn.append((number, offset, raw))
                    else:
                        self.add(line)
                offset += len(raw) + 1
            if torn:
                self._set_aside(torn)

    def _parsed(self, piece: bytes, number: int) -> dict[str, Any] | None:
        try:
            line = json.loads(piece)
        except ValueError:  # not JSON, or half a character
            if piece.startswith(_START) or _START.startswith(piece):
                return None
            line = None
        if not isinstance(line, dict) or not isinstance(line.get("key"), str):
            raise InputError.at(
                self.path, number, "not a stored reply", "delete the line, or name another file"
            )
        return line

    def _set_aside(self, torn: list[tuple[int, int, bytes]]) -> None:
        """Move unfinished lines to ``<file>.torn``; blanks take their place, nothing shifts."""
        aside = self.path.with_name(self.path.name + ".torn")
        self.torn = tuple(f"{self.path}:{number}" for number, _, _ in torn)
        done = f"moved to {aside.name}"
        try:
            with self.path.open("r+b") as file, aside.open("ab") as kept:
                for _, offset, raw in torn:
                    kept.write(raw + b"\n")
                    kept.flush()
                    file.seek(offset)
                    file.write(b" " * len(raw))
        except OSError:  # a read-only folder: reading goes on, the lines stay
            done = "left where they are, the folder is read-only"
        warnings.warn(
            f"{', '.join(self.torn)}: unfinished lines of a run that was cut off, {done}; "
            "their requests are asked again.",
            stacklevel=4,
        )


@contextmanager
def _locked(descriptor: int) -> Iterator[None]:
    """Hold the file's advisory lock; Windows has none, there one write call has to do."""
    if sys.platform == "win32":
        yield
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
