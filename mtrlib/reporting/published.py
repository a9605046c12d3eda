"""The published numbers of ``data/paper/expected.yaml``: one block, one table, or all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pandas as pd
import yaml

from mtrlib import paths
from mtrlib.errors import InputError

DIFFERENT_SETUP = "DIFFERENT SETUP"  # other data, other models: shown beside, never compared
NOT_RUN = "NOT RUN"  # no number of ours
PATH = " · "

_ABOUT = frozenset(
    "source work notebook setup unit decimals tolerance testable note n headline requires ours "
    "columns retrievers benchmarks claim claims".split()
)
_NESTED = ("rows", "values", "numbers")  # hold numbers, say nothing about them


@dataclass(frozen=True)
class PublishedNumber:
    """One number of a paper.

    Attributes
    ----------
    block : its block in the file; ``path`` the names on the way to it there.
    value : as published, in ``unit``; ``decimals`` of them are given.
    tolerance : difference in ``unit`` that counts as the same; None = rounding alone.
    about : the entries of the block.
    """

    block: str
    path: tuple[str, ...]
    value: float
    unit: str
    decimals: int
    tolerance: float | None
    about: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The path as text."""
        return PATH.join(self.path)


@lru_cache(maxsize=1)
def _read() -> dict[str, Any]:
    path = paths.root() / "data" / "paper" / "expected.yaml"
    if not path.is_file():
        raise InputError.at(path, None, "no such file", "restore it from the repository")
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def published(block: str) -> dict[str, Any]:
    """One block of the file: its values, with ``source``, ``unit``, ``testable``, ``tolerance``.

    Raises
    ------
    InputError
        Unknown block.
    """
    found = _read()
    if block not in found:
        raise InputError(f"{block!r} is not in data/paper/expected.yaml: {', '.join(found)}.")
    return dict(found[block])


def published_table(block: str) -> pd.DataFrame:
    """The rows of a block, one per name, with its columns.

    Raises
    ------
    InputError
        Unknown block, or one whose rows are not one list of numbers each.
    """
    found = published(block)
    rows, columns = found.get("rows"), found.get("columns")
    if not isinstance(rows, dict) or not columns:
        raise InputError(f"{block!r} of data/paper/expected.yaml is no plain table.")
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns, dtype=float)


def published_numbers() -> list[PublishedNumber]:
    """Every number of the file, in its order; texts and gaps (``null``) are no numbers."""
    found = []
    for block, about in _read().items():
        for name, value in about.items():
            if name in _ABOUT:
                continue
            start = () if name in _NESTED else (name,)
            for path, number in _leaves(value, start, about):
                found.append(
                    PublishedNumber(
                        block,
                        path,
                        float(number),
                        about["unit"],
                        about["decimals"],
                        about.get("tolerance"),
                        about,
                    )
                )
    return found


def _leaves(
    value: Any, path: tuple[str, ...], about: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, ...], float]]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _leaves(part, (*path, str(name)), about)
    elif isinstance(value, list):
        inner = any(isinstance(part, list) for part in value)
        numbered = [str(n) for n in range(1, len(value) + 1)]
        names = about.get("retrievers" if inner else "columns", numbered)
        for name, part in zip(names, value, strict=True):
            yield from _leaves(part, (*path, name), about)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value
