"""WebQuestionsSP: questions to Freebase with semantic parses and their answers.

One JSON object ``{Version, FreebaseVersion, Questions[...]}``; a question has ``QuestionId,
RawQuestion, ProcessedQuestion, Parses[{ParseId, Answers[{AnswerType, AnswerArgument,
EntityName}], ...}]``. An entity's words are its ``EntityName`` (its ``AnswerArgument`` is a
Freebase id), a value's are its ``AnswerArgument``. There are no passages and no gold.

Source: microsoft.com/download, id 52763 (``WebQSP.zip``, its ReadMe and ``eval.py``), Yih et al.
2016.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from mtrlib.data.formats.base import Format, fields, head
from mtrlib.data.formats.multi_answer import as_answer, listed, question_text
from mtrlib.data.formats.packed import json_items
from mtrlib.data.jsonl import text_id
from mtrlib.data.tasks import Answer, ListQuestion
from mtrlib.errors import InputError


def read_questions(
    path: Path, parses: Literal["union", "first"] = "union"
) -> Iterator[ListQuestion]:
    """Raw questions with the answers of their parses; questions without answers are kept.

    Parameters
    ----------
    parses : several parses read one question in several ways. ``union`` takes the answers of
        all, one entity or value once; ``first`` those of the first parse. (The official script
        scores the parse that fits a prediction best, which a retrieval measure cannot do.)

    Notes
    -----
    An entity without a name stands under its Freebase id, which no text will match: it stays
    in the denominator and is counted in a warning. ``split`` is the middle of the file's name
    (``test``, ``train``, ``test.partial``).

    Raises
    ------
    InputError
        No ``Questions``, a field that is missing or of another kind, or an unknown answer type.
    """
    FORMAT.notice()
    count, nameless = 0, 0
    for source, record in json_items(path, "Questions.item"):
        count += 1
        where = f"{path}: {source}"
        question_id, raw, all_parses = fields(
            record, source, path, "QuestionId", "RawQuestion", "Parses"
        )
        taken = listed(all_parses, "Parses", where)[: None if parses == "union" else 1]
        found: dict[tuple[str, str], Answer] = {}
        for parse in taken:
            for answer in listed(parse.get("Answers"), "Answers", where):
                kind, argument = fields(
                    answer, source, path, "AnswerType", "AnswerArgument", kinds=(str,)
                )
                found.setdefault((kind, argument), _answer(kind, argument, answer, where))
        nameless += sum(
            kind == "Entity" and a.text == argument for (kind, argument), a in found.items()
        )
        yield ListQuestion(
            text_id(question_id, where, None, "QuestionId"),
            question_text(raw, where),
            tuple(found.values()),
            split=path.name.removeprefix("WebQSP.").removesuffix(".json"),
            source=source,
        )
    if not count:
        raise InputError.at(path, None, "no Questions", "use WebQSP.train.json or WebQSP.test.json")
    if nameless:
        warnings.warn(
            f"{path.name}: {nameless} answers are entities without a name; no text can match them",
            stacklevel=2,
        )


def _answer(kind: str, argument: str, answer: dict[str, Any], where: str) -> Answer:
    if kind not in ("Entity", "Value"):
        raise InputError(f"{where}: AnswerType {kind!r}. Mend: known are Entity and Value.")
    name = answer.get("EntityName") if kind == "Entity" else None
    return as_answer([name or argument], where)


def _recognises(path: Path) -> bool:
    start = head(path, 1 << 14)
    return '"Questions"' in start and '"RawQuestion"' in start


FORMAT = Format(
    "webqsp",
    "WebQuestionsSP",
    "description only",
    _recognises,
    questions=read_questions,
)
FORMATS = (FORMAT,)
