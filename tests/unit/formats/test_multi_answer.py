"""What all multi-answer readers share: forms of answers, and honesty about unseen sets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from mtrlib.data.formats import ambignq, base, dpr, limit, loft, qampari, quest, romqa, webqsp
from mtrlib.data.formats.multi_answer import as_answer, listed, split_in_name
from mtrlib.data.tasks import Answer
from mtrlib.errors import InputError

MODULES = (qampari, quest, webqsp, romqa, limit, ambignq, dpr)
FORMATS = [each for module in MODULES for each in module.FORMATS]


def test_forms_become_text_and_aliases():
    found = as_answer([" Oak, Elm ", 1908, "Oak, Elm", "", "1908"], "f", ["p", "p"])
    assert found == Answer("Oak, Elm", ("1908",), ("p",))


@pytest.mark.parametrize("forms", [[], ["", " "], [None], [True], [1.5], [["a"]]])
def test_what_is_no_answer(forms: list[object]):
    with pytest.raises(InputError, match=r"f: an(swer .* is no text| answer without any text)"):
        as_answer(forms, "f")


def test_lists_are_checked_item_by_item():
    assert listed(None, "x", "f") == []
    with pytest.raises(InputError, match="f: x is no list of dict"):
        listed([{}, "a"], "x", "f")


@pytest.mark.parametrize(
    ("name", "split"),
    [("top_20.dev.json.bz2", "dev"), ("train_data.jsonl", "train"), ("latest.json", "")],
)
def test_splits_are_whole_parts_of_a_name(name: str, split: str):
    assert split_in_name(Path(name)) == split


def test_names_are_unique():
    names = [each.name for each in FORMATS]
    assert len(set(names)) == len(names) == 13


def readers() -> list[tuple[str, Callable[[Path], Iterable[object]]]]:
    found = []
    for each in FORMATS:
        if each.seen == "description only":
            found += [(each.name, r) for r in (each.passages, each.questions) if r]
    return found


@pytest.mark.parametrize(("name", "reader"), readers(), ids=[n for n, _ in readers()])
def test_readers_of_unseen_sets_say_so_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    reader: Callable[[Path], Iterable[object]],
):
    monkeypatch.setattr(base, "_NOTICED", set())
    with pytest.warns(UserWarning, match="follows a description"), pytest.raises(InputError):
        list(reader(tmp_path / "none.jsonl"))
    assert len(base._NOTICED) == 1


CONTENTS = {
    "qampari": json.dumps({"qid": "1", "question_text": "q", "answer_list": []}),
    "qampari-contexts": json.dumps([{"qid": "1", "question_text": "q", "answer_list": []}]),
    "qampari-chunks": json.dumps({"id": "1", "contents": "t c", "meta": {"content": "c"}}),
    "quest": json.dumps({"query": "q", "docs": [], "original_query": "", "scores": None}),
    "quest-documents": json.dumps({"title": "t", "text": "x"}),
    "loft": json.dumps({"qid": "1", "query_text": "q", "answers": []}),
    "loft-corpus": json.dumps({"pid": "1", "title_text": "t", "passage_text": "x"}),
    "webqsp": json.dumps({"Questions": [{"QuestionId": "1", "RawQuestion": "q"}]}),
    "romqa": json.dumps([{"id": 1, "cluster_id": 2, "candidates": []}]),
    "ambignq": json.dumps([{"id": "1", "annotations": [{"type": "singleAnswer"}]}]),
    "dpr-tsv": "id\ttext\ttitle",
    "none": json.dumps({"_id": "1", "title": "t", "text": "x"}),
    "none, but judgements": json.dumps({"query-id": "q", "corpus-id": "d", "score": 1}),
    "none, but DPR training": json.dumps([{"question": "q", "positive_ctxs": [{"text": "t"}]}]),
    "none of them": json.dumps([{"question": "q", "answers": ["a"], "ctxs": []}]),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_each_file_is_claimed_by_its_own_reader_alone(tmp_path: Path, name: str):
    path = tmp_path / "documents_1.jsonl"
    path.write_text(CONTENTS[name] + "\n")
    claimed = [each.name for each in FORMATS if each.recognises(path)]
    assert claimed == ([] if name.startswith("none") else [name])


def test_odd_paths_never_raise(tmp_path: Path):
    (tmp_path / "a.bin").write_bytes(b"\xff\x00[{")
    (tmp_path / "a.gz").write_bytes(b"\x1f\x8bbroken")
    for path in (tmp_path, tmp_path / "a.bin", tmp_path / "a.gz", tmp_path / "none"):
        assert not [each.name for each in FORMATS if each.recognises(path)]


def test_loft_is_part_of_quest():
    assert set(loft.FORMATS) <= set(quest.FORMATS)
