"""List questions with their corpus: splits, limits, and what cannot be used."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from mtrlib import profiles
from mtrlib.data.list_sets import load_list_set
from mtrlib.errors import InputError
from mtrlib.reporting.rvr_grid import rules_of
from mtrlib.reporting.rvr_retrievers import training_material
from mtrlib.rvr.training_questions import normal_form

PAPER = profiles.PROFILES["paper"]


def load(folder: Path, **changed):
    return load_list_set(dataclasses.replace(PAPER, LISTS=str(folder), **changed))


def test_a_folder_in_qamparis_format(qampari_folder: Path):
    found = load(qampari_folder)
    assert found.name == "qampari-mini"
    assert len(found.passages) == 300
    assert {s: len(qs) for s, qs in found.questions.items()} == {"train": 12, "dev": 5, "test": 0}
    assert all(set(q.gold) <= set(found.by_id) for q in found.questions["dev"])
    assert rules_of(found.questions["dev"]) == ["answers", "clusters", "passages", "all_gold"]


def test_limits_keep_the_gold_of_the_kept_questions(qampari_folder: Path):
    found = load(qampari_folder, QUESTION_LIMIT=2, PASSAGE_LIMIT=60)
    assert {s: len(qs) for s, qs in found.questions.items()} == {"train": 2, "dev": 2, "test": 0}
    assert len(found.passages) == 60
    gold = {g for qs in found.questions.values() for q in qs for g in q.gold}
    assert gold <= set(found.by_id)
    assert found.digest() != load(qampari_folder).digest()


def test_a_question_with_nothing_to_find_is_left_out_and_counted(qampari_folder: Path):
    path = qampari_folder / "dev_data_gold.json"
    records = json.loads(path.read_text(encoding="utf-8"))
    records[0]["answer_list"], records[0]["positive_ctxs"] = [], []
    path.write_text(json.dumps(records), encoding="utf-8")
    found = load(qampari_folder)
    assert len(found.questions["dev"]) == 4
    assert found.left_out["dev"] == 1


def test_dev_of_a_set_that_reports_dev_comes_from_train_and_shares_no_question(qampari_folder):
    """Trap 19: split by normal form, never by row."""
    lists = load(qampari_folder)
    profile = dataclasses.replace(PAPER, LISTS=str(qampari_folder))
    found = training_material(lists, profile)
    sides = [{normal_form(q.question) for q in s} for s in (found.train, *found.dev.values())]
    sides.append({normal_form(q.question) for q in lists.questions["dev"]})
    assert sum(map(len, sides)) == len(set().union(*sides))
    assert len(found.train) + sum(map(len, found.dev.values())) == 12


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"LISTS": "no/such/folder"}, "neither 'list-mini' nor a file or folder"),
        ({"LIST_SPLIT": "test"}, "no usable question in the split 'test'"),
    ],
)
def test_errors_name_what_is_wrong(qampari_folder: Path, changed, said):
    with pytest.raises(InputError, match=said):
        load(qampari_folder, **changed) if "LISTS" not in changed else load_list_set(
            dataclasses.replace(PAPER, **changed)
        )


def test_a_folder_without_a_corpus(qampari_folder: Path):
    (qampari_folder / "wikipedia_chunks_0.jsonl").unlink()
    for split in ("dev", "train"):
        path = qampari_folder / f"{split}_data_gold.json"
        records = json.loads(path.read_text(encoding="utf-8"))
        plain = [{k: v for k, v in r.items() if not k.endswith("ctxs")} for r in records]
        path.with_suffix(".jsonl").write_text("\n".join(map(json.dumps, plain)), encoding="utf-8")
        path.unlink()
    with pytest.raises(InputError, match="no corpus"):
        load(qampari_folder)
