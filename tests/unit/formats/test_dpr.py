"""DPR passages: quoting, packing, ids and titles as text."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from mtrlib.data.formats import dpr
from mtrlib.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:the reader of:UserWarning")

HEADER = "id\ttext\ttitle\n"
ROWS = (
    '0012\t"He said ""go"", then left."\tHarbour\n'
    "2\tPlain words.\tNone\n"
    '3\t"Two\nlines."\tN/A\n'
    '4\t\t"A ""B"" side"\n'
)


def write(path: Path, text: str | bytes) -> Path:
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("name", ["psgs_w100.tsv", "psgs_w100.tsv.gz"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_cells_are_text_and_quotes_are_undone(tmp_path: Path, name: str, end: str):
    path = write(tmp_path / name, "\ufeff" + (HEADER + ROWS).replace("\n", end))
    assert dpr.FORMAT.recognises(path)
    passages = list(dpr.read_passages(path))
    assert [(p.passage_id, p.title) for p in passages] == [
        ("0012", "Harbour"),
        ("2", "None"),
        ("3", "N/A"),
        ("4", 'A "B" side'),
    ]
    assert [p.text for p in passages] == [
        'He said "go", then left.',
        "Plain words.",
        f"Two{end}lines.",
        "",
    ]
    assert [p.source for p in passages] == [f"{name}:{n}" for n in (2, 3, 4, 6)]


def test_columns_may_stand_in_another_order(tmp_path: Path):
    path = write(tmp_path / "a.tsv", "id\ttitle\ttext\n1\tA\tb\n")
    assert dpr.FORMAT.recognises(path)
    (passage,) = dpr.read_passages(path)
    assert (passage.title, passage.text) == ("A", "b")


def test_files_without_quoting(tmp_path: Path):
    path = write(tmp_path / "a.tsv", HEADER + '1\t"Go" he said\tA "B\n')
    with pytest.raises(InputError, match=r"a\.tsv:2: quote marks do not fit .*quoted=False"):
        list(dpr.read_passages(path))
    (passage,) = dpr.read_passages(path, quoted=False)
    assert (passage.text, passage.title) == ('"Go" he said', 'A "B')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\ta\tb\n", r":1: header \['1', 'a', 'b'\]"),
        ("", r":1: header \[\]"),
        (HEADER + "1\ta\n", ":2: 2 cells, expected 3"),
        (HEADER + "1\ta\tb\n\n2\ta\tb\tc\n", ":4: 4 cells, expected 3"),
        (HEADER + "\ta\tb\n", ":2: id is '', which is no id"),
        (HEADER + '1\t"open\tA\n2\tb"\tB\n', ":2: quote marks do not fit .a tab inside a cell"),
        (HEADER + '1\ta\tA\n2\t"open\tB\n', ":3: quote marks do not fit .unexpected end of data"),
        (HEADER.encode() + b"1\t\xa4\xa4\tA\n", r"not UTF-8 near here"),
    ],
)
def test_errors(tmp_path: Path, text: str | bytes, message: str):
    with pytest.raises(InputError, match=rf"a\.tsv.*{message}"):
        list(dpr.read_passages(write(tmp_path / "a.tsv", text)))


def test_a_cut_packed_file(tmp_path: Path):
    path = write(
        tmp_path / "a.tsv.gz", HEADER + "".join(f"{i}\tw{i * i}\tT\n" for i in range(9000))
    )
    path.write_bytes(path.read_bytes()[:-4000])
    passages = dpr.read_passages(path)
    assert next(passages).passage_id == "0"
    with pytest.raises(InputError, match=r"a\.tsv\.gz: cannot be unpacked"):
        list(passages)


def test_other_tables_are_not_taken(tmp_path: Path):
    assert not dpr.FORMAT.recognises(write(tmp_path / "a.tsv", "query-id\tcorpus-id\tscore\n"))
    assert not dpr.FORMAT.recognises(tmp_path / "none.tsv")
    assert not dpr.FORMAT.recognises(tmp_path)
