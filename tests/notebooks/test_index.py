"""The index lists every numbered notebook, as the notebooks themselves have it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

from mtrlib import paths, profiles
from mtrlib.errors import NotebookError
from mtrlib.reporting import jobs, notebook_form, notebook_index

INDEX = paths.notebooks() / notebook_index.INDEX
FIRST = (
    "# 01 · One\n\n**Question.** Is a | b?\n**Paper artefact.** Table 1.\n"
    "**Cost of `default`.** Seconds."
)


def shown() -> list[dict[str, str]]:
    """Data of the outputs of the committed index, in order."""
    cells = nbformat.read(INDEX, as_version=4).cells
    return [output.data for cell in cells for output in cell.get("outputs", [])]


@pytest.mark.notebooks
def test_the_index_is_in_the_form_of_a_committed_page():
    assert notebook_form.check_page(INDEX) == []


@pytest.mark.notebooks
def test_the_index_is_up_to_date():
    """Mend: ``python -m mtrlib.reporting.notebook_index``."""
    notebooks, parameters, settings = shown()
    assert notebooks["text/markdown"] == notebook_index.table().data
    for output, table in (
        (parameters, notebook_index.parameter_table()),
        (settings, notebook_index.profile_table()),
    ):
        cells = re.findall(r"<t[dh]>(.*?)</t[dh]>", output["text/html"])
        assert cells == re.findall(r"<t[dh]>(.*?)</t[dh]>", whole_html(table))


def whole_html(table) -> str:
    import pandas as pd

    with pd.option_context("display.max_colwidth", None):
        return table.to_html()


def test_every_numbered_notebook_is_listed_once_and_its_link_leads_there():
    links = re.findall(r"\[([^]]+)\]\(([^)]+)\)", notebook_index.table().data)
    assert [name for _, name in links] == [path.name for path in jobs.select()]
    assert all((INDEX.parent / name).is_file() for _, name in links)
    assert all(title.startswith(f"{name[:2]} · ") for title, name in links)


def test_every_parameter_stands_in_the_table_with_its_notebooks():
    table = notebook_index.parameter_table()
    declared = {
        (name, path.stem[:2])
        for path in jobs.select()
        for name in notebook_form.declared_parameters(notebook_form.read(path))
    }
    rows = table["notebooks"].str.split(", ").explode()
    assert sorted(zip(rows.index, rows, strict=True)) == sorted(declared)
    assert (table["what may stand there"] != "").all()


def test_settings_that_all_profiles_share_are_left_out():
    table = notebook_index.profile_table()
    assert list(table.columns) == list(profiles.PROFILES)
    assert table.loc["STEPS", "smoke"] == str(profiles.PROFILES["smoke"].STEPS)
    assert "SEED" not in table.index and "PROFILE" not in table.index


def test_a_first_cell_without_its_lines_is_named(make_notebook: Callable[..., Path]):
    path = make_notebook("01_one")
    with pytest.raises(NotebookError, match=r"01_one.ipynb: .* no line 'Question'. Mend: add"):
        notebook_index.entries()
    rewrite(path, FIRST.removeprefix("# "))
    with pytest.raises(NotebookError, match=r"01_one.ipynb: its first cell has no title"):
        notebook_index.entries()
    rewrite(path, FIRST)
    (entry,) = notebook_index.entries()
    assert (entry.title, entry.cost) == ("01 · One", "Seconds.")
    assert "[01 · One](01_one.ipynb) | Is a \\| b? | Table 1. |" in notebook_index.table().data


@pytest.mark.slow
def test_a_refresh_writes_a_page_that_may_be_committed(make_notebook: Callable[..., Path]):
    rewrite(make_notebook("01_one"), FIRST)
    index = make_notebook(
        "index", {"x": "from mtrlib.reporting import notebook_index\nnotebook_index.table()"}
    )
    assert notebook_index.refresh() == index
    assert notebook_form.check_page(index) == []
    before = index.read_bytes()
    assert b"01_one.ipynb" in before
    broken = nbformat.read(index, as_version=4)
    broken.cells[-1].source = "1 / 0"
    nbformat.write(broken, index)
    with pytest.raises(NotebookError, match=r"index.ipynb, cell 2: ZeroDivisionError"):
        notebook_index.refresh()


def rewrite(path: Path, first: str) -> None:
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[0].source = first
    nbformat.write(notebook, path)
