"""Every published number beside ours, with a status that says what the pair is worth.

A number of ours is held against the published one only where it was made in the same setup: the
settings that the block requires, the paper's own systems, as many queries. Everything else stands
beside it, without a difference.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from mtrlib import paths
from mtrlib.errors import InputError
from mtrlib.profiles import Profile
from mtrlib.reporting import in_force, results
from mtrlib.reporting.published import (
    DIFFERENT_SETUP,
    PATH,
    PublishedNumber,
    published_numbers,
)

OK, WITHIN, FAIL, NOT_RUN = "OK", "WITHIN", "FAIL", "NOT RUN"
STATUSES = (OK, WITHIN, FAIL, DIFFERENT_SETUP, NOT_RUN)
COLUMNS = (
    "work artefact where number kind paper ours delta tolerance unit n_paper n status "
    "paper_setup setup notebook headline"
).split()

_RESERVED = ("table", "value", "scale")
Finished = tuple[pd.DataFrame, dict[str, Any]]


@dataclass(frozen=True)
class Ours:
    """A number of ours: ``same_setup`` as the published one, over ``n`` queries (None: no count).

    ``setup`` names what stands in for the paper's own.
    """

    value: float
    n: int | None = None
    same_setup: bool = False
    setup: str = ""


def matrix(profile: Profile) -> pd.DataFrame:
    """One row per published number of ``data/paper/expected.yaml``, in its order.

    Parameters
    ----------
    profile : whose results are shown: those of its own run (``build/<tag>``), and for a plain
        ``default`` those that are committed, where that run left none.

    Returns
    -------
    DataFrame
        ``work, artefact, where`` (place in the source), ``number, kind`` (result or setting),
        ``paper, ours, delta, tolerance, unit, n_paper, n, status, paper_setup, setup, notebook,
        headline`` (shown in README.md). ``delta`` is ours less the paper's, in ``unit``, and
        empty unless both were made in one setup.
    """
    found = _Results(profile)
    return pd.DataFrame([_row(number, found) for number in published_numbers()], columns=COLUMNS)


def status(number: PublishedNumber, ours: Ours | None) -> str:
    """What the pair is worth.

    ``OK``: equal within the rounding of the published number. ``WITHIN``: within its tolerance.
    ``FAIL``: neither, also where ours is better. A zero never is ``WITHIN``.
    """
    if ours is None:
        return NOT_RUN
    if not ours.same_setup:
        return DIFFERENT_SETUP
    off = abs(ours.value - number.value)
    if off <= 0.5 * 10**-number.decimals + 1e-9:
        return OK
    within = number.tolerance is not None and off <= number.tolerance + 1e-9
    return WITHIN if within and ours.value != 0 else FAIL


def counts(found: pd.DataFrame) -> pd.DataFrame:
    """How many numbers of each work and kind have which status; columns in a fixed order.

    A setting that equals the published one is no result: the two are counted apart.
    """
    table = pd.crosstab([found["work"], found["kind"]], found["status"])
    order = list(dict.fromkeys(zip(found["work"], found["kind"], strict=True)))
    table = table.reindex(order).reindex(columns=list(STATUSES), fill_value=0)
    return table.rename_axis(index=["work", "kind"], columns=None)


def failures(found: pd.DataFrame) -> list[str]:
    """One sentence per number of ours that misses the published one in the same setup."""
    return [
        f"{row['artefact']}, {row['number']}: paper {row['paper']:g}, ours {row['ours']:g} "
        f"({row['unit']}), tolerance {row['tolerance']:g}; see {row['notebook']}"
        for row in found[found["status"] == FAIL].to_dict("records")
    ]


def made_up_rows() -> pd.DataFrame:
    """The statuses of invented numbers, to show that every one of them can be reached.

    Each row takes the first published result that has a tolerance and sets an invented number
    beside it. None of it was measured.
    """
    number = next(n for n in published_numbers() if n.tolerance and n.about.get("n"))
    value, within = number.value, number.tolerance or 0.0
    n = number.about["n"]
    rows = {
        "the published number itself": Ours(value, n, same_setup=True),
        "off by half the tolerance": Ours(value - within / 2, n, same_setup=True),
        "better by twice the tolerance": Ours(value + 2 * within, n, same_setup=True),
        "zero": Ours(0.0, n, same_setup=True),
        "the published number, other data": Ours(value, n),
        "no number": None,
    }
    made = [
        (what, number.value, ours.value if ours else math.nan, status(number, ours))
        for what, ours in rows.items()
    ]
    return pd.DataFrame(made, columns=["invented", "paper", "ours", "status"])


class _Results:
    """Finished tables of a run, each read once."""

    def __init__(self, profile: Profile) -> None:
        self._folders = [paths.build(profile.tag) / "results"]
        if profile.tag == "default":
            self._folders.append(paths.results())
        self._read: dict[str, Finished | None] = {}
        self._settings: dict[str, dict[str, Any]] = {}

    def table(self, name: str) -> Finished | None:
        """Table and manifest; None where no run has left it. ``real/...`` is committed alone."""
        if name not in self._read:
            folders = [paths.results()] if name.startswith("real/") else self._folders
            self._read[name] = _first_finished(folders, name)
        return self._read[name]

    def settings(self, source: str) -> dict[str, Any]:
        """Settings in force, of :data:`mtrlib.reporting.in_force.SOURCES`."""
        if source not in self._settings:
            self._settings[source] = in_force.SOURCES[source]()
        return self._settings[source]


def _ours_beside(number: PublishedNumber, found: _Results) -> Ours | None:
    """Our counterpart of a published number, None where there is none."""
    where = number.about["ours"]
    if "settings" in where:
        name = where.get("names", {}).get(number.name, number.name.replace(PATH, ".", 1))
        value = found.settings(where["settings"]).get(name)
        return None if value is None else Ours(float(value), same_setup=True, setup=name)
    picked = _pick(number, where)
    if picked is None or (finished := found.table(picked["table"])) is None:
        return None
    table, manifest = finished
    rows, standing_in = _select(table, picked["where"], number)
    if rows is None or len(rows) != 1 or pd.isna(rows[picked["value"]].iloc[0]):
        return None
    row = rows.iloc[0]
    count = where.get("n", "n")
    n = int(row[count]) if count in row and not pd.isna(row[count]) else None
    return Ours(
        float(row[picked["value"]]) * picked["scale"],
        n,
        not standing_in and _same_setup(number, manifest, n),
        ", ".join([manifest["settings"].get("PROFILE", "make real"), *standing_in]),
    )


def _row(number: PublishedNumber, found: _Results) -> dict[str, Any]:
    ours = _ours_beside(number, found)
    about, verdict = number.about, status(number, ours)
    held = verdict in (OK, WITHIN, FAIL)
    return {
        "work": about["work"],
        "artefact": number.block,
        "where": about["source"],
        "number": number.name,
        "kind": "setting" if "settings" in about["ours"] else "result",
        "paper": number.value,
        "ours": ours.value if ours else math.nan,
        "delta": ours.value - number.value if ours and held else math.nan,
        "tolerance": math.nan if number.tolerance is None else float(number.tolerance),
        "unit": number.unit,
        "n_paper": about.get("n"),
        "n": ours.n if ours else None,
        "status": verdict,
        "paper_setup": about["setup"],
        "setup": ours.setup if ours else "",
        "notebook": about["notebook"],
        "headline": number.name in about.get("headline", ()),
    }


def _pick(number: PublishedNumber, where: Mapping[str, Any]) -> dict[str, Any] | None:
    keys = where["keys"]
    if not all(name in keys for name in number.path):
        return None
    merged: dict[str, Any] = {k: v for name in number.path for k, v in keys[name].items()}
    return {
        "table": merged.get("table", where["table"]),
        "value": merged.get("value", "value"),
        "scale": merged.get("scale", where.get("scale", 1)),
        "where": {k: v for k, v in merged.items() if k not in _RESERVED},
    }


def _select(
    table: pd.DataFrame, where: Mapping[str, Sequence[Any]], number: PublishedNumber
) -> tuple[pd.DataFrame | None, list[str]]:
    """Rows that fit, and the values that stand in for the paper's own."""
    standing_in = []
    for column, alternatives in where.items():
        if column not in table:
            known = ", ".join(str(name) for name in table.columns)
            raise InputError(
                f"data/paper/expected.yaml, {number.block}: our table has no column {column!r}. "
                f"Mend: one of {known}."
            )
        cells = table[column].astype(str)
        chosen = next((a for a in alternatives if (cells == str(a)).any()), None)
        if chosen is None:
            return None, []
        if chosen != alternatives[0]:
            standing_in.append(str(chosen))
        table = table[cells == str(chosen)]
    return table, standing_in


def _same_setup(number: PublishedNumber, manifest: Mapping[str, Any], n: int | None) -> bool:
    settings = manifest["settings"]
    required = number.about.get("requires", {})
    wanted = number.about.get("n")
    return all(settings.get(k) == v for k, v in required.items()) and wanted in (None, n)


def _first_finished(folders: Sequence[Path], name: str) -> Finished | None:
    for folder in folders:
        if (folder / f"{name}.json").is_file():
            return results.load(name, folder)
    return None
