"""The Cranfield collection: ``cran.all.1400``, ``cran.qry``, ``cranqrel``.

Facts of the format
    Records begin with ``.I number``; ``.T`` title, ``.A`` author, ``.B`` source, ``.W`` text,
    which repeats the title in its first lines. One abstract has a second ``.W`` in its
    midst; its text goes on. Two abstracts (471, 995) are empty and stay: they are in the
    corpus, and never a hit.
    ``.I`` numbers of the queries run to 365 with gaps. The judgements do not use them: their
    query number is the *place* of the query in the file, 1 to 225. So is our ``query_id``.
    Grades run from 1 (a complete answer) to 4 (minimum interest), and -1 (none). They are
    turned round, so that more is better: 1, 2, 3, 4, -1 become 4, 3, 2, 1, 0. (Some pages
    give the four in the other order; 1 is rare, 128 of 1,612, as complete answers are.)

Distributed since the 1960s in the SMART layout, today in many repositories; no licence stated.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mtrlib.data.formats.base import Format, head
from mtrlib.data.jsonl import read_text_lines
from mtrlib.data.schema import Conversation, Passage, Qrels, Turn
from mtrlib.errors import InputError

DOCUMENTS, QUERIES, JUDGEMENTS = "cran.all.1400", "cran.qry", "cranqrel"
GRADES = {"1": 4, "2": 3, "3": 2, "4": 1, "-1": 0}


def read_passages(path: Path | str) -> Iterator[Passage]:
    """Abstracts, from ``cran.all.1400`` or the folder that holds it.

    Raises
    ------
    InputError
        A line outside a record, a field that the format does not have, a record without
        number; file and line are named.
    """
    path = _inside(Path(path), DOCUMENTS)
    for line, number, parts in _records(path):
        yield Passage(
            number, parts.get(".W", ""), parts.get(".T", ""), source=f"{path.name}:{line}"
        )


def read_conversations(path: Path | str) -> Iterator[Conversation]:
    """Queries as conversations of one turn, numbered by place, with gold from ``cranqrel``.

    Parameters
    ----------
    path : the folder, or ``cran.qry`` with ``cranqrel`` beside it.

    Raises
    ------
    InputError
        As :func:`read_passages` and :func:`read_qrels`; judgements of a query that is not there.
    """
    path = _inside(Path(path), QUERIES)
    qrels = read_qrels(path.parent)
    known = set()
    for place, (line, number, parts) in enumerate(_records(path), start=1):
        query_id = str(place)
        known.add(query_id)
        yield Conversation(
            query_id,
            (
                Turn(
                    query_id,
                    query_id,
                    1,
                    parts.get(".W", ""),
                    gold=tuple(sorted(qrels.gold(query_id))),
                    labels=(f"printed_number:{number}",),
                    source=f"{path.name}:{line}",
                ),
            ),
        )
    for query_id in qrels:
        if query_id not in known:
            raise InputError.at(
                path.parent / JUDGEMENTS,
                None,
                f"query {query_id} is not among the {len(known)} of {path.name}",
                "use files of one version",
            )


def read_qrels(path: Path | str) -> Qrels:
    """Judgements with grades turned round (module text), from ``cranqrel`` or its folder.

    Raises
    ------
    InputError
        Other than three columns, an unknown grade, one pair with two grades.
    """
    path = _inside(Path(path), JUDGEMENTS)
    judgements: dict[str, dict[str, int]] = {}
    for line, text in read_text_lines(path):
        if not text.strip():
            continue
        columns = text.split()
        if len(columns) != 3 or columns[2] not in GRADES:
            raise InputError.at(
                path, line, f"{text.strip()!r}", "query, document, grade of 1 to 4 or -1"
            )
        query_id, passage_id, grade = columns[0], columns[1], GRADES[columns[2]]
        if judgements.setdefault(query_id, {}).setdefault(passage_id, grade) != grade:
            raise InputError.at(
                path,
                line,
                f"query {query_id}, document {passage_id} has two grades",
                "keep one of the rows",
            )
    return Qrels(judgements)


def _records(path: Path) -> Iterator[tuple[int, str, dict[str, str]]]:
    """Line, number and fields of each record; lines of a field are joined by spaces."""
    begin, number, field = 0, "", ""
    parts: dict[str, list[str]] = {}
    for line, text in read_text_lines(path):
        if text.startswith(".I"):
            if begin:
                yield begin, number, {k: " ".join(" ".join(v).split()) for k, v in parts.items()}
            begin, number, field, parts = line, text[2:].strip(), "", {}
            if not number:
                raise InputError.at(path, line, "a record without number", ".I 1")
        elif text.rstrip() in (".T", ".A", ".B", ".W") and begin:
            field = text.rstrip()
            parts.setdefault(field, [])
        elif field:
            parts[field].append(text)
        elif text.strip():
            raise InputError.at(
                path, line, f"{text[:40]!r} outside a field", "check that this is Cranfield"
            )
    if not begin:
        raise InputError.at(path, None, "no records", "records begin with .I")
    yield begin, number, {k: " ".join(" ".join(v).split()) for k, v in parts.items()}


def _inside(path: Path, name: str) -> Path:
    return path / name if path.is_dir() else path


def _recognises(path: Path) -> bool:
    if path.is_dir():
        return (path / QUERIES).is_file() and (path / JUDGEMENTS).is_file()
    return path.name == JUDGEMENTS or (path.name.startswith("cran.") and head(path)[:3] == ".I ")


FORMAT = Format(
    name="cranfield",
    title="Cranfield 1400: abstracts, queries and graded judgements",
    seen="real record",
    recognises=_recognises,
    passages=read_passages,
    conversations=read_conversations,
    qrels=read_qrels,
)
FORMATS = (FORMAT,)
