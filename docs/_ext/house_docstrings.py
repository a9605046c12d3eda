"""The library's docstrings in the form that napoleon reads.

In this project ``name : text`` carries the meaning of a parameter, since its type stands in the
signature; napoleon would take the text for a type. Fields of a dataclass are listed, not made
targets of their own: many classes have a ``name``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sphinx.application import Sphinx

FIELDS = {"Parameters": "Parameters", "Attributes": "Fields"}
RETURNED = {"Returns": ":returns:", "Yields": ":yields:"}
ENTRY = re.compile(r"([*\w]+(?:, [*\w]+)*) ?: (.*)")


def sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """(title, lines below its rule) of each section; the text before the first has no title."""
    title, body = "", []
    for number, line in enumerate(lines):
        if re.fullmatch(r"-{3,}", line) and number and lines[number - 1].isalpha():
            yield title, body[:-1]
            title, body = lines[number - 1], []
        else:
            body.append(line)
    yield title, body


def fields(body: list[str]) -> list[str]:
    """``name : text`` as a name with the text below it."""
    done = []
    for line in body:
        entry = ENTRY.fullmatch(line)
        done += [entry[1], f"    {entry[2]}"] if entry else [line]
    return done


def returned(body: list[str], field: str) -> list[str]:
    """A plain paragraph as one field; napoleon would read a type in each of its lines."""
    return ["", f"{field} {body[0]}", *(f"    {line}".rstrip() for line in body[1:])]


def rewrite(lines: list[str]) -> list[str]:
    """A whole docstring in napoleon's form."""
    done: list[str] = []
    for title, body in sections(lines):
        if title in RETURNED and not any(line.startswith(" ") for line in body):
            done += returned(body, RETURNED[title])
        elif title in FIELDS:
            done += [FIELDS[title], "-" * len(FIELDS[title]), *fields(body)]
        else:
            done += [title, "-" * len(title), *body] if title else body
    return done


def process(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Rewrite in place, as autodoc asks."""
    lines[:] = rewrite(lines)


def setup(app: Sphinx) -> dict[str, Any]:
    """Listen before napoleon does."""
    app.connect("autodoc-process-docstring", process, priority=400)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
