"""Every difference between fresh and committed tables is named; rounding is not one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mtrlib.reporting.compare import compare

HEAD = "system,k,n,value\n"


def differences(tmp_path: Path, committed: str, fresh: str, manifest: dict | None = None) -> list:
    for folder, text in (("kept", committed), ("new", fresh)):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "recall.csv").write_text(text)
        if manifest is not None:
            (tmp_path / folder / "recall.json").write_text(json.dumps(manifest))
    found = compare(tmp_path / "new", tmp_path / "kept")
    return found[["row", "column", "committed", "fresh", "status"]].values.tolist()


def test_equal_in_any_order_within_tolerance(tmp_path: Path) -> None:
    committed = HEAD + "bm25,20,5,0.87\nminilm,20,5,0.94\n"
    assert differences(tmp_path, committed, HEAD + "minilm,20,5,0.9405\nbm25,20,5,0.87\n") == []


def test_value_outside_is_named(tmp_path: Path) -> None:
    found = differences(tmp_path, HEAD + "bm25,20,5,0.87\n", HEAD + "bm25,20,5,0.8706\n")
    assert found == [["system=bm25, k=20, n=5", "value", "0.87", "0.8706", "DIFFERENT"]]


def test_whole_numbers_and_text_are_exact(tmp_path: Path) -> None:
    found = differences(tmp_path, HEAD + "bm25,20,5,0.87\n", HEAD + "bm25,20,6,0.87\n")
    assert [row[-1] for row in found] == ["MISSING ROW", "EXTRA ROW"]
    assert [row[0] for row in found] == ["system=bm25, k=20, n=5", "system=bm25, k=20, n=6"]


def test_repeated_rows_are_counted(tmp_path: Path) -> None:
    row = "bm25,20,5,0.87\n"
    found = differences(tmp_path, HEAD + row + row, HEAD + row)
    assert [r[-1] for r in found] == ["MISSING ROW"]


@pytest.mark.parametrize(("old", "new"), [("0.5", ""), ("", "0.5"), ("0.5", "inf")])
def test_missing_values_differ_from_values(tmp_path: Path, old: str, new: str) -> None:
    other = "x,20,5,0.1\n"
    found = differences(tmp_path, HEAD + f"a,20,5,{old}\n{other}", HEAD + f"a,20,5,{new}\n{other}")
    assert [(r[1], r[-1]) for r in found] == [("value", "DIFFERENT")]
    same = HEAD + f"a,20,5,{new}\n{other}"
    assert differences(tmp_path, same, same) == []


def test_all_values_gone(tmp_path: Path) -> None:
    found = differences(tmp_path, HEAD + "a,20,5,0.5\n", HEAD + "a,20,5,\n")
    assert [r[-1] for r in found] == ["DIFFERENT"]


def test_manifest_widens_but_zero_never_passes(tmp_path: Path) -> None:
    wide = {"tolerance": {"value": 0.05}}
    old = HEAD + "a,20,5,0.03\n"
    assert differences(tmp_path, old, HEAD + "a,20,5,0.06\n", wide) == []
    assert len(differences(tmp_path, old, HEAD + "a,20,5,0.09\n", wide)) == 1
    assert len(differences(tmp_path, old, HEAD + "a,20,5,0.0\n", wide)) == 1
    assert len(differences(tmp_path, old, HEAD + "a,20,5,-0.0\n")) == 1


def test_changed_columns_and_manifest(tmp_path: Path) -> None:
    found = differences(tmp_path, HEAD, "system,value\n")
    assert [r[-1] for r in found] == ["COLUMNS"]
    for folder, digest in (("kept", "a"), ("new", "b")):
        text = json.dumps({"data": {"headings": digest}, "versions": {"pandas": digest}})
        (tmp_path / folder / "recall.json").write_text(text)
    (tmp_path / "new" / "recall.csv").write_text(HEAD)
    found = compare(tmp_path / "new", tmp_path / "kept")
    assert found[["artefact", "column"]].values.tolist() == [["recall.json", "data"]]


def test_files_on_one_side_are_named(tmp_path: Path) -> None:
    for name in ("kept/a.csv", "kept/b.png", "new/b.png", "new/c.csv", "new/notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x\n")
    found = compare(tmp_path / "new", tmp_path / "kept")
    assert found[["artefact", "status"]].values.tolist() == [
        ["a.csv", "MISSING FILE"],
        ["c.csv", "EXTRA FILE"],
    ]
    assert len(compare(tmp_path / "absent", tmp_path / "kept")) == 2
