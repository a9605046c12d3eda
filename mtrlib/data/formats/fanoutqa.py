"""FanOutQA: questions whose answer takes many Wikipedia articles, with human decompositions.

Facts of the format
    A JSON list. Development: ``id, question, decomposition[{id, question, decomposition,
    answer, depends_on, evidence{pageid, revid, title, url} | null}], answer, categories``.
    Decompositions nest, up to four deep; a sub-question that is split again has no evidence
    of its own. Test: ``necessary_evidence[]`` in place of decomposition and answer.
    Steps here are all sub-questions, those of a split one before itself, so that every step
    comes after what it rests on. ``depends_on`` names sub-ids, of which some repeat; it is not
    kept. Evidence is the title of the article, because the page id is a placeholder in some
    places; no article text comes with the set.
    Answers are objects, lists, texts, numbers and yes/no; an object ``{"A": "1"}`` becomes
    ``A: 1``.

Source: Zhu et al. 2024; github.com/zhudotexe/fanoutqa, data under CC BY-SA 4.0. The files of
the package on PyPI are older than those on GitHub and differ in answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mtrlib.data.formats.base import Format, fields, head, records
from mtrlib.data.jsonl import text_id
from mtrlib.data.tasks import Answer, Decomposition, ListQuestion
from mtrlib.errors import InputError

Step = tuple[str, tuple[str, ...]]


def read_decompositions(path: Path | str) -> Iterator[Decomposition]:
    """Questions with all their sub-questions in an order in which they can be answered.

    Raises
    ------
    InputError
        A missing or mistyped field; the test file, which has no decompositions.
    """
    path = Path(path)
    for source, record in records(path):
        if "necessary_evidence" in record and "decomposition" not in record:
            raise InputError(
                f"{path}: {source}: the test file has no decompositions. "
                "Mend: use the development file, or read this one as questions."
            )
        given, question, nested, answer = fields(
            record, source, path, "id", "question", "decomposition", "answer"
        )
        steps = list(_steps(nested, source, path))
        yield Decomposition(
            text_id(given, path, None, "id"),
            question,
            tuple(q for q, _ in steps),
            tuple(e for _, e in steps),
            "; ".join(_texts(answer)),
            source,
        )


def read_questions(path: Path | str) -> Iterator[ListQuestion]:
    """Questions with their answers and the titles of all articles that they need.

    The gold of the test file is its ``necessary_evidence``; it has no answers.

    Raises
    ------
    InputError
        A missing or mistyped field.
    """
    path = Path(path)
    for source, record in records(path):
        given, question = fields(record, source, path, "id", "question")
        if "decomposition" in record:
            found = [t for _, e in _steps(record["decomposition"], source, path) for t in e]
            answers = tuple(Answer(t) for t in _texts(record.get("answer")))
            split = "dev"
        else:
            (evidence,) = fields(record, source, path, "necessary_evidence", kinds=(list,))
            found = [_title(e, source, path) for e in evidence]
            answers, split = (), "test"
        yield ListQuestion(
            text_id(given, path, None, "id"),
            question,
            answers,
            tuple(dict.fromkeys(found)),
            split,
            source=source,
        )


def _steps(nested: Any, source: str, path: Path) -> Iterator[Step]:
    for part in nested:
        question, evidence = fields(part, source, path, "question", "evidence")
        yield from _steps(part.get("decomposition") or [], source, path)
        yield question, ((_title(evidence, source, path),) if evidence else ())


def _title(evidence: dict[str, Any], source: str, path: Path) -> str:
    (title,) = fields(evidence, source, path, "title", kinds=(str,))
    return str(title)


def _texts(answer: Any) -> list[str]:
    if isinstance(answer, dict):
        return [f"{key}: {'; '.join(_texts(value))}" for key, value in answer.items()]
    if isinstance(answer, list):
        return [text for value in answer for text in _texts(value)]
    if isinstance(answer, bool):
        return ["yes" if answer else "no"]
    return [] if answer is None else [str(answer)]


def _recognises(path: Path) -> bool:
    start = head(path, 1 << 14) if path.suffix == ".json" else ""
    development = '"decomposition"' in start and '"depends_on"' in start
    return development or '"necessary_evidence"' in start


FORMAT = Format(
    name="fanoutqa",
    title="FanOutQA: questions over many articles with human decompositions",
    seen="real record",
    recognises=_recognises,
    questions=read_questions,
    decompositions=read_decompositions,
)
FORMATS = (FORMAT,)
