"""The proof of the committed notebooks and results, and their replacement.

Form: every committed notebook has the agreed shape. Truth: a fresh run in profile
``default`` gives the same bytes. Numbers: its tables agree with the committed ones.
"""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

import pandas as pd
from nbformat import NotebookNode

from mtrlib import paths
from mtrlib.errors import ComparisonError, InputError, NotebookError
from mtrlib.reporting import canonical, compare, jobs, notebook_form, notebook_runner
from mtrlib.reporting.results import versions, write_atomically


def verify(*, images: bool | None = None) -> None:
    """Prove all committed notebooks, figures and results; prints what is done.

    Parameters
    ----------
    images : compare pictures in notebooks byte by byte; None does so where platform and
        matplotlib are those of the committed results. The points behind each figure are
        compared in any case.

    Raises
    ------
    NotebookError
        A committed notebook is out of form, or fails when run.
    ComparisonError
        Something differs; each difference is named.
    """
    committed = jobs.select()
    check_form(committed)
    build = fresh_run(committed, "verify")
    if images is None:
        images = _draws_alike()
        print(f"pictures in notebooks are {'' if images else 'not '}compared", flush=True)
    found = [
        line
        for path in committed
        for line in differences(path, build / "notebooks" / path.name, images=images)
    ]
    found += lines(compare.compare_build(build))
    if found:
        raise ComparisonError("\n  ".join([f"{len(found)} differences", *found]))
    print(f"verified: {len(committed)} notebooks, their figures and results")


def refresh(names: str = "") -> list[Path]:
    """Run notebooks afresh and replace what is committed: all of it or, on failure, nothing.

    Parameters
    ----------
    names : notebooks to refresh, all if empty.

    Returns
    -------
    The replaced files. A committed artefact that no notebook makes any more is left alone;
    ``compare`` names it.

    Raises
    ------
    NotebookError
        A notebook fails or comes out in a form that may not be committed.
    """
    sources = jobs.select(names)
    build = fresh_run(sources, "refresh")
    check_form([build / "notebooks" / path.name for path in sources])
    moves = {
        file: kept / file.name
        for part, kept in (
            ("notebooks", paths.notebooks()),
            ("results", paths.results()),
            ("figures", paths.figures()),
        )
        for file in sorted((build / part).glob("*"))
        if file.suffix in (".ipynb", ".csv", ".json", ".png")
    }
    _replace_all(moves)
    return list(moves.values())


def check_form(notebooks: Sequence[Path]) -> None:
    """Refuse notebooks that are not in the form of a committed one.

    Raises
    ------
    NotebookError
        Naming every problem of every notebook.
    """
    found = [f"{p.stem}, {line}" for p in notebooks for line in notebook_form.check_committed(p)]
    if found:
        raise NotebookError("\n  ".join([f"{len(found)} problems of form", *found]))


def fresh_run(notebooks: Sequence[Path], purpose: str) -> Path:
    """Run in profile ``default`` into ``build/<purpose>/default``, emptied before.

    Raises
    ------
    NotebookError
        A notebook fails, or its own literals are not those of ``default``.
    """
    build = paths.build(purpose)
    planned = jobs.plan(notebooks, "default")
    for job in planned:
        if job.values or job.profile.tag != "default":
            raise NotebookError(
                f"{job.path.stem}: a plain run is {job.profile.tag!r}, not 'default'. "
                "Mend: set the literals of its parameters cell to the profile's values."
            )
    shutil.rmtree(build, ignore_errors=True)
    notebook_runner.execute_all(planned, build=build)
    return build / "default"


def differences(committed: Path, fresh: Path, *, images: bool = True) -> list[str]:
    """Where two executed notebooks differ: notebook, cell number, first differing line.

    Outputs of cells tagged ``env`` or ``timing`` do not count. Of a notebook with a cell tagged
    ``trained`` only the sources are compared: weights trained on another processor differ in
    their last bits, so its tables are held against each other within their tolerances instead.
    """
    old, new = (
        canonical.strip_env(canonical.canonical(notebook_form.read(path)), images=images)
        for path in (committed, fresh)
    )
    if canonical.is_trained(old):
        old, new = (canonical.without_outputs(nb) for nb in (old, new))
    if canonical.canonical_bytes(old) == canonical.canonical_bytes(new):
        return []
    found = []
    pairs = zip_longest(old.cells, new.cells)
    for number, (before, after) in enumerate(pairs, start=1):
        if before != after:
            found.append(f"{committed.stem}, cell {number}: {_first_difference(before, after)}")
    return found or [f"{committed.stem}: metadata of the notebook"]


def lines(table: pd.DataFrame) -> list[str]:
    """One sentence for each row of :func:`mtrlib.reporting.compare.compare`."""
    found = []
    for row in table.itertuples(index=False):
        place = ", ".join(str(part) for part in row[:3] if part)
        values = (
            f" committed {row.committed}, fresh {row.fresh}" if row.committed or row.fresh else ""
        )
        found.append(f"{place}: {row.status}{values}")
    return found


def _first_difference(before: NotebookNode | None, after: NotebookNode | None) -> str:
    if before is None or after is None:
        return "only in the fresh run" if before is None else "only in the committed notebook"
    for old, new in zip_longest(canonical.cell_lines(before), canonical.cell_lines(after)):
        if old != new:
            return f"committed {_cut(old)}, fresh {_cut(new)}"
    return "metadata of the cell"


def _cut(line: str | None) -> str:
    if line is None:
        return "nothing"
    return repr(line if len(line) <= 120 else line[:117] + "...")


def _draws_alike() -> bool:
    here = versions().get("matplotlib"), f"{platform.system()} {platform.machine()}"
    for path in sorted(paths.results().glob("*.json")):
        made = json.loads(path.read_text(encoding="utf-8"))
        if (made["versions"].get("matplotlib"), made["platform"]) != here:
            return False
    return True


def _replace_all(moves: dict[Path, Path]) -> None:
    before = {kept: kept.read_bytes() if kept.is_file() else None for kept in moves.values()}
    try:
        for fresh, kept in moves.items():
            write_atomically(kept, fresh.read_bytes())
    except OSError as error:
        for kept, content in before.items():
            if content is None:
                kept.unlink(missing_ok=True)
            else:
                write_atomically(kept, content)
        raise InputError(f"nothing was replaced: {error}. Mend: free the files.") from error
