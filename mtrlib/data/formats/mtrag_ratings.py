"""MTRAG's human ratings of answers: one to four, by up to three of seven raters.

Facts of the format
    Metrics are naturalness, appropriateness, completeness, faithfulness, rated 1 to 4 in whole
    numbers; some cells have two raters instead of three. ``win_rate`` (0 to 100) becomes a
    metric of its own. ``item_id`` is the task id, ``system`` the model.
    *Cleaned*: JSON Lines with ``task_id, model_id, response, human{metric: {rater: rating}},
    win_rate{rater: percent}, auto{...}``; ``auto`` holds scores of programs and is left out.
    *As published* (``reference_subset_with_human_evaluations.json``, the layout of the viewer
    InspectorRAGet): ``{"evaluations": [{taskId, modelId, modelResponse, annotations{metric:
    {rater: {value, ...}}}}], "tasks": ..., ...}`` with ratings as text; metrics other than
    those named are scores of programs and left out. That reader follows a description.

Source: Katsis et al. 2025; github.com/IBM/mt-rag-benchmark, Apache-2.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mtrlib.data.formats.base import Format, fields, head, records
from mtrlib.data.formats.nested import names_all
from mtrlib.data.formats.rated import RatedAnswer
from mtrlib.data.tasks import Rating
from mtrlib.errors import InputError

METRICS = ("naturalness", "appropriateness", "completeness", "faithfulness")
SCORES = {1.0, 2.0, 3.0, 4.0}


def read_ratings(path: Path | str) -> Iterator[Rating]:
    """One record per answer, metric and rater.

    Raises
    ------
    InputError
        A missing field, an unknown metric, a rating outside its scale.
    """
    path = Path(path)
    for source, record in records(path):
        task, model = fields(record, source, path, "task_id", "model_id", kinds=(str,))
        (human,) = fields(record, source, path, "human", kinds=(dict,))
        unknown = set(human) - set(METRICS)
        if unknown:
            raise InputError(
                f"{path}: {source}: metric {sorted(unknown)[0]!r} is unknown. "
                f"Mend: use {', '.join(METRICS)}."
            )
        for metric, cells in human.items():
            for rater, written in cells.items():
                value = _number(written, SCORES, metric, source, path)
                yield Rating(task, metric, value, model, rater, "1-4", source)
        for rater, written in (record.get("win_rate") or {}).items():
            value = _number(written, None, "win_rate", source, path)
            yield Rating(task, "win_rate", value, model, rater, "0-100", source)


def read_published_ratings(path: Path | str) -> Iterator[Rating]:
    """The same from the published file.

    Raises
    ------
    InputError
        A missing field, a rating outside its scale, no human rating at all.
    """
    FORMAT_PUBLISHED.notice()
    path = Path(path)
    found = False
    for source, record in _evaluations(path):
        names = ("taskId", "modelId") if "taskId" in record else ("task_id", "model_id")
        task, model = fields(record, source, path, *names, kinds=(str,))
        (annotations,) = fields(record, source, path, "annotations", kinds=(dict,))
        for metric, cells in annotations.items():
            if metric not in (*METRICS, "win_rate"):
                continue
            allowed, scale = (SCORES, "1-4") if metric in METRICS else (None, "0-100")
            for rater, cell in cells.items():
                written = cell.get("value") if isinstance(cell, dict) else cell
                value = _number(written, allowed, metric, source, path)
                yield Rating(task, metric, value, model, rater, scale, source)
                found = True
    if not found:
        raise InputError.at(path, None, "no human ratings", f"metrics {', '.join(METRICS)}")


def read_answers(path: Path | str) -> Iterator[RatedAnswer]:
    """The rated answers of the cleaned file; the questions are those of its tasks.

    Raises
    ------
    InputError
        A missing field.
    """
    path = Path(path)
    for source, record in records(path):
        task, model, response = fields(
            record, source, path, "task_id", "model_id", "response", kinds=(str,)
        )
        yield RatedAnswer(task, model, "", response, source=source)


def _evaluations(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The evaluations of the published file, on many lines or on one."""
    for source, record in records(path):
        if record.get("_key") == "evaluations":
            yield source, record
        elif isinstance(record.get("evaluations"), list):
            for index, evaluation in enumerate(record["evaluations"]):
                yield f"{path.name}#evaluations/{index}", evaluation


def _number(
    written: Any, allowed: set[float] | None, metric: str, source: str, path: Path
) -> float:
    try:
        value = float(written)
    except (TypeError, ValueError):
        value = float("nan")
    if not (value in allowed if allowed else 0 <= value <= 100):
        scale = "1, 2, 3 or 4" if allowed else "0 to 100"
        raise InputError(f"{path}: {source}: {metric} is {written!r}. Mend: {scale}.")
    return value


def _recognises(path: Path) -> bool:
    start = head(path, 1 << 14) if path.suffix in (".jsonl", ".json") else ""
    return names_all(start, "task_id", "model_id", "human", "faithfulness")


def _recognises_published(path: Path) -> bool:
    """By the file's name, or by its evaluations where they are near its beginning."""
    if path.suffix != ".json" or not path.is_file():
        return False
    start = head(path, 1 << 16)
    near = all(f'"{name}"' in start for name in ("evaluations", "annotations", "faithfulness"))
    return near or path.stem == "reference_subset_with_human_evaluations"


FORMAT = Format(
    name="mtrag-ratings",
    title="MTRAG: human ratings of answers",
    seen="real record",
    recognises=_recognises,
    ratings=read_ratings,
)
FORMAT_PUBLISHED = Format(
    name="mtrag-ratings-published",
    title="MTRAG: human ratings of answers, in the published file",
    seen="description only",
    recognises=_recognises_published,
    ratings=read_published_ratings,
)
FORMATS = (FORMAT, FORMAT_PUBLISHED)
