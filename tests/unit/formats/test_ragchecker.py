"""RAGChecker's preferences: two rows an instance."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats.ragchecker import FORMAT, read_answers, read_ratings
from mtrlib.errors import InputError


def write(folder: Path, *overall: Any) -> Path:
    rows = [
        {
            "instance_id": 0,
            "dataset": "made",
            "query_id": "7",
            "query": "Who?",
            "gt_answer": "A fox.",
            "model1": {"model_name": "m", "response": "A fox.", "critiques": ""},
            "model2": {"model_name": "n", "response": "A dog.", "critiques": ""},
            "correctness_label": -2,
            "completeness_label": 0,
            "overall_label": label,
        }
        for label in overall
    ]
    path = folder / "r.json"
    path.write_text(json.dumps(rows))
    return path


def test_both_annotators(tmp_path: Path):
    path = write(tmp_path, -2, 1)
    found = [r for r in read_ratings(path) if r.metric == "overall"]
    assert [(r.item_id, r.system, r.rater, r.value) for r in found] == [
        ("0", "m | n", "1", -2.0),
        ("0", "m | n", "2", 1.0),
    ]
    assert len(list(read_ratings(path))) == 6
    ((first, second),) = read_answers(path)
    assert (first.system, second.answer, first.reference) == ("m", "A dog.", "A fox.")
    assert FORMAT.recognises(path)


@pytest.mark.parametrize("label", [3, "1", 1.0, True, None])
def test_labels_outside_the_scale(tmp_path: Path, label: object):
    with pytest.raises(InputError, match=r"r\.json#0: overall_label is"):
        list(read_ratings(write(tmp_path, label)))


def test_a_third_row(tmp_path: Path):
    with pytest.raises(InputError, match=r"r\.json#2: instance 0 has a third row"):
        list(read_ratings(write(tmp_path, 0, 0, 0)))
