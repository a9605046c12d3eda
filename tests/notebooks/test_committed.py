"""Every committed notebook has the form that the runner and the readers rely on."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtrlib import paths
from mtrlib.reporting import notebook_form

NOTEBOOKS = sorted(paths.notebooks().glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS, "no notebooks/*.ipynb"


@pytest.mark.notebooks
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_form(path: Path) -> None:
    assert notebook_form.check_committed(path) == []
