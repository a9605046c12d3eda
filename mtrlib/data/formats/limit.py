"""LIMIT: who likes what, two documents a query; a BEIR folder but for its JSONL qrels.

``corpus.jsonl`` (``_id, title, text``; ids are names with spaces, titles are empty),
``queries.jsonl`` (``_id, text``), ``qrels.jsonl`` (``query-id, corpus-id, score``). LIMIT-small
has the 46 relevant documents alone, LIMIT itself 50,000.

Source: github.com/google-deepmind/limit, folder ``data``; Weller et al. 2025.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mtrlib.data.formats.base import Format, fields, head
from mtrlib.data.formats.multi_answer import question_text
from mtrlib.data.formats.trec import read_qrels
from mtrlib.data.jsonl import read_jsonl, text_id
from mtrlib.data.schema import Passage, Qrels
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import InputError


def read_passages(folder: Path) -> Iterator[Passage]:
    """Documents of ``corpus.jsonl`` under their names.

    Raises
    ------
    InputError
        A document without id or text.
    """
    path = folder / "corpus.jsonl"
    for line, record in read_jsonl(path):
        source = f"{path.name}:{line}"
        (text,) = fields(record, source, path, "text", kinds=(str,))
        passage_id = text_id(record.get("_id"), path, line, "_id")
        yield Passage(passage_id, text, str(record.get("title") or ""), source=source)


def read_questions(folder: Path) -> Iterator[ListQuestion]:
    """Queries with gold of score 1 or more, in the order of the qrels.

    A query that no row judges keeps empty gold. The set has no answers apart from documents.

    Raises
    ------
    InputError
        A query without id or text, or judgements of a query that is not in ``queries.jsonl``.
    """
    qrels = read_judgements(folder)
    path = folder / "queries.jsonl"
    unasked = dict.fromkeys(qrels)
    for line, record in read_jsonl(path):
        (text,) = fields(record, f"{path.name}:{line}", path, "text")
        query_id = text_id(record.get("_id"), path, line, "_id")
        unasked.pop(query_id, None)
        yield ListQuestion(
            query_id,
            question_text(text, f"{path}:{line}"),
            gold=tuple(p for p, grade in qrels.grades(query_id).items() if grade > 0),
            source=f"{path.name}:{line}",
        )
    if unasked:
        first = next(iter(unasked))
        raise InputError.at(
            folder / "qrels.jsonl",
            None,
            f"query {first} is not in queries.jsonl ({len(unasked)} such)",
            "use files of one version",
        )


def read_judgements(folder: Path) -> Qrels:
    """Judgements of ``qrels.jsonl``.

    Raises
    ------
    InputError
        As :func:`mtrlib.data.formats.trec.read_qrels`.
    """
    return read_qrels(folder / "qrels.jsonl")


def _recognises(path: Path) -> bool:
    names = ("corpus.jsonl", "queries.jsonl", "qrels.jsonl")
    if not all((path / name).is_file() for name in names):
        return False
    start = head(path / "qrels.jsonl").lstrip()
    return start.startswith("{") and '"query-id"' in start and '"corpus-id"' in start


FORMAT = Format(
    "limit",
    "LIMIT and LIMIT-small",
    "real record",
    _recognises,
    passages=read_passages,
    questions=read_questions,
    qrels=read_judgements,
)
FORMATS = (FORMAT,)
