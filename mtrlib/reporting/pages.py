"""Committed notebooks as HTML pages with an index, for reading without Jupyter."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path

from nbformat import NotebookNode

from mtrlib.errors import NotebookError
from mtrlib.reporting import notebook_form
from mtrlib.reporting.results import write_atomically


def render(notebooks: Sequence[Path], folder: Path) -> Path:
    """Write a page per notebook and ``index.html``; returns the index.

    The pages load their formula and diagram scripts from the net, the rest is inside.

    Raises
    ------
    NotebookError
        A notebook cannot be read or converted.
    """
    from nbconvert import HTMLExporter

    exporter = HTMLExporter()
    entries = []
    for path in notebooks:
        notebook = notebook_form.read(path)
        try:
            page, _ = exporter.from_notebook_node(
                notebook, resources={"metadata": {"name": path.stem}}
            )
        except Exception as error:
            raise NotebookError(f"{path.stem}: no page could be made ({error}).") from error
        write_atomically(folder / f"{path.stem}.html", page.encode())
        name = html.escape(path.stem)
        entries.append(
            f'<li><a href="{name}.html">{name}</a>: {html.escape(_title(notebook))}</li>'
        )
    index = "\n".join(
        [
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Notebooks</title>',
            "</head><body><h1>Notebooks</h1><ul>",
            *entries,
            "</ul></body></html>\n",
        ]
    )
    write_atomically(folder / "index.html", index.encode())
    return folder / "index.html"


def _title(notebook: NotebookNode) -> str:
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            return cell.source.splitlines()[0].lstrip("# ") if cell.source.strip() else ""
    return ""
