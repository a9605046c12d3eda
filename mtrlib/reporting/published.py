"""The published numbers of ``data/paper/expected.yaml`` as tables, to stand beside ours."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pandas as pd
import yaml

from mtrlib import paths
from mtrlib.errors import InputError

DIFFERENT_SETUP = "DIFFERENT SETUP"  # other data, other models: shown beside, never compared


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
