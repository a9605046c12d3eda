"""Rows of CSV and TSV files as records, for the readers of this package.

Cells stay text: nothing turns ``0012`` into 12 or ``None`` into a missing value.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from mtrlib.data.jsonl import refuse_pointer
from mtrlib.errors import InputError

LONGEST_CELL = 1 << 30  # the csv module stops at 131,072 characters of its own accord


def table_rows(
    path: Path,
    delimiter: str = ",",
    quotes: bool = True,
    header: Sequence[str] = (),
    encoding: str = "utf-8-sig",
) -> Iterator[tuple[str, dict[str, str]]]:
    r"""Records of a delimited file, streamed; line ends ``\n`` and ``\r\n``, BOM allowed.

    Parameters
    ----------
    quotes : whether ``"`` encloses cells; False takes every quote as a plain character.
    header : column names of a file without a header line; () = the first line has them.

    Yields
    ------
    ``(name:line, record)``; the line is the one on which the record begins.

    Raises
    ------
    InputError
        Missing or empty file, Git LFS pointer, wrong encoding, a repeated column, a row with
        more or fewer cells than there are columns, a quote that does not close.
    """
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    rows = csv.reader(
        _lines(path, encoding),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
        strict=True,
    )
    names = list(header)
    line = 1
    try:
        for cells in rows:
            begin, line = line, rows.line_num + 1
            if not any(cells):
                continue
            if not names:
                names = _header(path, cells)
                continue
            if len(cells) != len(names):
                raise InputError.at(
                    path,
                    begin,
                    f"{len(cells)} cells, expected {len(names)} ({', '.join(names[:6])})",
                    "check delimiter and quotes of the file",
                )
            yield f"{path.name}:{begin}", dict(zip(names, cells, strict=True))
    except csv.Error as error:
        raise InputError.at(
            path,
            line,
            f"not readable as a table ({error})",
            "close the quote, or read the file without quotes if they are plain characters",
        ) from None
    if not names:
        raise InputError.at(path, None, "an empty file", "fetch it again")


def _header(path: Path, cells: list[str]) -> list[str]:
    repeated = sorted({c for c in cells if cells.count(c) > 1})
    if repeated:
        raise InputError.at(path, 1, f"two columns are named {repeated[0]!r}", "rename one of them")
    return cells


def _lines(path: Path, encoding: str) -> Iterator[str]:
    if not path.is_file():
        raise InputError.at(path, None, "no such file", "check the path")
    number = 0
    try:
        with path.open(encoding=encoding, newline="") as lines:
            for number, line in enumerate(lines, start=1):
                if number == 1:
                    refuse_pointer(path, line)
                yield line
    except LookupError:
        raise InputError.at(path, None, f"unknown encoding {encoding!r}", "use utf-8") from None
    except UnicodeError:
        raise InputError.at(
            path,
            number + 1,
            f"not {encoding.removesuffix('-sig').upper()} near here",
            "convert the file, for example `iconv -f GB18030 -t UTF-8`, or name its encoding",
        ) from None
