"""Where things are. Every path in notebooks and library comes from here.

``MTR_ROOT`` overrides the repository root (for an installed package), ``MTR_CACHE`` the
user cache. The cache lives outside the repository, so a fresh clone on the same machine
is warm and ``make clean`` cannot delete what was expensive.
"""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from mtrlib.errors import InputError


def root() -> Path:
    """Repository root: ``MTR_ROOT``, else the folder above this package.

    Raises
    ------
    InputError
        If that folder has no ``data/registry.json`` (package installed elsewhere).
    """
    found = Path(os.environ.get("MTR_ROOT") or Path(__file__).resolve().parent.parent)
    if not (found / "data" / "registry.json").is_file():
        raise InputError.at(
            found, None, "no data/registry.json here", "set MTR_ROOT to a clone of the repository"
        )
    return found


def cache(*parts: str) -> Path:
    """Folder ``parts`` of the user cache, created on demand.

    Raises
    ------
    InputError
        If the folder cannot be created or written.
    """
    base = Path(os.environ.get("MTR_CACHE") or platformdirs.user_cache_dir("mtrlib"))
    folder = base.joinpath(*parts)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        raise InputError.at(
            folder, None, "the cache folder cannot be written", "set MTR_CACHE to a folder you own"
        )
    return folder


def build(tag: str) -> Path:
    """Output folder of a run, ``build/<tag>`` (see :attr:`mtrlib.profiles.Profile.tag`).

    Below ``MTR_BUILD`` instead where a proof run has set that variable.
    """
    elsewhere = os.environ.get("MTR_BUILD")
    return (Path(elsewhere) if elsewhere else root() / "build") / tag


def given(name: str) -> Path:
    """A file or folder that a setting names: as it stands, else from the repository root.

    A notebook runs in ``notebooks/`` and a command wherever its user is, so a relative name that
    does not exist here is taken from the root. The path is not checked: who reads it does.
    """
    here = Path(name).expanduser()
    there = root() / here
    return there if there.exists() and not here.exists() else here


def notebooks() -> Path:
    """The committed, numbered notebooks."""
    return root() / "notebooks"


def results() -> Path:
    """Committed results: one CSV and one JSON manifest per artefact."""
    return root() / "data" / "results"


def figures() -> Path:
    """Committed figures: one PNG and the CSV of its points per figure."""
    return root() / "figures"
