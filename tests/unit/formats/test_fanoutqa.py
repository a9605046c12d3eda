"""FanOutQA: nested decompositions, answers of many kinds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats.fanoutqa import FORMAT, read_decompositions, read_questions
from mtrlib.errors import InputError


def step(question: str, title: str | None, *parts: dict[str, Any]) -> dict[str, Any]:
    evidence = {"pageid": "###TBD###", "revid": 1, "title": title, "url": "u"} if title else None
    return {
        "id": "same",
        "question": question,
        "decomposition": list(parts),
        "answer": "x",
        "depends_on": [],
        "evidence": evidence,
    }


def write(folder: Path, **change: Any) -> Path:
    record = {
        "id": "f1",
        "question": "How tall are both?",
        "decomposition": [
            step("Which two?", "List"),
            step("How tall is A?", None, step("Who is A?", "A"), step("A's height?", "A")),
        ],
        "answer": {"A": 1, "B": ["2", True]},
        "categories": [],
    }
    path = folder / "f.json"
    path.write_text(json.dumps([{k: v for k, v in (record | change).items() if v != "gone"}]))
    return path


def test_steps_come_after_what_they_rest_on(tmp_path: Path):
    path = write(tmp_path)
    (found,) = read_decompositions(path)
    assert found.steps == ("Which two?", "Who is A?", "A's height?", "How tall is A?")
    assert found.evidence == (("List",), ("A",), ("A",), ())
    assert found.answer == "A: 1; B: 2; yes"
    assert found.source == "f.json#0"
    assert FORMAT.recognises(path)


@pytest.mark.parametrize(
    ("answer", "texts"),
    [("x", ["x"]), (["a", "b"], ["a", "b"]), (3, ["3"]), (False, ["no"]), (2.5, ["2.5"])],
)
def test_answers(tmp_path: Path, answer: object, texts: list[str]):
    (found,) = read_questions(write(tmp_path, answer=answer))
    assert [a.text for a in found.answers] == texts
    assert (found.gold, found.split) == (("List", "A"), "dev")


def test_the_test_file_has_questions_only(tmp_path: Path):
    evidence = [{"title": "A"}, {"title": "B"}, {"title": "A"}]
    path = write(tmp_path, decomposition="gone", answer="gone", necessary_evidence=evidence)
    (found,) = read_questions(path)
    assert (found.gold, found.answers, found.split) == (("A", "B"), (), "test")
    assert FORMAT.recognises(path)
    with pytest.raises(InputError, match="the test file has no decompositions"):
        list(read_decompositions(path))


def test_missing_fields(tmp_path: Path):
    with pytest.raises(InputError, match=r"f\.json#0: no field 'answer'"):
        list(read_decompositions(write(tmp_path, answer="gone")))
    with pytest.raises(InputError, match="no field 'necessary_evidence'"):
        list(read_questions(write(tmp_path, decomposition="gone")))
    broken = step("?", "T")
    del broken["evidence"]["title"]
    with pytest.raises(InputError, match="no field 'title'"):
        list(read_decompositions(write(tmp_path, decomposition=[broken])))
