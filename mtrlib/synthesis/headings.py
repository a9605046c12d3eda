"""Headings inside plain text: Markdown, wiki marks, and short lines that stand alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from mtrlib.data.script_width import width

MOST_WORDS = 5  # of a heading without marks, as in the published pipeline
MOST_WIDTH = 60  # of the same, in letters; what counts where words have no spaces

_LINE = re.compile(
    r"^(?:(?P<hashes>\#{1,6})[ ](?P<markdown>.*\S)"
    r"|(?P<signs>={2,6})[ ]?(?P<wiki>[^=\n].*?)[ ]?(?P=signs)"
    r"|(?:(?<=\n\n)|\A)(?P<plain>[^\n]+))(?:\n+|\Z)",
    re.MULTILINE,
)
_ENDS_PROSE = tuple(".!?,;:…。．！？，、；：")
_LIST_MARK = re.compile(r"[•*+\-–—|>]|\d+[.)]")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading at ``text[start:end]``, the line ends after it included; level 1 is the top."""

    start: int
    end: int
    level: int
    name: str


def find_headings(text: str) -> list[Heading]:
    """Headings of a text in order.

    ``## Name`` and ``== Name ==`` give their levels. A line after an empty line (or at the
    start) is a heading of level 1 if it has at most five words and 60 letters, holds a letter,
    and neither ends like prose nor starts like a list item.
    """
    found = []
    for line in _LINE.finditer(text):
        if line["hashes"]:
            level, name = len(line["hashes"]), line["markdown"]
        elif line["signs"]:
            level, name = len(line["signs"]) - 1, line["wiki"]
        elif _stands_alone(line["plain"]):
            level, name = 1, line["plain"].strip()
        else:
            continue
        found.append(Heading(line.start(), line.end(), level, name))
    return found


def open_path(headings: Iterable[Heading]) -> tuple[str, ...]:
    """Names of the headings that are still open after ``headings``, outermost first."""
    path: list[Heading] = []
    for heading in headings:
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(heading)
    return tuple(h.name for h in path)


def _stands_alone(line: str) -> bool:
    return (
        len(line) <= MOST_WIDTH
        and len(line.split()) <= MOST_WORDS
        and width(line) <= MOST_WIDTH
        and any(c.isalpha() for c in line)
        and not line.rstrip().endswith(_ENDS_PROSE)
        and not _LIST_MARK.match(line)
    )
