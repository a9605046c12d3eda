"""RAGChecker's meta-evaluation: which of two answers people prefer.

Facts of the format
    A JSON list: ``instance_id, dataset, query_id, query, gt_answer, model1, model2
    {model_name, response, critiques}, correctness_label, completeness_label, overall_label``.
    Labels run from -2 to 2. More than 0 is for ``model2``: the set's own script compares
    them with the score of model2 minus that of model1. Every instance stands twice, one row
    for each of its two annotators, whom no column names. They are ``rater`` 1 and 2 by order
    of rows, as that script parts them, and need not be the same two persons throughout.
    ``system`` is ``<model1> | <model2>``.

Source: Ru et al. 2024; github.com/amazon-science/RAGChecker, Apache-2.0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mtrlib.data.formats.base import Format, fields, head, records
from mtrlib.data.formats.nested import names_all
from mtrlib.data.formats.rated import RatedAnswer
from mtrlib.data.jsonl import text_id
from mtrlib.data.tasks import Rating
from mtrlib.errors import InputError

METRICS = ("correctness", "completeness", "overall")
SCALE = "-2 to 2, more than 0 for the second answer"


def read_ratings(path: Path | str) -> Iterator[Rating]:
    """Three preferences a row.

    Raises
    ------
    InputError
        A missing field, a label that is no whole number from -2 to 2, a third row of an
        instance.
    """
    path = Path(path)
    rows: Counter[str] = Counter()
    for source, record in records(path):
        item_id = _item(record, source, path)
        rows[item_id] += 1
        if rows[item_id] > 2:
            raise InputError(
                f"{path}: {source}: instance {item_id} has a third row. "
                "Mend: two rows each, one per annotator."
            )
        first, second = _models(record, source, path)
        for metric in METRICS:
            (value,) = fields(record, source, path, f"{metric}_label")
            if type(value) is not int or not -2 <= value <= 2:
                raise InputError(
                    f"{path}: {source}: {metric}_label is {value!r}. Mend: whole numbers, {SCALE}."
                )
            system = f"{first['model_name']} | {second['model_name']}"
            rater = str(rows[item_id])
            yield Rating(item_id, metric, float(value), system, rater, SCALE, source)


def read_answers(path: Path | str) -> Iterator[tuple[RatedAnswer, RatedAnswer]]:
    """The two answers of each instance, once per instance.

    Raises
    ------
    InputError
        A missing field.
    """
    path = Path(path)
    seen: set[str] = set()
    for source, record in records(path):
        item_id = _item(record, source, path)
        if item_id in seen:
            continue
        seen.add(item_id)
        query, reference = fields(record, source, path, "query", "gt_answer", kinds=(str,))
        first, second = (
            RatedAnswer(item_id, m["model_name"], query, m["response"], reference, source=source)
            for m in _models(record, source, path)
        )
        yield first, second


def _item(record: dict[str, Any], source: str, path: Path) -> str:
    (given,) = fields(record, source, path, "instance_id")
    return text_id(given, path, None, "instance_id")


def _models(record: dict[str, Any], source: str, path: Path) -> list[dict[str, Any]]:
    models = fields(record, source, path, "model1", "model2", kinds=(dict,))
    for model in models:
        fields(model, source, path, "model_name", "response", kinds=(str,))
    return models


def _recognises(path: Path) -> bool:
    start = head(path, 1 << 16) if path.suffix == ".json" else ""
    return names_all(start, "instance_id", "gt_answer", "model1", "critiques")


FORMAT = Format(
    name="ragchecker",
    title="RAGChecker meta-evaluation: preferences between two answers",
    seen="real record",
    recognises=_recognises,
    ratings=read_ratings,
)
FORMATS = (FORMAT,)
