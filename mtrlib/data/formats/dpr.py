"""DPR passages: Wikipedia of December 2018 in blocks of 100 words, as TSV.

``psgs_w100.tsv``, packed with gzip or not: a header ``id  text  title``, tab-separated, cells
quoted as in CSV. Ids are numbers from 1, kept as text. The chunk corpora of QAMPARI and TopiOCQA
are often converted to this layout.

Source: github.com/facebookresearch/DPR, ``dpr/data/retriever_data.py``; Karpukhin et al. 2020.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from mtrlib.data.formats.base import Format
from mtrlib.data.formats.packed import packed_head, unpacked
from mtrlib.data.jsonl import text_id
from mtrlib.data.schema import Passage
from mtrlib.errors import InputError

_COLUMNS = {"id", "text", "title"}


def read_passages(path: Path, quoted: bool = True) -> Iterator[Passage]:
    """Passages in the order of the file; ``source`` names a record's first line.

    Cells are never interpreted: the titles ``None`` and ``N/A`` are text, ``0012`` stays.

    Parameters
    ----------
    quoted : whether quote marks enclose cells, as in the published file. Files that were
        written without quoting have bare marks in their texts and need False.

    Raises
    ------
    InputError
        Another header, a row that has not three cells, an empty id, a quote that is not
        closed, bytes that are not UTF-8, or damaged packing.
    """
    FORMAT.notice()
    with unpacked(path) as stream:
        lines = io.TextIOWrapper(stream, encoding="utf-8", newline="\n")
        rows = csv.reader(
            lines,
            delimiter="\t",
            quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
            strict=True,
        )
        before = 0
        try:
            header = next(rows, [])
            if set(header) != _COLUMNS or len(header) != len(_COLUMNS):
                raise InputError.at(path, 1, f"header {header}", "columns are id, text, title")
            before = rows.line_num
            for row in rows:
                if row:
                    yield _passage(dict(zip(header, row, strict=False)), len(row), path, before + 1)
                before = rows.line_num
        except csv.Error as error:
            raise _misquoted(path, before + 1, str(error)) from None
        except UnicodeDecodeError as error:
            raise InputError.at(
                path, before + 1, f"not UTF-8 near here ({error.reason})", "fetch it again"
            ) from None


def _passage(cells: dict[str, str], width: int, path: Path, line: int) -> Passage:
    if width != len(_COLUMNS):
        raise InputError.at(path, line, f"{width} cells, expected 3", "id, text, title")
    if any("\t" in cell for cell in cells.values()):
        raise _misquoted(path, line, "a tab inside a cell")
    passage_id = text_id(cells["id"], path, line, "id")
    return Passage(passage_id, cells["text"], cells["title"], source=f"{path.name}:{line}")


def _misquoted(path: Path, line: int, problem: str) -> InputError:
    return InputError.at(
        path,
        line,
        f"quote marks do not fit ({problem})",
        "close the quote, or read a file without quoting with quoted=False",
    )


def _recognises(path: Path) -> bool:
    if not path.is_file():
        return False
    first = packed_head(path).split("\n", 1)[0].rstrip("\r")
    cells = [cell.strip('"') for cell in first.split("\t")]
    return len(cells) == len(_COLUMNS) and set(cells) == _COLUMNS


FORMAT = Format(
    "dpr-tsv",
    "DPR passages as TSV",
    "description only",
    _recognises,
    passages=read_passages,
)
FORMATS = (FORMAT,)
