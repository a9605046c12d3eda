"""Every published number has one row, and a status that can fail."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from mtrlib import profiles
from mtrlib.errors import ComparisonError, InputError
from mtrlib.profiles import Profile
from mtrlib.reporting import matrix, readme_block, results
from mtrlib.reporting.counterparts import Ours
from mtrlib.reporting.published import PublishedNumber, published_numbers

NUMBERS = published_numbers()
PAPER = {"PROFILE": "paper", "LISTS": "qampari", "LIST_SPLIT": "dev", "LIST_K": 100}


def number(name: str, block: str = "rvr_main") -> PublishedNumber:
    return next(n for n in NUMBERS if n.block == block and n.name == name)


BASE = number("Contriever-MSMARCO · base_single · mrecall_100")


def test_numbers_are_unique_and_say_where_they_stand() -> None:
    names = [(n.block, n.path) for n in NUMBERS]
    assert len(names) == len(set(names)) > 150
    for n in NUMBERS:
        for entry in ("work", "source", "notebook", "setup", "unit", "decimals", "ours"):
            assert entry in n.about, (n.block, entry)
    assert (BASE.value, BASE.tolerance, BASE.about["n"]) == (19.0, 1.0, 1000)
    gaps = number("verifier_topk · Contriever-MSMARCO · mrecall_100", "rvr_ablation")
    assert gaps.value == 26.9  # its recall is not given and is no row


def test_named_notebooks_exist() -> None:
    from mtrlib import paths

    for name in {n.about["notebook"] for n in NUMBERS}:
        assert (paths.notebooks() / f"{name}.ipynb").is_file(), name


@pytest.mark.parametrize("n", NUMBERS, ids=lambda n: f"{n.block}: {n.name}")
def test_zero_would_fail_and_so_would_twice_the_tolerance(n: PublishedNumber) -> None:
    count = n.about.get("n")
    assert matrix.status(n, Ours(n.value, count, same_setup=True)) == matrix.OK
    assert matrix.status(n, Ours(0.0, count, same_setup=True)) == matrix.FAIL
    off = max(2 * (n.tolerance or 0), 10**-n.decimals)
    assert matrix.status(n, Ours(n.value + off, count, same_setup=True)) == matrix.FAIL
    assert matrix.status(n, Ours(n.value, count)) == matrix.DIFFERENT_SETUP
    assert matrix.status(n, None) == matrix.NOT_RUN


@pytest.mark.parametrize(
    ("ours", "expected"),
    [(19.004, "OK"), (19.006, "WITHIN"), (18.0, "WITHIN"), (17.99, "FAIL"), (20.01, "FAIL")],
)
def test_rounding_and_tolerance(ours: float, expected: str) -> None:
    assert matrix.status(BASE, Ours(ours, 1000, same_setup=True)) == expected


@pytest.fixture
def paper_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A made-up main table, as a run of profile ``paper`` would leave it."""
    monkeypatch.setenv("MTR_BUILD", str(tmp_path))

    def leave(
        value: float, n: int = 1000, encoder: str = "contriever-msmarco", **settings: object
    ) -> pd.Series:
        table = pd.DataFrame(
            [(encoder, "base_single", "-", "answers", "mrecall", value, n)],
            columns=["encoder", "system", "verifier", "rule", "measure", "value", "n"],
        )
        profile = profiles.load("default")  # the hubs stay off; the manifest says paper
        results.save("t05_main", table, profile)
        manifest = tmp_path / "default" / "results" / "t05_main.json"
        found = json.loads(manifest.read_text("utf-8"))
        found["settings"] = {**found["settings"], **PAPER, **settings}
        manifest.write_text(json.dumps(found), "utf-8")
        rows = matrix.matrix(profile).set_index(["artefact", "number"])
        return rows.loc[("rvr_main", BASE.name)]

    return leave


def test_a_run_in_the_papers_setup_is_held_against_it(paper_run) -> None:
    row = paper_run(0.1901)
    assert (row["status"], row["n"]) == ("WITHIN", 1000)
    assert row["delta"] == pytest.approx(0.01)


def test_a_run_in_the_papers_setup_can_fail(paper_run) -> None:
    row = paper_run(0.25)
    assert row["status"] == "FAIL"
    said = matrix.failures(row.to_frame().T.assign(artefact="rvr_main", number=BASE.name))
    assert said == [
        f"rvr_main, {BASE.name}: paper 19, ours 25 (points), tolerance 1; see 05_rvr_main"
    ]


@pytest.mark.parametrize(
    "other",
    [{"n": 5}, {"encoder": "minilm"}, {"LIST_K": 20}, {"PROFILE": "default"}, {"LISTS": "x"}],
)
def test_any_other_setup_is_never_compared(paper_run, other: dict) -> None:
    row = paper_run(0.19, **other)
    assert row["status"] == "DIFFERENT SETUP"
    assert pd.isna(row["delta"])


def test_invented_rows_reach_every_status() -> None:
    assert set(matrix.made_up_rows()["status"]) == set(matrix.STATUSES)


def test_settings_in_force_equal_the_published_ones() -> None:
    found = matrix.matrix(profiles.load("default"))
    settings = found[found["kind"] == "setting"]
    assert not (settings["status"] == "FAIL").any()
    # how a batch falls to devices is not set here
    missing = settings.loc[settings["status"] == "NOT RUN", "number"]
    assert set(missing) == {"batch_per_gpu", "grad_accumulation"}


@pytest.fixture
def table() -> pd.DataFrame:
    return matrix.matrix(profiles.load("default"))


def text(body: str = "") -> str:
    return f"# Title\n{readme_block.BEGIN}\n{body}{readme_block.END}\n\nrest\n"


def test_block_is_written_between_its_marks_and_checked(table: pd.DataFrame) -> None:
    new = readme_block.written(text("what stood here\n"), table)
    assert new.startswith("# Title\n")
    assert new.endswith(f"{readme_block.END}\n\nrest\n")
    assert "what stood here" not in new
    assert readme_block.written(new, table) == new
    readme_block.check(new, table)
    line = next(line for line in new.splitlines() if "0.0025" in line)
    with pytest.raises(ComparisonError, match=r"README.md:\d+: .*make refresh NB=90"):
        readme_block.check(new.replace(line, line.replace("0.0025", "0.0026")), table)
    with pytest.raises(ComparisonError, match="make refresh"):
        readme_block.check(text(), table)


def test_missing_marks_are_refused(table: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="marks of its block"):
        readme_block.written("# no marks", table)


def test_committed_block_is_the_committed_table() -> None:
    from mtrlib import paths

    found, _ = results.load(readme_block.TABLE, paths.results())
    readme_block.check((paths.root() / "README.md").read_text("utf-8"), found)


def test_smoke_shows_nothing_of_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MTR_BUILD", str(tmp_path))
    smoke: Profile = profiles.load("smoke")
    own = matrix.matrix(smoke)
    assert set(own.loc[own["kind"] == "result", "setup"]) <= {"", "make real, feature, 100"}
