"""Folders that an export makes: whole or not at all, and never over somebody's files."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mtrlib.errors import InputError

MANIFEST = "export.json"


@contextmanager
def whole_folder(folder: Path | str, *, overwrite: bool) -> Iterator[Path]:
    """A folder to write to that takes the place of ``folder`` when the block ends without error.

    Parameters
    ----------
    overwrite : replace an earlier export. One is known by its manifest, and only if nothing
        else has come into the folder since.

    Raises
    ------
    InputError
        The folder is not empty (without ``overwrite``), is no folder, or holds files that no
        export wrote; nothing is changed then.
    """
    folder = Path(folder)
    _refuse_to_hide(folder, overwrite)
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = folder.with_name(f"{folder.name}.{os.getpid()}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        yield part
        _refuse_to_hide(folder, overwrite)
        if folder.exists():
            before = folder.with_name(f"{folder.name}.{os.getpid()}.before")
            folder.replace(before)
            part.replace(folder)
            shutil.rmtree(before)
        else:
            part.replace(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_manifest(folder: Path, about: Mapping[str, Any]) -> dict[str, Any]:
    """Write ``export.json`` last: what the export holds, and the names of its files."""
    manifest = {**about, "files": _files(folder)}
    text = json.dumps(manifest, ensure_ascii=False, indent=2)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8", newline="\n")
    return manifest


def _refuse_to_hide(folder: Path, overwrite: bool) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError.at(folder, None, "a file, not a folder", "name another folder")
    held = _files(folder)
    if not held and not any(folder.iterdir()):
        return
    if not overwrite:
        raise InputError.at(
            folder, None, "not empty", "name another folder, or pass overwrite=True"
        )
    try:
        stated = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
        strange = sorted(set(held) - {*stated, MANIFEST})
    except (OSError, ValueError, KeyError, TypeError):
        strange = held or ["folders"]
    if strange:
        raise InputError.at(
            folder,
            None,
            f"holds what no export wrote ({strange[0]}, {len(strange)} such files)",
            "name another folder; this one is not replaced",
        )


def _files(folder: Path) -> list[str]:
    found = (p for p in folder.rglob("*") if not p.is_dir() or p.is_symlink())
    return sorted(p.relative_to(folder).as_posix() for p in found)
