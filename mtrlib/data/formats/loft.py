"""LOFT's editions of QUEST, QAMPARI and other sets for long contexts: small corpora, own ids.

``<split>_queries.jsonl`` has ``qid, query_text, answers, metadata{qrels[[pid, grade]]}``: in
the retrieval task ``answers`` are such pairs again, in the RAG task texts. ``corpus.jsonl`` has
``pid, title_text, passage_text``. Passage ids are like ``quest_153157_0``; they are opaque and
cannot be mapped to the titles of QUEST itself.

Source: github.com/google-deepmind/loft, ``utils.py`` and ``evaluation/``; Lee et al. 2024.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mtrlib.data.formats.base import Format, fields, head
from mtrlib.data.formats.multi_answer import as_answer, listed, question_text
from mtrlib.data.jsonl import read_jsonl, text_id
from mtrlib.data.schema import Passage
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import InputError


def read_questions(path: Path) -> Iterator[ListQuestion]:
    """Queries with gold of grade 1 or more; answers as texts where the file has them.

    Sets with several questions to a record (SParC, TopiOCQA) are refused.

    Raises
    ------
    InputError
        A field is missing or of another kind.
    """
    FORMAT.notice()
    split = path.stem.removesuffix("queries").rstrip("_")
    for line, record in read_jsonl(path):
        source, where = f"{path.name}:{line}", f"{path}:{line}"
        (query,) = fields(record, source, path, "query_text")
        (answers,) = fields(record, source, path, "answers", kinds=(list,))
        texts = [a for a in answers if isinstance(a, str)]
        pairs = (record.get("metadata") or {}).get("qrels")
        if pairs is None and len(texts) < len(answers):
            pairs = answers
        yield ListQuestion(
            text_id(record.get("qid"), path, line, "qid"),
            question_text(query, where),
            tuple(as_answer([text], where) for text in texts),
            tuple(dict.fromkeys(_gold(pairs, path, line))),
            split=split,
            source=source,
        )


def read_corpus(path: Path) -> Iterator[Passage]:
    """Passages under LOFT's ids.

    Raises
    ------
    InputError
        A field is missing; some sets come without texts, which LOFT's ``preprocess.py`` fills in.
    """
    FORMAT_CORPUS.notice()
    for line, record in read_jsonl(path):
        source = f"{path.name}:{line}"
        title, text = fields(record, source, path, "title_text", "passage_text", kinds=(str,))
        yield Passage(text_id(record.get("pid"), path, line, "pid"), text, title, source=source)


def _gold(pairs: Any, path: Path, line: int) -> Iterator[str]:
    for pair in listed(pairs, "qrels", f"{path}:{line}", list):
        if len(pair) != 2 or type(pair[1]) is not int:
            raise InputError.at(
                path, line, f"{pair!r} is no pair of id and grade", "see the format"
            )
        if pair[1] > 0:
            yield text_id(pair[0], path, line, "qrels")


def _has(path: Path, *names: str) -> bool:
    start = head(path).lstrip()
    return start.startswith("{") and all(f'"{name}"' in start for name in names)


FORMAT = Format(
    "loft",
    "LOFT queries (QUEST, QAMPARI and others)",
    "description only",
    lambda path: _has(path, "qid", "query_text"),
    questions=read_questions,
)
FORMAT_CORPUS = Format(
    "loft-corpus",
    "LOFT corpus",
    "description only",
    lambda path: _has(path, "pid", "passage_text"),
    passages=read_corpus,
)
FORMATS = (FORMAT, FORMAT_CORPUS)
