"""Strict runs of notebooks over papermill: nothing passes that did not happen as asked.

papermill only warns about unknown names, takes ``SystemExit(0)`` for success, and leaves a
half-run file in place. Here all parameters are settled before any kernel starts, each
notebook has a kernel of this very interpreter, and its file appears when all cells ran.
"""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from mtrlib import errors, paths
from mtrlib.errors import InputError, NotebookError
from mtrlib.reporting import kernel, notebook_form
from mtrlib.reporting.canonical import canonical_bytes
from mtrlib.reporting.jobs import Job
from mtrlib.reporting.results import write_atomically


@dataclass(frozen=True)
class Outcome:
    """A finished run. ``peak_mb`` bounds the kernel's memory from above, 0 = unknown."""

    name: str
    path: Path
    tag: str
    seconds: float
    peak_mb: int


def execute_all(
    jobs: Iterable[Job], *, build: Path | None = None, network: bool = True
) -> list[Outcome]:
    """Run one after the other, a line for each; the first failure ends it."""
    outcomes = []
    for job in jobs:
        print(f"{job.path.stem}: running ({job.profile.tag})", flush=True)
        outcomes.append(execute(job, build=build, network=network))
        done = outcomes[-1]
        memory = f", peak memory at most {done.peak_mb} MB" if done.peak_mb else ""
        print(f"{done.name}: {done.seconds:.1f} s{memory} -> {_shown(done.path)}", flush=True)
    return outcomes


def execute(
    job: Job,
    *,
    build: Path | None = None,
    network: bool = True,
) -> Outcome:
    """Run a notebook; its file appears only when every cell has run without an error.

    Parameters
    ----------
    job : from :func:`mtrlib.reporting.jobs.plan`.
    build : replaces the build folder of the whole run, results included.
    network : off, nothing but this machine can be reached; an attempt fails the run.

    Raises
    ------
    NotebookError
        Naming notebook, cell and exception, with the exit code of a library error. The
        earlier good file stays, the failed one lies beside it as ``<name>.failed.ipynb``.
    """
    name, tag = job.path.stem, job.profile.tag
    folder = build / tag if build else paths.build(tag)
    target = (folder / "notebooks").resolve() / f"{name}.ipynb"
    failed = target.with_name(f"{name}.failed.ipynb")
    log = folder / "logs" / f"{name}.log"
    if target == job.path.resolve():
        raise InputError.at(target, None, "the run would replace its source", "choose a folder")
    for parent in (target.parent, log.parent):
        parent.mkdir(parents=True, exist_ok=True)
    attempts = kernel.attempts_file(log)
    for old in (log, attempts):
        old.unlink(missing_ok=True)
    started = time.perf_counter()
    messages = log.with_suffix(".kernel.log")
    environment = kernel.environment(folder.parent, log, network=network)
    with kernel.Follower(log, name), messages.open("wb") as stderr:
        manager = kernel.manager_class(environment, stderr)
        executed, error = _papermill(job, target, manager)
    problems = notebook_form.check_run(executed, allow_stderr=True)
    if error is not None and all("was not executed" in problem for problem in problems):
        ended = f"{type(error).__name__}: {error} (its messages: {_shown(messages)})"
        problems.insert(0, f"{_last_started(executed)}: {ended}")
    if not problems and not job.profile.overrides:
        # a warning about a reader's own settings must not cost them the run
        problems = notebook_form.check_run(executed)
    if attempts.is_file():
        tried = dict.fromkeys(attempts.read_text(encoding="utf-8").split("\n")[:-1])
        problems.append(f"asked for the network in a run without it: {', '.join(tried)}")
    if problems:
        write_atomically(failed, canonical_bytes(executed))
        failure = NotebookError(f"{name}, {problems[0].rstrip('.')}. See {_shown(failed)}.")
        failure.exit_code = _exit_code(executed)
        raise failure
    write_atomically(target, canonical_bytes(executed))
    failed.unlink(missing_ok=True)
    return Outcome(name, target, tag, time.perf_counter() - started, kernel.peak_mb())


def _papermill(
    job: Job, target: Path, kernel_manager: type
) -> tuple[NotebookNode, Exception | None]:
    import papermill
    from papermill.execute import remove_error_markers

    part = target.with_name(f"{job.path.stem}.{os.getpid()}.part.ipynb")
    error = None
    try:
        try:
            papermill.execute_notebook(
                _injected(job),
                # papermill formats the path like a template
                str(part).replace("{", "{{").replace("}", "}}"),
                kernel_name=notebook_form.KERNEL,
                kernel_manager_class=kernel_manager,
                start_timeout=120,
                cwd=job.path.resolve().parent,
                progress_bar=False,
            )
        except Exception as caught:  # whatever ends a run is reported as this notebook's failure
            error = caught
        executed = notebook_form.read(part) if part.is_file() else job.notebook
    finally:
        part.unlink(missing_ok=True)
    return remove_error_markers(executed), error


def _injected(job: Job) -> NotebookNode:
    notebook: NotebookNode = nbformat.v4.upgrade(copy.deepcopy(job.notebook))
    if job.values:
        lines = [f"{name} = {value!r}" for name, value in job.values.items()]
        cell = nbformat.v4.new_code_cell(
            "\n".join(["# Parameters", *lines]), metadata={"tags": ["injected-parameters"]}
        )
        place = next(
            n for n, c in enumerate(notebook.cells) if "parameters" in c.metadata.get("tags", [])
        )
        notebook.cells.insert(place + 1, cell)
    return notebook


def _exit_code(notebook: NotebookNode) -> int:
    """Exit code of the library's own error if one ended the notebook, else NotebookError's."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            kind = getattr(errors, output.get("ename", ""), None)
            if isinstance(kind, type) and issubclass(kind, errors.MtrError):
                return kind.exit_code
    return NotebookError.exit_code


def _last_started(notebook: NotebookNode) -> str:
    # a cell in which the kernel dies is left without a count and marked as completed
    started = [
        number
        for number, cell in enumerate(notebook.cells, start=1)
        if cell.metadata.get("papermill", {}).get("start_time")
    ]
    return f"cell {started[-1]}" if started else "before the first cell"


def _shown(path: Path) -> str:
    root = paths.root().resolve()
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
