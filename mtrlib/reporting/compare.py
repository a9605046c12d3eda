"""Fresh numbers against committed ones: every difference named by artefact, row and column.

Rows are joined on all columns that hold no decimals; columns with decimals must agree within
an absolute tolerance. A manifest may widen it per column, but an exact zero never passes for
a committed value larger than the default tolerance, whatever the manifest says.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from mtrlib import paths
from mtrlib.errors import InputError

TOLERANCE = 5e-4
COLUMNS = ["artefact", "row", "column", "committed", "fresh", "delta", "status"]
MANIFEST_ENTRIES = ("mode", "settings", "data", "models")

Difference = tuple[str, str, str, str, str, float, str]


def compare(
    fresh_dir: Path,
    committed_dir: Path,
    *,
    tolerance: float = TOLERANCE,
    numbers: Collection[str] | None = None,
) -> pd.DataFrame:
    """Differences between two folders of artefacts, one row each; empty when they agree.

    Parameters
    ----------
    fresh_dir, committed_dir : folders of CSVs, with JSON manifests or PNGs beside them.
    tolerance : absolute difference that is allowed in columns with decimals.
    numbers : of notebooks (``03``); only the artefacts that bear one of them (``t03_recall``,
        ``fig03_asl``) are compared. None compares all.

    Returns
    -------
    Columns ``artefact, row, column, committed, fresh, delta, status``; the status is
    ``DIFFERENT``, ``MISSING ROW``, ``EXTRA ROW``, ``MISSING FILE``, ``EXTRA FILE``
    or ``COLUMNS``.
    """
    found: list[Difference] = []
    fresh, committed = _names(fresh_dir), _names(committed_dir)
    for name in sorted(fresh | committed):
        if numbers is not None and _notebook_number(name) not in numbers:
            continue
        if name not in fresh:
            found.append((name, "", "", "", "", math.nan, "MISSING FILE"))
        elif name not in committed:
            found.append((name, "", "", "", "", math.nan, "EXTRA FILE"))
        elif name.endswith(".csv"):
            widened = _manifest(committed_dir / name).get("tolerance", {})
            found += _tables(
                name, _read(fresh_dir / name), _read(committed_dir / name), tolerance, widened
            )
        elif name.endswith(".json"):
            found += _manifests(name, _manifest(fresh_dir / name), _manifest(committed_dir / name))
    return pd.DataFrame(found, columns=COLUMNS)


def compare_build(build: Path) -> pd.DataFrame:
    """:func:`compare` for the results and the figures of a ``default`` run's folder.

    Raises
    ------
    InputError
        If that run has left no results.
    """
    if not (build / "results").is_dir() and not (build / "figures").is_dir():
        raise InputError.at(build, None, "no results here", "run the notebooks first")
    pairs = (build / "results", paths.results()), (build / "figures", paths.figures())
    return pd.concat([compare(fresh, kept) for fresh, kept in pairs], ignore_index=True)


def _notebook_number(name: str) -> str:
    found = re.match(r"(?:t|fig)(\d\d)_", name)
    return found[1] if found else ""


def _names(folder: Path) -> set[str]:
    kinds = {".csv", ".json", ".png"}
    return {p.name for p in folder.glob("*") if p.suffix in kinds} if folder.is_dir() else set()


def _manifest(path: Path) -> dict[str, Any]:
    path = path.with_suffix(".json")
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def _manifests(
    name: str, fresh: Mapping[str, Any], committed: Mapping[str, Any]
) -> Iterator[Difference]:
    for entry in MANIFEST_ENTRIES:
        new, old = fresh.get(entry), committed.get(entry)
        if new != old:
            yield (name, "", entry, json.dumps(old), json.dumps(new), math.nan, "DIFFERENT")


def _tables(
    name: str,
    fresh: pd.DataFrame,
    committed: pd.DataFrame,
    tolerance: float,
    widened: Mapping[str, float],
) -> Iterator[Difference]:
    if list(fresh.columns) != list(committed.columns):
        old, new = ",".join(committed.columns), ",".join(fresh.columns)
        yield (name, "", "", old, new, math.nan, "COLUMNS")
        return
    decimals = [str(c) for c in fresh if _has_decimals(pd.concat([fresh[c], committed[c]]))]
    keys = [str(c) for c in fresh if c not in decimals]
    joined = _keyed(committed, keys).merge(
        _keyed(fresh, keys),
        on=[*keys, "_nth"],
        how="outer",
        sort=False,
        suffixes=(" old", " new"),
        indicator="_side",
    )
    for record in joined.to_dict("records"):
        row = ", ".join(f"{key}={record[key]}" for key in keys)
        if record["_nth"]:
            row += f" (repetition {record['_nth']})"
        if record["_side"] != "both":
            status = "MISSING ROW" if record["_side"] == "left_only" else "EXTRA ROW"
            yield (name, row, "", "", "", math.nan, status)
            continue
        for column in decimals:
            old, new = record[f"{column} old"], record[f"{column} new"]
            delta = _number(new) - _number(old)
            if not _agree(_number(old), _number(new), tolerance, widened.get(column, tolerance)):
                yield (name, row, column, old, new, delta, "DIFFERENT")


def _keyed(frame: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    # rows that share all keys are paired in their order
    nth = frame.groupby(keys, sort=False).cumcount() if keys else range(len(frame))
    return frame.assign(_nth=nth)


def _has_decimals(cells: pd.Series) -> bool:
    filled = [cell for cell in cells if cell]
    if any(math.isnan(_number(cell)) for cell in filled):
        return False
    return any(mark in cell for cell in filled for mark in (".", "e", "inf"))


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return math.nan


def _agree(old: float, new: float, tolerance: float, widened: float) -> bool:
    if math.isnan(old) or math.isnan(new):
        return math.isnan(old) and math.isnan(new)
    if old == new:
        return True
    allowed = tolerance if new == 0 else max(tolerance, widened)
    # the files hold six decimals: half a unit of the last keeps 0.0005 inside 0.0005
    return abs(new - old) <= allowed + 5e-7
