"""Saved results are complete or refused, and equal bytes for equal input."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from mtrlib import profiles
from mtrlib.errors import InputError
from mtrlib.reporting import results

FRAME = pd.DataFrame(
    {
        "query_id": ["007", "NA", ""],
        "k": [1, 20, 100],
        "value": [0.12345678, -0.0000001, float("nan")],
        "gold": [True, False, True],
    }
)


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "registry.json").write_text("{}")
    monkeypatch.setenv("MTR_ROOT", str(tmp_path))
    monkeypatch.delenv("MTR_BUILD", raising=False)
    return tmp_path


def test_round_trip(root: Path) -> None:
    profile = profiles.load("default", K=10)
    path = results.save("recall", FRAME, profile, mode="replayed", digests={"headings": "ab"})
    assert path.as_posix() == "build/default+K=10/results/recall.csv"
    assert (root / path).read_bytes() == (
        b'query_id,k,value,gold\n007,1,0.123457,True\nNA,20,0.0,False\n"",100,,True\n'.replace(
            b'""', b""
        )
    )
    frame, manifest = results.load("recall", profile)
    assert frame["query_id"].tolist() == ["007", "NA", ""]
    assert frame["value"].isna().tolist() == [False, False, True]
    assert frame.dtypes.astype(str).tolist()[1:] == ["int64", "float64", "bool"]
    assert (manifest["rows"], manifest["mode"], manifest["seed"]) == (3, "replayed", profile.SEED)
    assert manifest["settings"]["K"] == 10 and manifest["data"] == {"headings": "ab"}
    assert "pandas" in manifest["versions"]


def test_same_bytes_and_nothing_of_this_machine(root: Path) -> None:
    profile = profiles.load("default")
    digests = {"b": "1", "a": "2"}
    path = root / results.save("x", FRAME, profile, digests=digests)
    first = path.read_bytes(), path.with_suffix(".json").read_bytes()
    shutil.rmtree(path.parent)
    results.save("x", FRAME, profile, digests=dict(reversed(digests.items())))
    assert (path.read_bytes(), path.with_suffix(".json").read_bytes()) == first
    assert str(root).encode() not in first[1]
    assert sorted(p.name for p in path.parent.iterdir()) == ["x.csv", "x.json"]


def test_unfinished_or_changed_is_refused(root: Path) -> None:
    profile = profiles.load("default")
    path = root / results.save("x", FRAME, profile)
    folder = path.parent
    path.write_bytes(path.read_bytes().replace(b"0.12", b"0.13"))
    with pytest.raises(InputError, match="changed since its manifest"):
        results.load("x", folder)
    path.unlink()
    with pytest.raises(InputError, match="table is missing"):
        results.load("x", folder)
    path.with_suffix(".json").unlink()
    with pytest.raises(InputError, match="no manifest"):
        results.load("x", folder)


def test_bad_names_modes_and_columns() -> None:
    profile = profiles.load("default")
    with pytest.raises(InputError, match="artefact name"):
        results.save("../x", FRAME, profile)
    with pytest.raises(InputError, match="mode='guessed'"):
        results.save("x", FRAME, profile, mode="guessed")  # type: ignore[arg-type]
    doubled = pd.concat([FRAME, FRAME["k"]], axis=1)
    with pytest.raises(InputError, match="'k' occurs more than once"):
        results.save("x", doubled, profile)


def test_named_index_becomes_columns_and_odd_floats_are_rounded() -> None:
    frame = pd.DataFrame({"value": [1 / 3, None]}, index=pd.Index(["a", "b"], name="system"))
    assert results.csv_bytes(frame) == b"system,value\na,0.333333\nb,\n"
    mixed = pd.DataFrame({"value": pd.Series([2 / 3, "n/a"], dtype=object)})
    assert results.csv_bytes(mixed) == b"value\n0.666667\nn/a\n"
    narrow = pd.DataFrame({"value": pd.Series([0.1], dtype="float32")})
    assert results.csv_bytes(narrow) == b"value\n0.1\n"


def test_figure_and_points_are_reproducible(root: Path) -> None:
    profile = profiles.load("default")
    made = []
    for _ in range(2):
        fig = Figure(figsize=(2, 1))
        fig.subplots().plot([0.0, 1.0])
        path = root / results.save_figure("fig_x", fig, FRAME[["k", "value"]], profile)
        made.append(path.read_bytes())
    assert made[0] == made[1] and b"Software" not in made[0]
    assert path.with_suffix(".csv").read_bytes().startswith(b"k,value\n1,0.123457\n")


def test_build_folder_of_a_proof_run(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MTR_BUILD", str(root / "elsewhere"))
    path = results.save("x", FRAME, profiles.load("default"))
    assert path.as_posix() == "build/default/results/x.csv"  # what a notebook prints stays
    manifest = json.loads((root / "elsewhere/default/results/x.json").read_text())
    assert manifest["columns"]["query_id"] == "str"


def test_whole_numbers_that_may_be_missing_survive(root: Path) -> None:
    frame = pd.DataFrame({"pair": ["a", "b"], "needed": pd.array([26, None], dtype="Int64")})
    path = root / results.save("holes", frame, profiles.load("default"))
    loaded, _ = results.load("holes", path.parent)
    assert loaded["needed"].tolist()[0] == 26
    assert loaded["needed"].isna().tolist() == [False, True]
