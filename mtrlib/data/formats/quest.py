"""QUEST: entity-seeking queries with set operations; gold is keyed by document title.

Queries are JSON Lines with ``query, docs[title], original_query, scores, metadata{template,
domain, ...}``; documents are JSON Lines with ``title, text`` (``documents.zip``, 899 MB
unpacked). Augmented queries leave ``original_query`` empty. There are no query ids, so they are
made from file name and line. A query asks for entities and each is one document, so every gold
title is an answer too. LOFT's edition of the set is read by :mod:`.loft`.

Source: github.com/google-research/language, ``language/quest/README.md``; Malaviya et al. 2023.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mtrlib.data.formats import loft
from mtrlib.data.formats.base import Format, fields, head
from mtrlib.data.formats.multi_answer import listed, question_text
from mtrlib.data.formats.packed import is_packed
from mtrlib.data.jsonl import read_jsonl, text_id
from mtrlib.data.schema import Passage
from mtrlib.data.tasks import Answer, ListQuestion

_DOCUMENT = re.compile(r'\{\s*"title":\s*"(?:[^"\\]|\\.)*",\s*"text":\s*"')


def read_questions(path: Path) -> Iterator[ListQuestion]:
    """Queries with gold titles, in the set's order; a title named twice counts once.

    ``split`` is the file's name, ``kind`` the template of the query. The original query,
    domain, ratings and attributions are not kept.

    Raises
    ------
    InputError
        A field is missing or of another kind.
    """
    FORMAT.notice()
    for line, record in read_jsonl(path):
        source = f"{path.name}:{line}"
        where = f"{path}:{line}"
        query, docs = fields(record, source, path, "query", "docs")
        titles = dict.fromkeys(
            text_id(t, path, line, "docs") for t in listed(docs, "docs", where, str)
        )
        metadata = record.get("metadata") or {}
        yield ListQuestion(
            f"{path.stem}_{line}",
            question_text(query, where),
            tuple(Answer(title, (), (title,)) for title in titles),
            tuple(titles),
            split=path.stem,
            kind=str(metadata.get("template") or ""),
            source=source,
        )


def read_documents(path: Path) -> Iterator[Passage]:
    """Documents with their title as id, exactly as written, since gold names it.

    Raises
    ------
    InputError
        A document without title, or without text.
    """
    FORMAT_DOCUMENTS.notice()
    for line, record in read_jsonl(path):
        source = f"{path.name}:{line}"
        (text,) = fields(record, source, path, "text", kinds=(str,))
        title = text_id(record.get("title"), path, line, "title")
        yield Passage(title, text, title, source=source)


def _has_queries(path: Path) -> bool:
    start = head(path).lstrip()
    return (
        start.startswith("{")
        and all(f'"{n}":' in start for n in ("query", "docs"))
        and ('"original_query"' in start or '"scores"' in start)
    )


def _has_documents(path: Path) -> bool:
    named = path.name.startswith("documents") and not is_packed(path)
    return named and _DOCUMENT.match(head(path).lstrip()) is not None


FORMAT = Format(
    "quest",
    "QUEST queries with gold titles",
    "description only",
    _has_queries,
    questions=read_questions,
)
FORMAT_DOCUMENTS = Format(
    "quest-documents",
    "QUEST documents",
    "description only",
    _has_documents,
    passages=read_documents,
)
FORMATS = (FORMAT, FORMAT_DOCUMENTS, *loft.FORMATS)
