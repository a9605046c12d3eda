"""The proof of the committed notebooks and results.

Form: every committed notebook has the agreed shape. Truth: a fresh run in profile ``default``,
without network, gives the same bytes. Numbers: its tables agree with the committed ones, and the
block of ``README.md`` with its table.
"""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import pandas as pd
from nbformat import NotebookNode

from mtrlib import paths
from mtrlib.errors import ComparisonError, InputError, NotebookError
from mtrlib.reporting import (
    canonical,
    compare,
    jobs,
    notebook_form,
    notebook_runner,
    readme_block,
    results,
)
from mtrlib.reporting.results import versions


@dataclass(frozen=True)
class _Kept:
    """Folders of the files that a fresh run is held against."""

    notebooks: Path
    results: Path
    figures: Path


def verify(names: str = "", *, profile: str = "default", images: bool | None = None) -> None:
    """Prove executed notebooks, their figures and results by a fresh run; prints what is done.

    Of profile ``default`` the committed files are proved, and their form and the block of
    ``README.md`` with them. Of another profile, those that ``make reproduce`` left in
    ``build/<profile>``: whether a change of the code changed any number.

    Parameters
    ----------
    names : notebooks to prove, all if empty; the artefacts that bear their numbers are compared.
    profile : whose files.
    images : compare pictures in notebooks byte by byte; None does so where platform and
        matplotlib are those of the kept results. The points behind each figure are compared
        in any case.

    Raises
    ------
    NotebookError
        A committed notebook is out of form, fails when run, or asks for the network.
    InputError
        The profile has left nothing to compare with.
    ComparisonError
        Something differs; each difference is named.
    """
    sources = jobs.select(names)
    kept = _kept(profile)
    if profile == "default":
        check_form(sources)
    _check_there(sources, kept, profile)
    build = fresh_run(sources, "verify", profile=profile, network=False)
    if images is None:
        images = _draws_alike(kept.results)
        print(f"pictures in notebooks are {'' if images else 'not '}compared", flush=True)
    found = [
        line
        for path in sources
        for line in differences(
            kept.notebooks / path.name, build / "notebooks" / path.name, images=images
        )
    ]
    numbers = [path.stem.split("_")[0] for path in sources] if names else None
    pairs = (build / "results", kept.results), (build / "figures", kept.figures)
    for fresh, old in pairs:
        found += lines(compare.compare(fresh, old, numbers=numbers))
    if profile == "default":
        found += _readme_differences()
    if found:
        raise ComparisonError("\n  ".join([f"{len(found)} differences", *found]))
    print(f"verified: {len(sources)} notebooks, their figures and results ({profile})")


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


def fresh_run(
    notebooks: Sequence[Path],
    purpose: str,
    *,
    profile: str = "default",
    network: bool = True,
) -> Path:
    """Run in a profile into ``build/<purpose>/<profile>``, emptied before.

    Raises
    ------
    NotebookError
        A notebook fails, or its own literals are not those of ``default``.
    """
    build = paths.build(purpose)
    planned = jobs.plan(notebooks, profile)
    for job in planned:
        if job.profile.tag != profile or (profile == "default" and job.values):
            raise NotebookError(
                f"{job.path.stem}: a plain run is {job.profile.tag!r}, not {profile!r}. "
                "Mend: set the literals of its parameters cell to the profile's values."
            )
    shutil.rmtree(build, ignore_errors=True)
    notebook_runner.execute_all(planned, build=build, network=network)
    return build / profile


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


def _kept(profile: str) -> _Kept:
    if profile == "default":
        return _Kept(paths.notebooks(), paths.results(), paths.figures())
    build = paths.build(profile)
    return _Kept(build / "notebooks", build / "results", build / "figures")


def _check_there(sources: Sequence[Path], kept: _Kept, profile: str) -> None:
    for path in sources:
        if not (kept.notebooks / path.name).is_file():
            raise InputError.at(
                kept.notebooks / path.name,
                None,
                "nothing to compare with",
                f"run `make reproduce PROFILE={profile}` before the change",
            )


def _draws_alike(kept: Path) -> bool:
    here = versions().get("matplotlib"), f"{platform.system()} {platform.machine()}"
    for path in sorted(kept.glob("*.json")):
        made = json.loads(path.read_text(encoding="utf-8"))
        if (made["versions"].get("matplotlib"), made["platform"]) != here:
            return False
    return True


def _readme_differences() -> list[str]:
    readme = paths.root() / "README.md"
    if not (paths.results() / f"{readme_block.TABLE}.json").is_file():
        return []
    table, _ = results.load(readme_block.TABLE, paths.results())
    try:
        readme_block.check(readme.read_text(encoding="utf-8"), table)
    except (ComparisonError, InputError) as error:
        return [str(error)]
    return []
