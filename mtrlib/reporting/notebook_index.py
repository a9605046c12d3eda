"""The index of the notebooks, read off the notebooks themselves so that nothing is typed twice.

``python -m mtrlib.reporting.notebook_index`` runs ``notebooks/index.ipynb`` afresh and writes it
in canonical form.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pandas as pd

from mtrlib import paths, profiles
from mtrlib.errors import NotebookError, run_main
from mtrlib.reporting import jobs, kernel, notebook_form
from mtrlib.reporting.canonical import canonical_bytes
from mtrlib.reporting.parameter_comments import read_comments
from mtrlib.reporting.results import write_atomically

if TYPE_CHECKING:
    from IPython.display import Markdown

INDEX = "index.ipynb"
LABELS = {"question": "Question", "artefact": "Paper artefact", "cost": "Cost of `default`"}


@dataclasses.dataclass(frozen=True)
class Entry:
    """What the first cell of a notebook says.

    Attributes
    ----------
    title : with its number, "03 · Discrimination".
    question, artefact, cost : the lines of these labels, as Markdown.
    """

    path: Path
    title: str
    question: str
    artefact: str
    cost: str


def entries() -> list[Entry]:
    """The numbered notebooks in order.

    Raises
    ------
    NotebookError
        A first cell without its title or one of its lines.
    """
    return [_entry(path) for path in jobs.select()]


def table(given: Sequence[Entry] | None = None) -> Markdown:
    """The notebooks as a Markdown table with links beside this file.

    Parameters
    ----------
    given : all of :func:`entries` if None.
    """
    from IPython.display import Markdown

    rows = ["| notebook | question | paper artefact | cost of `default` |", "|---|---|---|---|"]
    for entry in entries() if given is None else given:
        cells = [f"[{entry.title}]({entry.path.name})", entry.question, entry.artefact, entry.cost]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return Markdown("\n".join(rows))


def parameter_table() -> pd.DataFrame:
    """Every parameter that a notebook declares.

    Returns
    -------
    DataFrame
        Indexed by ``parameter``: ``default``, ``what may stand there`` (the comment of the first
        notebook that declares it) and the numbers of the ``notebooks``. Where type or range
        differ between notebooks there is a row for each.
    """
    found: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    for path in jobs.select():
        notebook = notebook_form.read(path)
        (cell,) = (c for c in notebook.cells if "parameters" in c.metadata.get("tags", []))
        comments = read_comments(cell.source)
        for name, value in notebook_form.declared_parameters(notebook).items():
            key = name, comments[name].partition(":")[0]
            said = repr(value), comments[name], path.stem.split("_")[0]
            found.setdefault(key, []).append(said)
    order = [f.name for f in dataclasses.fields(profiles.Profile)]
    rows = [
        (name, *own[0][:2], ", ".join(number for _, _, number in own))
        for (name, _), own in sorted(found.items(), key=lambda item: order.index(item[0][0]))
    ]
    columns = ["parameter", "default", "what may stand there", "notebooks"]
    return pd.DataFrame(rows, columns=columns).set_index("parameter")


def profile_table() -> pd.DataFrame:
    """The settings in which the profiles differ, a column per profile."""
    columns = {name: profile.table()["value"] for name, profile in profiles.PROFILES.items()}
    settings = pd.DataFrame(columns).drop(index="PROFILE")
    return settings[settings.nunique(axis=1) > 1]


def refresh() -> Path:
    """Run the index in a kernel of this interpreter and replace it, or on failure nothing.

    Raises
    ------
    NotebookError
        A cell fails or warns.
    """
    from nbclient import NotebookClient

    path = paths.notebooks() / INDEX
    notebook = notebook_form.read(path)
    log = paths.build("index") / "index.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as messages:
        manager = kernel.manager_class(kernel.environment(log.parent, log), messages)
        NotebookClient(
            notebook,
            kernel_manager_class=manager,
            allow_errors=True,
            resources={"metadata": {"path": str(path.parent)}},
        ).execute()
    problems = notebook_form.check_run(notebook)
    if problems:
        raise NotebookError(f"{path.name}, {problems[0]}. Mend: run it in JupyterLab and look.")
    nbformat.validate(notebook)
    write_atomically(path, canonical_bytes(notebook))
    return path


def main() -> None:
    """Refresh the index and say so."""
    print(f"replaced {refresh().relative_to(paths.root())}")


def _entry(path: Path) -> Entry:
    text = notebook_form.read(path).cells[0].source
    title = re.match(r"# (.+)", text)
    if not title:
        raise NotebookError(f"{path.name}: its first cell has no title. Mend: `# NN · Title`.")
    said = {}
    for field, label in LABELS.items():
        line = re.search(rf"^\*\*{re.escape(label)}\.\*\* (.+)$", text, re.M)
        if not line:
            raise NotebookError(
                f"{path.name}: its first cell has no line {label!r}. Mend: add `**{label}.** ...`."
            )
        said[field] = line[1].strip()
    return Entry(path, title[1].strip(), **said)


if __name__ == "__main__":
    run_main(main)
