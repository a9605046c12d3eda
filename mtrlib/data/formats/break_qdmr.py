"""BREAK: questions and their meaning as steps (QDMR), high-level part and the whole.

Facts of the format
    CSV with CRLF: ``question_id, question_text, decomposition, operators, split``. Steps are
    parted by ``;`` (mostly `` ;``), begin with ``return`` and refer to earlier ones as ``#1``;
    spaces at their ends are taken off. ``operators`` is a Python list as text with one entry
    a step, by which the parting is checked. One step means that the question is not to be
    decomposed. The test file has empty decompositions: no steps here.

Source: Wolfson et al. 2020; github.com/allenai/Break, MIT.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from mtrlib.data.formats.base import Format, fields, head
from mtrlib.data.formats.tables import table_rows
from mtrlib.data.tasks import Decomposition
from mtrlib.errors import InputError

COLUMNS = ("question_id", "question_text", "decomposition", "operators", "split")


def read_decompositions(path: Path | str) -> Iterator[Decomposition]:
    """Questions with their QDMR steps; the set has no answers and no evidence.

    Raises
    ------
    InputError
        A missing column, operators that are no list, or of another number than the steps.
    """
    path = Path(path)
    for source, record in table_rows(path):
        given, question, text, written, _ = fields(record, source, path, *COLUMNS)
        steps = tuple(s.strip() for s in text.split(";")) if text.strip() else ()
        try:
            operators = ast.literal_eval(written) if written.strip() else []
        except (ValueError, SyntaxError):
            operators = None
        if not isinstance(operators, list) or (operators and len(operators) != len(steps)):
            raise InputError(
                f"{path}: {source}: {len(steps)} steps, but operators are {written!r}. "
                "Mend: one operator a step, as a Python list."
            )
        yield Decomposition(given, question, steps, source=source)


def _recognises(path: Path) -> bool:
    return path.suffix == ".csv" and head(path, 200).startswith(",".join(COLUMNS))


FORMAT = Format(
    name="break",
    title="BREAK: questions with QDMR steps",
    seen="real record",
    recognises=_recognises,
    decompositions=read_decompositions,
)
FORMATS = (FORMAT,)
