"""Rows of CSV and TSV files."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtrlib.data.formats.tables import table_rows
from mtrlib.errors import InputError


def test_cells_stay_text_and_sources_name_the_line(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_bytes('\ufeffid,text\r\n0012,"two\r\nlines"\r\n\r\nNone,7e2\r\n'.encode())
    assert list(table_rows(path)) == [
        ("a.csv:2", {"id": "0012", "text": "two\r\nlines"}),
        ("a.csv:5", {"id": "None", "text": "7e2"}),
    ]


def test_quotes_can_be_plain_characters(tmp_path: Path):
    path = tmp_path / "a.tsv"
    path.write_text('a\tb\n"never\tsaid" she\n')
    assert list(table_rows(path, "\t", quotes=False)) == [
        ("a.tsv:2", {"a": '"never', "b": 'said" she'})
    ]
    with pytest.raises(InputError, match=r"not readable as a table .*without quotes"):
        list(table_rows(path, "\t"))


def test_a_file_without_header_and_a_very_long_cell(tmp_path: Path):
    path = tmp_path / "a.tsv"
    path.write_text("1\t" + "x" * 200_000 + "\n")
    ((_, record),) = table_rows(path, "\t", header=("n", "text"))
    assert record["n"] == "1"
    assert len(record["text"]) == 200_000


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a,b\n1\n", r"a\.csv:2: 1 cells, expected 2 \(a, b\)"),
        (b"a,a\n1,2\n", r"a\.csv:1: two columns are named 'a'"),
        (b"", r"an empty file"),
        ("a\n限流\n".encode("gbk"), r"not UTF-8 near here.*iconv"),
        (b"version https://git-lfs.github.com/spec/v1\n", r"a\.csv:1: a Git LFS pointer"),
        (b'a,b\n1,"open\n', r"a\.csv:2: not readable as a table"),
    ],
)
def test_errors(tmp_path: Path, data: bytes, message: str):
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message):
        list(table_rows(path))


def test_missing_file_and_unknown_encoding(tmp_path: Path):
    with pytest.raises(InputError, match="no such file"):
        list(table_rows(tmp_path / "none.csv"))
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    with pytest.raises(InputError, match="unknown encoding 'klingon'"):
        list(table_rows(path, encoding="klingon"))
