"""The four worked QAMPARI questions that ALCE ships, with five passages each.

``qampari_default.json`` is one object; its ``demos`` hold ``question``, ``answer`` and
``docs[{title, text}]``. An answer is a comma list whose items each end in the numbers of the
passages that support it, from 1: ``A Name [1], Another, Longer Name [2].`` Prompt fields are
not read. ALCE's other demonstrations answer in prose and are no list questions.

Source: github.com/princeton-nlp/ALCE, folder ``prompts``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from mtrlib.data.formats.base import Format, fields, head
from mtrlib.data.formats.multi_answer import as_answer, listed, question_text
from mtrlib.data.formats.packed import json_items
from mtrlib.data.formats.qampari_chunks import clean_title
from mtrlib.data.schema import Passage
from mtrlib.data.tasks import Answer, ListQuestion
from mtrlib.errors import InputError

_ITEM = re.compile(r"\s*(.+?)\s*((?:\[\d+\])+)\s*(?:,|\.?\s*$)", re.DOTALL)


def read_questions(path: Path) -> Iterator[ListQuestion]:
    """Questions with cited answers; ids are made from file name and index, from 0.

    An answer that stands in the list twice stays twice; its passages are gold once.

    Raises
    ------
    InputError
        An answer that is no cited comma list, or cites a passage that is not there.
    """
    for index, (source, demo) in enumerate(json_items(path, "demos.item")):
        where = f"{path}: {source}"
        question, answer, docs = fields(demo, source, path, "question", "answer", "docs")
        ids = [_passage_id(path, index, n) for n in range(1, len(listed(docs, "docs", where)) + 1)]
        answers = tuple(_cited(answer, ids, where))
        yield ListQuestion(
            f"{path.stem}_{index}",
            question_text(question, where),
            answers,
            tuple(dict.fromkeys(p for a in answers for p in a.passages)),
            source=source,
        )


def read_passages(path: Path) -> Iterator[Passage]:
    """The passages of all questions, numbered from 1 within their question.

    Raises
    ------
    InputError
        A passage without title or text.
    """
    for index, (source, demo) in enumerate(json_items(path, "demos.item")):
        (docs,) = fields(demo, source, path, "docs")
        for number, doc in enumerate(listed(docs, "docs", f"{path}: {source}"), start=1):
            title, text = fields(doc, source, path, "title", "text", kinds=(str,))
            yield Passage(_passage_id(path, index, number), text, clean_title(title), source=source)


def _passage_id(path: Path, index: int, number: int) -> str:
    return f"{path.stem}_{index}_{number}"


def _cited(answer: str, ids: list[str], where: str) -> Iterator[Answer]:
    end = 0
    while end < len(answer):
        item = _ITEM.match(answer, end)
        numbers = [int(n) for n in re.findall(r"\d+", item[2])] if item else []
        if not item or not all(0 < n <= len(ids) for n in numbers):
            raise InputError(
                f"{where}: cannot read the answer at {answer[end : end + 40]!r}. Mend: each item "
                f"ends in the number of its passage, [1] to [{len(ids)}], and a comma."
            )
        yield as_answer([item[1]], where, (ids[n - 1] for n in numbers))
        end = item.end()


def _recognises(path: Path) -> bool:
    start = head(path)
    first = re.search(r'"answer":\s*("(?:[^"\\]|\\.)*")', start) if '"demos"' in start else None
    try:
        list(_cited(json.loads(first[1]), [""] * 1000, "")) if first else None
    except (InputError, json.JSONDecodeError):
        return False
    return first is not None


FORMAT = Format(
    "alce-qampari-demos",
    "QAMPARI demonstrations of ALCE",
    "real record",
    _recognises,
    passages=read_passages,
    questions=read_questions,
)
FORMATS = (FORMAT,)
