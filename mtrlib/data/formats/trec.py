"""TREC qrels and runs, and the tabular qrels of BEIR; ids are text on both sides."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mtrlib.data.jsonl import read_text_lines
from mtrlib.data.schema import Qrels, Run
from mtrlib.errors import InputError

_HEADER_WORDS = {"query-id", "query_id", "qid", "query", "topic", "topic_id"}


def read_qrels(path: Path | str) -> Qrels:
    """Read judgements: TREC (``query 0 passage grade``) or three columns with or without header.

    Columns are split at tabs where a line has any, else at white space, so ids with
    spaces survive in tabular files.

    Raises
    ------
    InputError
        Wrong number of columns, a grade that is no whole number, or one query-passage
        pair judged twice with different grades; file and line are named.
    """
    judgements: dict[str, dict[str, int]] = {}
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
        query_id, passage_id, grade = columns[0], columns[-2], columns[-1]
        if not _is_whole(grade):
            raise InputError.at(
                path, number, f"grade {grade!r} is no whole number", "use 0, 1, 2 ..."
            )
        known = judgements.setdefault(query_id, {})
        if known.setdefault(passage_id, int(grade)) != int(grade):
            raise InputError.at(
                path,
                number,
                f"query {query_id}, passage {passage_id} has two grades",
                "keep one of the rows",
            )
    return Qrels(judgements)


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
    return text.lstrip("-").isdecimal()
