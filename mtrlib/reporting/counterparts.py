"""Our counterpart of a published number, looked up as ``data/paper/expected.yaml`` says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from mtrlib import paths
from mtrlib.errors import InputError
from mtrlib.profiles import Profile
from mtrlib.reporting import in_force, results
from mtrlib.reporting.published import PATH, PublishedNumber

_RESERVED = ("table", "value", "scale")
_Finished = tuple[pd.DataFrame, dict[str, Any]]


@dataclass(frozen=True)
class Ours:
    """A number of ours: ``same_setup`` as the published one, over ``n`` queries (None: no count).

    ``setup`` names what stands in for the paper's own.
    """

    value: float
    n: int | None = None
    same_setup: bool = False
    setup: str = ""


class OurResults:
    """Finished tables of a run, each read once."""

    def __init__(self, profile: Profile) -> None:
        self._folders = [paths.build(profile.tag) / "results"]
        if profile.tag == "default":
            self._folders.append(paths.results())
        self._read: dict[str, _Finished | None] = {}
        self._settings: dict[str, dict[str, Any]] = {}

    def table(self, name: str) -> _Finished | None:
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


def ours_beside(number: PublishedNumber, found: OurResults) -> Ours | None:
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
        ", ".join([*_other_settings(number, manifest["settings"]), *standing_in]),
    )


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


def _other_settings(number: PublishedNumber, settings: Mapping[str, Any]) -> list[str]:
    """The profile, and required settings that ours had otherwise, where one word says them."""
    required = number.about.get("requires", {})
    other = [f"{k}={settings.get(k)}" for k, v in required.items() if settings.get(k) != v]
    short = [text for text in other if not text.startswith("PROFILE=") and "[" not in text]
    return [settings.get("PROFILE", "make real"), *(short if "PROFILE" in settings else [])]


def _same_setup(number: PublishedNumber, manifest: Mapping[str, Any], n: int | None) -> bool:
    settings = manifest["settings"]
    required = number.about.get("requires", {})
    wanted = number.about.get("n")
    return all(settings.get(k) == v for k, v in required.items()) and wanted in (None, n)


def _first_finished(folders: Sequence[Path], name: str) -> _Finished | None:
    for folder in folders:
        if (folder / f"{name}.json").is_file():
            return results.load(name, folder)
    return None
