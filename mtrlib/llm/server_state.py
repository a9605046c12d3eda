"""Which process is the server that ``make llm`` keeps running: noted, found again, forgotten."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from mtrlib import paths

CLOCK_SLACK = 2.0  # seconds; start times move when the machine's clock is set


@dataclass(frozen=True)
class Running:
    """A server process, described so that no other process can pass for it.

    Attributes
    ----------
    pid : process id; alone it proves nothing, since ids are used again.
    started : when the process began, seconds since 1970.
    command : its command line.
    port : where it listens on 127.0.0.1.
    """

    pid: int
    started: float
    command: list[str]
    port: int

    def process(self) -> psutil.Process | None:
        """The process if it still runs and is the one that was noted, else None."""
        try:
            found = psutil.Process(self.pid)
            same = (
                abs(found.create_time() - self.started) <= CLOCK_SLACK
                and found.cmdline() == self.command
            )
        except psutil.Error:
            return None
        return found if same else None


def state_file() -> Path:
    """Where the note lies; there is one server of this kind per user cache."""
    return paths.cache("local_server") / "running.json"


@contextmanager
def noted(process: psutil.Process, port: int) -> Iterator[Running]:
    """Note the server for the length of the ``with`` block."""
    note = Running(process.pid, process.create_time(), process.cmdline(), port)
    part = state_file().with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps(asdict(note)), "utf-8")
    part.replace(state_file())
    try:
        yield note
    finally:
        if _read() == note:  # not the note of a server that was started later
            state_file().unlink(missing_ok=True)


def running() -> Running | None:
    """The noted server if its process lives; a note that is stale or unreadable is removed."""
    note = _read()
    if note is not None and note.process() is not None:
        return note
    state_file().unlink(missing_ok=True)
    return None


def _read() -> Running | None:
    try:
        fields = json.loads(state_file().read_text("utf-8"))
        return Running(
            int(fields["pid"]), float(fields["started"]), fields["command"], int(fields["port"])
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None
