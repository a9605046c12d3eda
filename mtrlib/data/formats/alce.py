"""ALCE's human ratings of how useful an answer with citations is.

Facts of the format
    JSON, three levels deep: ``{set: {system file: {question id: {id, question, output,
    utility_score, automatic_correctness_scores}}}}``. Ids may begin with ``-``. Beside the
    questions every system has an entry ``overall_results`` with means of its own; it is no
    answer and is left out. A score is a whole number from 1 to 5; null means that nobody
    rated the answer, yields no rating and is counted in a warning. ``system`` is the file
    name as the set has it. The ratings of citations are another file, not read here.

Source: Gao et al. 2023; github.com/princeton-nlp/ALCE, MIT.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mtrlib.data.formats.base import Format, fields, head, records
from mtrlib.data.formats.rated import RatedAnswer
from mtrlib.data.tasks import Rating
from mtrlib.errors import InputError

SUMMARY = "overall_results"


def read_ratings(path: Path | str) -> Iterator[Rating]:
    """One rating per answer, metric ``utility``.

    Raises
    ------
    InputError
        A missing field, a score outside 1 to 5; file, set, system and id are named.
    """
    path = Path(path)
    unrated = 0
    for source, system, entry in _answers(path):
        given, value = fields(entry, source, path, "id", "utility_score")
        if value is None:
            unrated += 1
            continue
        if type(value) is not int or not 1 <= value <= 5:
            raise InputError(
                f"{path}: {source}: utility_score is {value!r}. Mend: a whole number, 1 to 5."
            )
        yield Rating(given, "utility", float(value), system, "", "1-5", source)
    if unrated:
        warnings.warn(f"{path.name}: {unrated} answers carry no score", stacklevel=2)


def read_answers(path: Path | str) -> Iterator[RatedAnswer]:
    """The rated answers with their questions.

    Raises
    ------
    InputError
        A missing field.
    """
    path = Path(path)
    for source, system, entry in _answers(path):
        given, question, output = fields(
            entry, source, path, "id", "question", "output", kinds=(str,)
        )
        yield RatedAnswer(given, system, question, output, source=source)


def _answers(path: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for source, systems in records(path):
        for system, entries in systems.items():
            if system == "_key":
                continue
            for key, entry in entries.items():
                if key == SUMMARY:
                    continue
                where = f"{source}/{system}/{key}"
                (given,) = fields(entry, where, path, "id", kinds=(str,))
                if given != key:
                    raise InputError(
                        f"{path}: {where}: the record calls itself {given!r}. Mend: use the "
                        "set's own file."
                    )
                yield where, system, entry


def _recognises(path: Path) -> bool:
    start = head(path, 1 << 14) if path.suffix == ".json" else ""
    return '"utility_score"' in start and '"automatic_correctness_scores"' in start


FORMAT = Format(
    name="alce-ratings",
    title="ALCE: human ratings of usefulness",
    seen="real record",
    recognises=_recognises,
    ratings=read_ratings,
)
FORMATS = (FORMAT,)
