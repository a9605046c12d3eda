"""Every committed notebook has the form that the runner and the readers rely on."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtrlib import paths
from mtrlib.reporting import jobs, notebook_form

NOTEBOOKS = jobs.select()


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS, "no notebooks/*.ipynb"


def test_all_notebooks_are_numbered_but_the_index() -> None:
    others = set(paths.notebooks().glob("*.ipynb")).difference(NOTEBOOKS)
    assert [path.name for path in others] == ["index.ipynb"]


@pytest.mark.notebooks
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_form(path: Path) -> None:
    assert notebook_form.check_committed(path) == []
