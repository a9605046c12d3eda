"""The comment that each parameter of a notebook carries: its type first, then range and meaning.

A reader who changes a value sees beside it what may stand there. The comment stands behind the
value, or on the lines directly above it.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator

# how a comment begins, by the type of the literal
BEGINNINGS: dict[type, str] = {
    bool: "True or False",
    int: "whole number",
    float: "number",
    str: "text",
    list: "list of text",
    tuple: "list of text",
}


def read_comments(source: str) -> dict[str, str]:
    """Name of each parameter of a cell -> its comment, "" for none.

    Parameters
    ----------
    source : plain Python; statements other than ``NAME = value`` are passed over.
    """
    return {name: comment for name, _, comment in _assigned(source)}


def comment_problems(source: str) -> Iterator[str]:
    """What is missing in the comments of a parameters cell.

    Yields
    ------
    str
        One sentence per parameter without a comment, or whose comment does not begin with its
        type, as :data:`BEGINNINGS` words it.
    """
    for name, value, comment in _assigned(source):
        wanted = BEGINNINGS.get(_kind(value), "")
        if not (comment and comment.startswith(wanted)):
            yield (
                f"parameter {name} needs a comment that begins with {wanted!r} and tells range "
                "or choices"
            )


def assignment(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """Name and value of ``NAME = value``, annotated or not; None for any other statement."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return name, value
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            return name, value
        case _:
            return None


def _assigned(source: str) -> Iterator[tuple[str, ast.expr, str]]:
    """Name, value and comment of each assignment to a name."""
    comments, lines = _comments(source), source.splitlines()
    for statement in ast.parse(source).body:
        if (assigned := assignment(statement)) is None:
            continue
        name, value = assigned
        first, last = statement.lineno, statement.end_lineno or statement.lineno
        while first > 1 and lines[first - 2].lstrip().startswith("#"):
            first -= 1
        own = [comments[n] for n in range(first, last + 1) if n in comments]
        yield name, value, " ".join(own).strip()


def _kind(value: ast.expr) -> type:
    try:
        return type(ast.literal_eval(value))
    except ValueError:
        return object


def _comments(source: str) -> dict[int, str]:
    """Text of each comment by its line, from 1."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {t.start[0]: t.string.lstrip("# ") for t in tokens if t.type == tokenize.COMMENT}
