"""TREC qrels and runs, and the tabular and JSON Lines qrels of BEIR and its kin.

Ids are text on all sides.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mtrlib.data.formats.base import Format, head
from mtrlib.data.jsonl import read_jsonl, read_text_lines, text_id
from mtrlib.data.schema import Qrels, Run
from mtrlib.errors import InputError

_HEADER_WORDS = {"query-id", "query_id", "qid", "query", "topic", "topic_id"}
_JSON_NAMES = (
    ("query-id", "query_id", "qid"),
    ("corpus-id", "corpus_id", "doc_id", "docid", "passage_id", "pid"),
    ("score", "relevance", "rel", "grade"),
)


def read_qrels(path: Path | str) -> Qrels:
    """Read judgements: TREC (``query 0 passage grade``), three columns, or JSON Lines.

    Columns are split at tabs where a line has any, else at white space, so ids with
    spaces survive in tabular files; a header line is known by its first word. A file named
    ``.jsonl`` holds objects with ``query-id`` or ``query_id``, ``corpus-id``, ``doc_id`` or
    ``passage_id``, and ``score``, ``relevance`` or ``rel``. Ids become text, so 1 and
    "1" are one query. A row that says again what another said is dropped and counted in a
    warning.

    Raises
    ------
    InputError
        Wrong number of columns, an unknown object, a grade that is no whole number, or one
        query-passage pair judged twice with different grades; file and line are named.
    """
    path = Path(path)
    judgements: dict[str, dict[str, int]] = {}
    repeated = 0
    rows = _json_judgements(path) if path.suffix == ".jsonl" else _judgements(path)
    for number, query_id, passage_id, grade in rows:
        known = judgements.setdefault(query_id, {})
        if passage_id not in known:
            known[passage_id] = grade
        elif known[passage_id] == grade:
            repeated += 1
        else:
            raise InputError.at(
                path,
                number,
                f"query {query_id}, passage {passage_id} has two grades "
                f"({known[passage_id]} and {grade}; ids are compared as text)",
                "keep one of the rows",
            )
    if repeated:
        warnings.warn(f"{path}: {repeated} repeated judgements were dropped", stacklevel=2)
    return Qrels(judgements)


def _judgements(path: Path) -> Iterator[tuple[int, str, str, int]]:
    for number, columns in _rows(path):
        if number == 1 and columns[0].lower() in _HEADER_WORDS:
            continue
        if len(columns) not in (3, 4):
            raise InputError.at(
                path,
                number,
                f"{len(columns)} columns, expected 3 or 4",
                "query, (0,) passage, grade",
            )
        yield number, columns[0], columns[-2], _grade(columns[-1], path, number)


def _json_judgements(path: Path) -> Iterator[tuple[int, str, str, int]]:
    for number, record in read_jsonl(path):
        found = []
        for names in _JSON_NAMES:
            there = [n for n in names if n in record]
            if len(there) != 1:
                raise InputError.at(
                    path,
                    number,
                    f"{' and '.join(there) or 'none'} of {', '.join(names)} "
                    f"(has {', '.join(record)})",
                    "query-id, corpus-id and score, one of each",
                )
            found.append((there[0], record[there[0]]))
        (query, query_id), (passage, passage_id), (_, grade) = found
        yield (
            number,
            text_id(query_id, path, number, query),
            text_id(passage_id, path, number, passage),
            _grade(grade, path, number),
        )


def _grade(value: Any, path: Path, number: int) -> int:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not _is_whole(str(value)):
        raise InputError.at(path, number, f"grade {value!r} is no whole number", "use 0, 1, 2 ...")
    return int(value)


def read_run(path: Path | str, system: str | None = None) -> Run:
    """Read a TREC run (``query Q0 passage rank score tag``); rows are taken by rank.

    Raises
    ------
    InputError
        Wrong number of columns, rank or score that is no number.
    """
    rows: dict[str, list[tuple[int, str, float]]] = {}
    tag = ""
    for number, columns in _rows(path):
        if len(columns) != 6:
            raise InputError.at(
                path,
                number,
                f"{len(columns)} columns, expected 6",
                "query Q0 passage rank score tag",
            )
        query_id, _, passage_id, rank, score, tag = columns
        try:
            rows.setdefault(query_id, []).append((int(rank), passage_id, float(score)))
        except ValueError:
            raise InputError.at(
                path, number, f"rank {rank!r} or score {score!r} is no number", "repair the line"
            ) from None
    rankings = {
        q: [(p, s) for _, p, s in sorted(found, key=lambda row: row[0])]
        for q, found in rows.items()
    }
    return Run.from_rankings(system or tag, rankings)


def write_run(path: Path, run: Run) -> None:
    """Write a TREC run, tab-separated so that ids with spaces stay whole."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for query_id, ranking in run.rankings.items():
            for rank, (passage_id, score) in enumerate(ranking, start=1):
                out.write(f"{query_id}\tQ0\t{passage_id}\t{rank}\t{score:.6f}\t{run.system}\n")


def _rows(path: Path | str) -> Iterator[tuple[int, list[str]]]:
    for number, line in read_text_lines(path):
        if line.strip():
            yield number, line.split("\t") if "\t" in line else line.split()


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal()


def _first_columns(path: Path) -> list[str]:
    """The cells of the first line that is no header; [] for anything else."""
    lines = [line for line in head(path, 1 << 14).split("\n") if line.strip()]
    rows = [line.split("\t") if "\t" in line else line.split() for line in lines[:2]]
    if rows and rows[0][0].lower() in _HEADER_WORDS:
        rows = rows[1:]
    return [cell.strip() for cell in rows[0]] if rows else []


def _recognises_qrels(path: Path) -> bool:
    if not path.is_file() or path.name.startswith("cranqrel"):  # its grades run the other way
        return False
    if path.suffix == ".jsonl":
        start = head(path).split("\n")[0]
        return all(any(f'"{n}"' in start for n in names) for names in _JSON_NAMES)
    columns = _first_columns(path)
    tabular = len(columns) == 3 or (len(columns) == 4 and columns[1].upper() in ("0", "Q0"))
    return tabular and _is_whole(columns[-1])


def _recognises_run(path: Path) -> bool:
    columns = _first_columns(path) if path.is_file() else []
    return len(columns) == 6 and columns[1].upper() in ("Q0", "0") and _is_whole(columns[3])


FORMAT_QRELS = Format(
    name="qrels",
    title="judgements: TREC, three columns, or JSON Lines",
    seen="real record",
    recognises=_recognises_qrels,
    qrels=read_qrels,
)
FORMAT_RUN = Format(
    name="trec-run",
    title="ranked output of a system, six columns",
    seen="real record",
    recognises=_recognises_run,
    run=read_run,
)
FORMATS = (FORMAT_QRELS, FORMAT_RUN)
