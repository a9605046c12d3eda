"""Progress of long steps: a bar in a terminal, lines in a file under papermill, else silence.

Bars in committed notebooks flood the page, so a kernel never writes them to its output:
the notebook runner names a file in ``MTR_PROGRESS_FILE`` and shows its lines itself.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from tqdm import tqdm

T = TypeVar("T")
SECONDS_BETWEEN_LINES = 5.0


def track(items: Iterable[T], label: str, total: int, unit: str = "it") -> Iterator[T]:
    """Yield ``items`` and report how far it is; ``total`` counts items."""
    file = os.environ.get("MTR_PROGRESS_FILE")
    if not file:
        bar = tqdm(items, label, total, unit=unit, disable=not sys.stderr.isatty())
        yield from bar
        return
    started = last = time.monotonic()
    with open(file, "a", encoding="utf-8") as out:
        for done, item in enumerate(items):
            now = time.monotonic()
            if now - last >= SECONDS_BETWEEN_LINES:
                out.write(f"{label}: {done} of {total} {unit} after {now - started:.0f} s\n")
                out.flush()
                last = now
            yield item
