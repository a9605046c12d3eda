"""ALCE's ratings: three levels, a summary among the answers, null scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats.alce import FORMAT, read_answers, read_ratings
from mtrlib.errors import InputError


def write(folder: Path, *scores: Any, key: str | None = None) -> Path:
    entries: dict[str, Any] = {}
    for number, score in enumerate(scores, start=1):
        given = f"-{number}"
        entries[key or given] = {
            "id": given,
            "question": "Who?",
            "output": "A fox [1].",
            "utility_score": score,
            "automatic_correctness_scores": [True],
        }
    entries["overall_results"] = {"length": 3.0}
    path = folder / "a.json"
    path.write_text(json.dumps({"made": {"sys.json.rerank": entries}}))
    return path


def test_ratings(tmp_path: Path):
    path = write(tmp_path, 5, None, 1)
    with pytest.warns(UserWarning, match="1 answers carry no score"):
        found = list(read_ratings(path))
    assert [(r.item_id, r.system, r.value) for r in found] == [
        ("-1", "sys.json.rerank", 5.0),
        ("-3", "sys.json.rerank", 1.0),
    ]
    answers = list(read_answers(path))
    assert [(a.item_id, a.answer) for a in answers] == [(f"-{n}", "A fox [1].") for n in (1, 2, 3)]
    assert FORMAT.recognises(path)


@pytest.mark.parametrize("score", [0, 6, 4.5, "5", True])
def test_scores_outside_the_scale(tmp_path: Path, score: object):
    with pytest.raises(InputError, match=r"a\.json#made/sys\.json\.rerank/-1: utility_score is"):
        list(read_ratings(write(tmp_path, score)))


def test_a_record_under_another_id(tmp_path: Path):
    with pytest.raises(InputError, match="the record calls itself '-1'"):
        list(read_ratings(write(tmp_path, 5, key="-9")))
