"""StrategyQA: evidence by annotator and step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats.strategyqa import FORMAT, read_decompositions
from mtrlib.errors import InputError


def write(folder: Path, **change: Any) -> Path:
    record = {
        "qid": "s1",
        "term": "Fox",
        "description": "an animal",
        "question": "Can a fox read?",
        "answer": False,
        "facts": [],
        "decomposition": ["What can a fox do?", "Is reading in #1?"],
        "evidence": [
            [[["Fox-1", "Fox-2"], "operation"], ["operation"]],
            [[["Fox-2"], ["Den-1"]], [["Reading-4"], "no_evidence"]],
            [["no_evidence"], ["operation"]],
        ],
    }
    path = folder / "s.json"
    path.write_text(json.dumps([{k: v for k, v in (record | change).items() if v != "gone"}]))
    return path


def test_evidence_is_the_union_over_annotators(tmp_path: Path):
    path = write(tmp_path)
    (found,) = read_decompositions(path)
    assert found.steps == ("What can a fox do?", "Is reading in #1?")
    assert found.evidence == (("Fox-1", "Fox-2", "Den-1"), ("Reading-4",))
    assert (found.question_id, found.answer, found.source) == ("s1", "no", "s.json#0")
    assert FORMAT.recognises(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"evidence": [[["operation"]]]}, "evidence for 1 steps, but there are 2"),
        ({"evidence": [[["operation"], ["guess"]]]}, "evidence 'guess'"),
        ({"evidence": [[["operation"], [[3]]]]}, r"evidence '\[3\]'"),
        ({"answer": "no"}, "answer is str, expected bool"),
        ({"decomposition": "gone"}, "no field 'decomposition'"),
    ],
)
def test_unknown_shapes(tmp_path: Path, change: dict[str, Any], message: str):
    with pytest.raises(InputError, match=message):
        list(read_decompositions(write(tmp_path, **change)))
