"""AmbigNQ (AmbigQA): questions of NQ-open that may have several readings.

A JSON list of ``{id, question, annotations[...]}``; an annotation is ``{type: singleAnswer,
answer[]}`` or ``{type: multipleQAs, qaPairs[{question, answer[]}]}``, where each ``answer`` lists
forms that are all right. Ids are text, many negative. The full files add what annotators looked
at (``viewed_doc_titles``, ``used_queries``, ``nq_doc_title``), which is no gold and is not read.

Source: github.com/shmsw25/AmbigQA, README; Min et al. 2020.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mtrlib.data.formats.base import Format, fields, head, records
from mtrlib.data.formats.multi_answer import as_answer, listed, question_text, split_in_name
from mtrlib.data.jsonl import text_id
from mtrlib.data.matching import normalised
from mtrlib.data.tasks import Answer, ListQuestion
from mtrlib.errors import InputError


def read_questions(path: Path) -> Iterator[ListQuestion]:
    """Questions with the union of all annotations as answers, and no gold.

    A single answer is one answer, and so is each reading of ``multipleQAs``; further forms are
    aliases. Annotations are alternatives that mostly agree, so an answer that shares a form
    (case and white space aside) with one of an earlier annotation is joined to it; answers
    within one annotation stay as they are. ``kind`` names the annotation types, joined by
    ``+`` where annotators differ. The reworded questions of the readings are not kept.

    Raises
    ------
    InputError
        A field that is missing or of another kind, or an unknown annotation type.
    """
    FORMAT.notice()
    for source, record in records(path):
        where = f"{path}: {source}"
        question, annotations = fields(record, source, path, "question", "annotations")
        answers: list[Answer] = []
        kinds = set()
        for annotation in listed(annotations, "annotations", where):
            kinds.add(str(annotation.get("type")))
            answers = _union(answers, list(_answers(annotation, where)))
        yield ListQuestion(
            text_id(record.get("id"), where, None, "id"),
            question_text(question, where),
            tuple(answers),
            split=split_in_name(path),
            kind="+".join(sorted(kinds)),
            source=source,
        )


def _answers(annotation: dict[str, Any], where: str) -> Iterator[Answer]:
    kind = annotation.get("type")
    if kind == "singleAnswer":
        yield as_answer(listed(annotation.get("answer"), "answer", where, str), where)
    elif kind == "multipleQAs":
        for pair in listed(annotation.get("qaPairs"), "qaPairs", where):
            yield as_answer(listed(pair.get("answer"), "answer", where, str), where)
    else:
        raise InputError(
            f"{where}: annotation type {kind!r}. Mend: known are singleAnswer and multipleQAs."
        )


def _union(earlier: list[Answer], later: list[Answer]) -> list[Answer]:
    """Earlier answers with the forms of equal later ones, then the later ones that are new."""
    joined = list(earlier)
    new = []
    for answer in later:
        same = next((i for i, known in enumerate(joined) if _forms(known) & _forms(answer)), None)
        if same is None:
            new.append(answer)
        else:
            known = joined[same]
            forms = dict.fromkeys((*known.aliases, answer.text, *answer.aliases))
            forms.pop(known.text, None)
            joined[same] = Answer(known.text, tuple(forms))
    return joined + new


def _forms(answer: Answer) -> set[str]:
    return {normalised(form) for form in (answer.text, *answer.aliases)}


def _recognises(path: Path) -> bool:
    start = head(path, 1 << 14)
    return start.lstrip().startswith("[") and (
        '"viewed_doc_titles"' in start
        or ('"annotations"' in start and ('"singleAnswer"' in start or '"multipleQAs"' in start))
    )


FORMAT = Format(
    "ambignq",
    "AmbigNQ (AmbigQA)",
    "description only",
    _recognises,
    questions=read_questions,
)
FORMATS = (FORMAT,)
