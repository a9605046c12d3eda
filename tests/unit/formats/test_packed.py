"""Packed and plain files as lines, records and JSON items."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import pytest

from mtrlib.data.formats.packed import json_items, packed_head, packed_lines, packed_records
from mtrlib.errors import InputError

PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}


def packed(folder: Path, name: str, data: str | bytes) -> Path:
    path = folder / name
    raw = data.encode() if isinstance(data, str) else data
    path.write_bytes(PACKERS[path.suffix if path.suffix in PACKERS else ""](raw))
    return path


@pytest.mark.parametrize("suffix", list(PACKERS))
def test_lines_and_records_are_the_same_packed_or_not(tmp_path: Path, suffix: str):
    path = packed(tmp_path, f"a.jsonl{suffix}", '\ufeff{"a": "x\u2028y"}\r\n\n{"a": 2}\n')
    assert list(packed_lines(path)) == [(1, '{"a": "x\u2028y"}'), (2, ""), (3, '{"a": 2}')]
    found = [(f"{path.name}:1", {"a": "x\u2028y"}), (f"{path.name}:3", {"a": 2})]
    assert list(packed_records(path)) == found
    assert packed_head(path, 32).startswith('{"a": "x')


@pytest.mark.parametrize("suffix", list(PACKERS))
def test_lists_give_an_index_as_source(tmp_path: Path, suffix: str):
    path = packed(tmp_path, f"a.json{suffix}", ' [{"a": 1.5},\n {"a": "b"}]')
    assert list(packed_records(path)) == [
        (f"{path.name}#0", {"a": 1.5}),
        (f"{path.name}#1", {"a": "b"}),
    ]


def test_a_list_inside_a_document_may_stand_on_one_line(tmp_path: Path):
    path = packed(tmp_path, "a.json", '\ufeff{"Version": "1", "Rows": [{"a": 1}, {"a": 2}]}')
    assert list(json_items(path, "Rows.item")) == [("a.json#0", {"a": 1}), ("a.json#1", {"a": 2})]


@pytest.mark.parametrize("suffix", [".gz", ".bz2"])
def test_a_cut_file_gives_what_it_has_and_then_an_error(tmp_path: Path, suffix: str):
    path = packed(tmp_path, f"a.jsonl{suffix}", "".join(f'{{"a": {i**9}}}\n' for i in range(9999)))
    whole = path.read_bytes()
    cut = whole[: int(len(whole) * (0.5 if suffix == ".gz" else 0.99))]
    path.write_bytes(cut)
    with pytest.raises(InputError, match=r"a\.jsonl\.\w+: cannot be unpacked .*fetch it again"):
        list(packed_records(path))
    if suffix == ".gz":
        assert next(packed_records(path)) == ("a.jsonl.gz:1", {"a": 0})


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.jsonl.gz", b'{"a": \n', r"a\.jsonl\.gz:1: not JSON"),
        ("a.jsonl.gz", b'{"a": 1}\n3\n', r"a\.jsonl\.gz:2: a JSON value, not an object"),
        ("a.jsonl.gz", b'{"a": 1}\n{"a": "\xff"}\n', r"a\.jsonl\.gz:2: not UTF-8"),
        ("a.json.bz2", b'[{"a": 1}, 2]', r"a\.json\.bz2: item 1 is no object"),
        ("a.json.bz2", b'[{"a": 1}, {"a"', r"a\.json\.bz2: not valid JSON"),
    ],
)
def test_errors_name_the_place(tmp_path: Path, name: str, data: bytes, message: str):
    with pytest.raises(InputError, match=message):
        list(packed_records(packed(tmp_path, name, data)))


def test_what_is_no_packed_file(tmp_path: Path):
    plain = tmp_path / "plain.jsonl.gz"
    plain.write_text('{"a": 1}\n')
    pointer = tmp_path / "pointer.jsonl.gz"
    pointer.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    for path, message in [
        (plain, "cannot be unpacked"),
        (pointer, "a Git LFS pointer"),
        (tmp_path / "none.jsonl.gz", "no such file"),
    ]:
        with pytest.raises(InputError, match=message):
            list(packed_lines(path))
        assert packed_head(path) == ""
