"""The replacement of committed notebooks, results, figures and the README's block by fresh ones."""

from __future__ import annotations

from pathlib import Path

from mtrlib import paths
from mtrlib.errors import InputError
from mtrlib.reporting import jobs, readme_block, results
from mtrlib.reporting.results import write_atomically
from mtrlib.reporting.verify import check_form, fresh_run


def refresh(names: str = "") -> list[Path]:
    """Run notebooks afresh and replace what is committed: all of it or, on failure, nothing.

    Parameters
    ----------
    names : notebooks to refresh, all if empty.

    Returns
    -------
    The replaced files, among them ``README.md`` where its block changed. A committed artefact
    that no notebook makes any more is left alone; ``compare`` names it.

    Raises
    ------
    NotebookError
        A notebook fails or comes out in a form that may not be committed.
    """
    sources = jobs.select(names)
    build = fresh_run(sources, "refresh")
    check_form([build / "notebooks" / path.name for path in sources])
    contents = {
        kept / file.name: file.read_bytes()
        for part, kept in (
            ("notebooks", paths.notebooks()),
            ("results", paths.results()),
            ("figures", paths.figures()),
        )
        for file in sorted((build / part).glob("*"))
        if file.suffix in (".ipynb", ".csv", ".json", ".png")
    }
    contents |= _fresh_readme(build / "results")
    _replace_all(contents)
    return list(contents)


def _fresh_readme(made: Path) -> dict[Path, bytes]:
    readme = paths.root() / "README.md"
    if not (made / f"{readme_block.TABLE}.json").is_file():
        return {}
    table, _ = results.load(readme_block.TABLE, made)
    old = readme.read_text(encoding="utf-8")
    new = readme_block.written(old, table)
    return {} if new == old else {readme: new.encode()}


def _replace_all(contents: dict[Path, bytes]) -> None:
    before = {kept: kept.read_bytes() if kept.is_file() else None for kept in contents}
    try:
        for kept, content in contents.items():
            write_atomically(kept, content)
    except OSError as error:
        for kept, old in before.items():
            if old is None:
                kept.unlink(missing_ok=True)
            else:
                write_atomically(kept, old)
        raise InputError(f"nothing was replaced: {error}. Mend: free the files.") from error
