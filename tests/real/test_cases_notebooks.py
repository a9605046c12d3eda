"""Shared case 12: misspelt name, text like a number, derived value, missing tag."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mtrlib import profiles
from mtrlib.errors import InputError
from mtrlib.reporting import jobs, notebook_form, parameters
from mtrlib.reporting.__main__ import main


@pytest.fixture
def case(shared_cases: Path) -> Path:
    return shared_cases / "12_notebook_parameters"


@pytest.fixture
def expected(case: Path) -> dict:
    text = (case / "expected.md").read_text(encoding="utf-8")
    return json.loads(re.search(r"```json\n(.*?)```", text, re.DOTALL).group(1))


def test_misspelt_name_is_refused_by_every_notebook(case: Path, expected: dict) -> None:
    for path in jobs.select():
        with pytest.raises(InputError) as raised:
            main(["run", "--nb", path.stem, "--parameters", str(case / "bad_name.yaml")])
        assert expected["bad_name"]["message_contains"] in str(raised.value)
        assert "Known parameters:" in str(raised.value) and "PROFILE" in str(raised.value)


def test_quoted_text_arrives_unchanged(case: Path, expected: dict) -> None:
    given = parameters.read_file(case / "string_values.yaml")
    declared = {"notebook": {"run_id": "demo", "version": "1.0"}}
    assert parameters.assign(declared, given)["notebook"] == expected["string_values"]
    spelled = parameters.parse_text("run_id=007 version=1.10")
    assert parameters.assign(declared, spelled)["notebook"] == expected["string_values"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("derived_in_parameters_cell.ipynb", "out_dir is computed"),
        ("no_tag.ipynb", "0 code cells are tagged 'parameters'"),
    ],
)
def test_notebook_check_rejects(case: Path, expected: dict, name: str, reason: str) -> None:
    assert name in expected["lint_rejects"]
    known = {"top_k", "run_id", "version", "out_dir", *profiles.Profile.__dataclass_fields__}
    found = notebook_form.check(notebook_form.read(case / name), known=known)
    assert any(reason in problem for problem in found)


def test_every_product_notebook_declares_plain_literals() -> None:
    for path in jobs.select():
        assert "PROFILE" in notebook_form.declared_parameters(notebook_form.read(path))
