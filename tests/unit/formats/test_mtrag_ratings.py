"""MTRAG's ratings, cleaned and as published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats.mtrag_ratings import (
    FORMAT,
    FORMAT_PUBLISHED,
    read_answers,
    read_published_ratings,
    read_ratings,
)
from mtrlib.errors import InputError


def write(folder: Path, human: dict[str, Any], win_rate: dict[str, Any] | None = None) -> Path:
    record = {
        "task_id": "a<::>1",
        "model_id": "m",
        "response": "Yes.",
        "human": human,
        "win_rate": win_rate,
        "auto": {"RougeL": 0.5},
    }
    path = folder / "r.jsonl"
    path.write_text(json.dumps(record) + "\n")
    return path


def test_ratings(tmp_path: Path):
    path = write(tmp_path, {"faithfulness": {"r1": 4, "r2": "3"}}, {"r1": 50.0})
    assert [(r.metric, r.rater, r.value, r.scale) for r in read_ratings(path)] == [
        ("faithfulness", "r1", 4.0, "1-4"),
        ("faithfulness", "r2", 3.0, "1-4"),
        ("win_rate", "r1", 50.0, "0-100"),
    ]
    (answer,) = read_answers(path)
    assert (answer.item_id, answer.system, answer.answer) == ("a<::>1", "m", "Yes.")
    assert FORMAT.recognises(path)
    assert not FORMAT_PUBLISHED.recognises(path)


@pytest.mark.parametrize(
    ("human", "win_rate", "message"),
    [
        ({"faithfulness": {"r1": 5}}, None, "faithfulness is 5. Mend: 1, 2, 3 or 4"),
        ({"faithfulness": {"r1": "good"}}, None, "faithfulness is 'good'"),
        ({"faithfulness": {"r1": None}}, None, "faithfulness is None"),
        ({"wit": {"r1": 1}}, None, "metric 'wit' is unknown"),
        ({}, {"r1": 101}, "win_rate is 101. Mend: 0 to 100"),
    ],
)
def test_ratings_outside_their_scale(
    tmp_path: Path, human: dict[str, Any], win_rate: dict[str, Any] | None, message: str
):
    with pytest.raises(InputError, match=message):
        list(read_ratings(write(tmp_path, human, win_rate)))


def published(folder: Path, annotations: dict[str, Any], indent: int | None = 1) -> Path:
    evaluation = {"taskId": "a<::>1", "modelId": "m", "modelResponse": "Yes."}
    value = {
        "models": [{"modelId": "m"}],
        "evaluations": [evaluation | {"annotations": annotations}],
    }
    path = folder / "p.json"
    path.write_text(json.dumps(value, indent=indent))
    return path


@pytest.mark.filterwarnings("ignore:the reader of mtrag-ratings-published")
def test_the_published_file(tmp_path: Path):
    cells = {
        "faithfulness": {"w1": {"value": "4", "timestamp": 1}},
        "RougeL": {"system": {"value": 0.5}},
        "win_rate": {"w1": {"value": 100}},
    }
    for indent in (None, 1):
        path = published(tmp_path, cells, indent)
        found = [(r.metric, r.rater, r.value, r.source) for r in read_published_ratings(path)]
        assert found == [
            ("faithfulness", "w1", 4.0, "p.json#evaluations/0"),
            ("win_rate", "w1", 100.0, "p.json#evaluations/0"),
        ]
    assert FORMAT_PUBLISHED.recognises(path)
    assert not FORMAT.recognises(path)
    with pytest.raises(InputError, match="no human ratings"):
        list(read_published_ratings(published(tmp_path, {"RougeL": {}})))
    with pytest.raises(InputError, match="completeness is 'x'"):
        list(read_published_ratings(published(tmp_path, {"completeness": {"w": {"value": "x"}}})))
