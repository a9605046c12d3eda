"""BEGIN: human labels of whether a dialogue response is attributable to a piece of knowledge.

Facts of the format
    TSV with CRLF and a header: ``model_name, data_source, knowledge, message, response,
    begin_label``. Quotes are plain characters and do not enclose cells. There are no ids:
    ``item_id`` is ``<file name>_<row, from 1>``. Labels are ``Fully attributable``, ``Not
    fully attributable``, ``Generic``; one label a row, raters are not told apart.

Source: Dziri et al. 2022; github.com/google/BEGIN-dataset. Wizard of Wikipedia and CMU-DoG
parts CC BY 4.0, Topical-Chat part CDLA-Sharing 1.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mtrlib.data.formats.base import Format, fields, head
from mtrlib.data.formats.rated import RatedAnswer
from mtrlib.data.formats.tables import table_rows
from mtrlib.data.tasks import Rating
from mtrlib.errors import InputError

COLUMNS = ("model_name", "data_source", "knowledge", "message", "response", "begin_label")
LABELS = ("Fully attributable", "Not fully attributable", "Generic")


def read_ratings(path: Path | str) -> Iterator[Rating]:
    """One label a row, metric ``attribution``.

    Raises
    ------
    InputError
        A missing column or an unknown label; file and line are named.
    """
    path = Path(path)
    for item_id, source, (model, _, _, _, _, label) in _rows(path):
        if label not in LABELS:
            raise InputError(
                f"{path}: {source}: label {label!r} is unknown. Mend: use {', '.join(LABELS)}."
            )
        yield Rating(item_id, "attribution", label, model, "", " | ".join(LABELS), source)


def read_answers(path: Path | str) -> Iterator[RatedAnswer]:
    """The rated responses with the message before them and the knowledge.

    Raises
    ------
    InputError
        A missing column.
    """
    for item_id, source, (model, _, knowledge, message, response, _) in _rows(Path(path)):
        yield RatedAnswer(item_id, model, message, response, evidence=knowledge, source=source)


def _rows(path: Path) -> Iterator[tuple[str, str, list[str]]]:
    for number, (source, record) in enumerate(table_rows(path, "\t", quotes=False), start=1):
        yield f"{path.stem}_{number}", source, fields(record, source, path, *COLUMNS)


def _recognises(path: Path) -> bool:
    return path.suffix == ".tsv" and head(path, 200).startswith("\t".join(COLUMNS))


FORMAT = Format(
    name="begin",
    title="BEGIN: attribution labels of dialogue responses",
    seen="real record",
    recognises=_recognises,
    ratings=read_ratings,
)
FORMATS = (FORMAT,)
