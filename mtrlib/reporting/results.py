"""Results in and out: one CSV and one JSON manifest per artefact, figures with their points.

The manifest is written last and holds the CSV's SHA-256: without it, or with another one,
an artefact is unfinished. Nothing in either file depends on the moment or the folder.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import re
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import pandas as pd
from pandas.api import types

from mtrlib import __version__, paths
from mtrlib.errors import InputError
from mtrlib.profiles import Profile
from mtrlib.reporting import glyphs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Mode = Literal["measured", "replayed", "synthetic"]
DECIMALS = 6
DPI = 150
PACKAGES = (
    "bm25s", "faiss-cpu", "matplotlib", "numpy", "openai", "pandas", "scikit-learn", "scipy",
    "sentence-transformers", "tokenizers", "torch", "transformers",
)  # fmt: skip


def save(
    name: str,
    frame: pd.DataFrame,
    profile: Profile,
    *,
    mode: Mode = "measured",
    digests: Mapping[str, str] | None = None,
    models: Mapping[str, str] | None = None,
    trained: Mapping[str, str] | None = None,
    notes: str = "",
    tolerance: Mapping[str, float] | None = None,
) -> Path:
    """Write ``build/<tag>/results/<name>.csv``, then its manifest ``<name>.json``.

    Parameters
    ----------
    name : file name of the artefact: lower-case letters, digits, ``_``.
    frame : tidy table, one row per number; a named index becomes columns.
    profile : the settings the numbers were made with.
    mode : ``measured`` here, ``replayed`` from recorded replies, or ``synthetic``.
    digests : benchmark name -> SHA-256 of its data.
    models : model name -> SHA-256 of its weights.
    trained : the same of models trained here; not compared, since they differ in their last
        bits from one processor to the next.
    notes : what a reader of the bare file must know.
    tolerance : column -> absolute difference allowed in a comparison, where the default
        of :mod:`mtrlib.reporting.compare` is too narrow.

    Returns
    -------
    Path of the CSV relative to the repository root, the same on every machine.

    Raises
    ------
    InputError
        Unusable name or mode, or repeated column names.
    """
    if mode not in get_args(Mode):
        raise InputError(f"mode={mode!r} is unknown. Known: {', '.join(get_args(Mode))}.")
    folder = _folder(name, profile, "results")
    table = csv_bytes(frame)
    frame = _flat(frame)
    manifest = {
        "name": name,
        "mode": mode,
        "rows": len(frame),
        "columns": {column: _kind(frame[column]) for column in frame},
        "sha256": hashlib.sha256(table).hexdigest(),
        "seed": profile.SEED,
        "settings": profile.to_dict(),
        "data": dict(digests or {}),
        "models": dict(models or {}),
        **({"trained": dict(trained)} if trained else {}),
        "notes": notes,
        "tolerance": dict(tolerance or {}),
        "versions": versions(),
        "platform": f"{platform.system()} {platform.machine()}",
    }
    write_atomically(folder / f"{name}.csv", table)
    write_atomically(folder / f"{name}.json", json_bytes(manifest))
    return Path("build", profile.tag, "results", f"{name}.csv")


def save_all(tables: Mapping[str, pd.DataFrame], profile: Profile, **details: Any) -> list[str]:
    """:func:`save` for several tables that share mode, digests and models; a line for each."""
    saved = {name: save(name, table, profile, **details) for name, table in tables.items()}
    return [f"{path.as_posix()}: {len(tables[name])} rows" for name, path in saved.items()]


def save_figure(
    name: str,
    fig: Figure,
    points: pd.DataFrame,
    profile: Profile,
    *,
    tolerance: Mapping[str, float] | None = None,
) -> Path:
    """Write ``build/<tag>/figures/<name>.csv`` with the plotted points, then ``<name>.png``.

    ``tolerance`` is as for :func:`save`; it is written into ``<name>.json``. Returns the path of
    the PNG relative to the repository root.
    """
    folder = _folder(name, profile, "figures")
    glyphs.spell_out(fig)
    png = io.BytesIO()
    # the Software entry names the matplotlib version; without it equal pixels are equal bytes
    fig.savefig(png, format="png", dpi=DPI, bbox_inches="tight", metadata={"Software": None})
    write_atomically(folder / f"{name}.csv", csv_bytes(points))
    if tolerance:
        write_atomically(folder / f"{name}.json", json_bytes({"tolerance": dict(tolerance)}))
    write_atomically(folder / f"{name}.png", png.getvalue())
    return Path("build", profile.tag, "figures", f"{name}.png")


def load(name: str, where: Path | Profile) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Read a saved table and its manifest, from a folder or from a profile's own results.

    Raises
    ------
    InputError
        A file is missing, or the CSV is not the one the manifest was written for.
    """
    folder = paths.build(where.tag) / "results" if isinstance(where, Profile) else Path(where)
    table, manifest_path = folder / f"{name}.csv", folder / f"{name}.json"
    again = "run the notebook that saves it"
    if not manifest_path.is_file():
        raise InputError.at(manifest_path, None, "no manifest, so nothing finished here", again)
    if not table.is_file():
        raise InputError.at(table, None, "the table is missing beside its manifest", again)
    manifest = json.loads(manifest_path.read_text(encoding="utf-8"))
    raw = table.read_bytes()
    if hashlib.sha256(raw).hexdigest() != manifest["sha256"]:
        raise InputError.at(
            table, None, "changed since its manifest was written (SHA-256 differs)", again
        )
    kinds = manifest["columns"]
    floats = {column: [""] for column, kind in kinds.items() if kind == "float64"}
    frame = pd.read_csv(io.BytesIO(raw), dtype=kinds, keep_default_na=False, na_values=floats)
    return frame, manifest


def versions() -> dict[str, str]:
    """Versions that a number may depend on; packages that are not installed are left out."""
    found = {"mtrlib": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """UTF-8 CSV with line feeds; floats rounded to six decimals, no negative zero."""
    text: str = _flat(frame).map(_rounded).to_csv(index=False, lineterminator="\n")
    return text.encode()


def json_bytes(value: Any) -> bytes:
    """JSON with sorted keys and one entry a line."""
    return (json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def write_atomically(path: Path, content: bytes) -> None:
    """Write beside the target and rename, so that a reader sees the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_bytes(content)
    part.replace(path)


def _folder(name: str, profile: Profile, kind: str) -> Path:
    if not re.fullmatch(r"[a-z0-9_]+", name):
        raise InputError(f"artefact name {name!r}: use lower-case letters, digits and `_` only.")
    return paths.build(profile.tag) / kind


def _flat(frame: pd.DataFrame) -> pd.DataFrame:
    if any(level is not None for level in frame.index.names):
        frame = frame.reset_index()
    repeated = frame.columns[frame.columns.duplicated()].tolist()
    if repeated:
        raise InputError(f"column {repeated[0]!r} occurs more than once. Mend: rename it.")
    return frame


def _rounded(value: Any) -> Any:
    # adding zero turns -0.0 into 0.0
    return round(float(value), DECIMALS) + 0.0 if types.is_float(value) else value


def _kind(column: pd.Series) -> str:
    if types.is_integer_dtype(column) and column.isna().any():
        return "float64"  # a whole number that may be missing
    for kind, test in (
        ("bool", types.is_bool_dtype),
        ("int64", types.is_integer_dtype),
        ("float64", types.is_float_dtype),
    ):
        if test(column):
            return kind
    return "str"
