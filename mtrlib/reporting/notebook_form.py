"""What a numbered notebook must look like, checked without running it.

Each check returns its findings as sentences; a notebook in good form returns none.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from mtrlib import paths, profiles
from mtrlib.errors import NotebookError
from mtrlib.reporting.canonical import canonical_bytes
from mtrlib.reporting.parameter_comments import assignment, comment_problems
from mtrlib.reporting.parameters import is_declarable

KERNEL = "python3"
TAGS = ("parameters", "setup", "env", "results")
MAX_CODE_CELLS, MAX_FUNCTION_LINES, MAX_BYTES = 15, 5, 500 * 1024
FIELDS = frozenset(f.name for f in dataclasses.fields(profiles.Profile))

_MACHINE_PATH = re.compile(r"/home/|/root/|/tmp/|/Users/|\b[A-Za-z]:\\|site-packages")


def read(path: Path) -> NotebookNode:
    """Read a notebook in the current format.

    Raises
    ------
    NotebookError
        No such file, or not a notebook.
    """
    try:
        notebook: NotebookNode = nbformat.read(path, as_version=4)
    except FileNotFoundError:
        raise NotebookError(f"{path}: no such notebook. Mend: check the path.") from None
    except Exception as error:  # nbformat raises its own and jsonschema's errors
        reason = str(error).splitlines()[0]
        raise NotebookError(f"{path}: not a notebook ({reason}). Mend: restore it.") from None
    return notebook


def declared_parameters(nb: NotebookNode) -> dict[str, Any]:
    """Names and default values of the cell tagged ``parameters``.

    Raises
    ------
    NotebookError
        Not exactly one such cell, or something in it that is not a plain literal.
    """
    found, problems = _parameters(nb)
    if problems:
        raise NotebookError(f"{problems[0]}. Mend: keep one cell of plain literals.")
    return found


def check(nb: NotebookNode, *, known: Collection[str] = FIELDS) -> list[str]:
    """Problems in the source of a notebook: parameters, tags, kernel, shape of its code."""
    declared, problems = _parameters(nb)
    problems += [
        f"parameter {name} is no field of Profile" for name in declared if name not in known
    ]
    problems += _no_default_run(declared)
    if declared:
        problems += _uncommented(nb)
    for tag in TAGS[1:]:
        count = sum(tag in _tags(cell) for _, cell in _code(nb))
        if count != 1:
            problems.append(f"{count} code cells are tagged {tag!r}, must be 1")
    if len(_code(nb)) > MAX_CODE_CELLS:
        problems.append(f"{len(_code(nb))} code cells, at most {MAX_CODE_CELLS} are allowed")
    kernel = nb.metadata.get("kernelspec", {}).get("name")
    if kernel != KERNEL:
        problems.append(f"the kernel is named {kernel!r}, must be {KERNEL!r}")
    for number, cell in _code(nb):
        problems += [f"cell {number}: {problem}" for problem in _code_problems(cell.source)]
    return problems


def check_run(nb: NotebookNode, *, allow_stderr: bool = False) -> list[str]:
    """Problems of an executed notebook: cells left out, out of order, failed or warning."""
    problems = []
    for count, (number, cell) in enumerate(_code(nb), start=1):
        if cell.execution_count is None:
            problems.append(f"cell {number}: was not executed")
        elif cell.execution_count != count:
            problems.append(
                f"cell {number}: execution count {cell.execution_count}, must be {count}"
            )
        for output in cell.outputs:
            if output.output_type == "error":
                problems.append(f"cell {number}: {output.ename}: {_first_line(output.evalue)}")
            elif output.get("name") == "stderr" and not allow_stderr:
                problems.append(f"cell {number}: wrote to stderr: {_first_line(output.text)}")
    return problems


def check_committed(path: Path) -> list[str]:
    """All of :func:`check` and :func:`check_page`."""
    return check(read(path)) + check_page(path)


def check_page(path: Path) -> list[str]:
    """:func:`check_run`, and what any committed notebook must hold, numbered or not."""
    nb = read(path)
    problems = check_run(nb)
    for number, cell in _code(nb):
        for output in cell.outputs:
            problems += [f"cell {number}: {problem}" for problem in _output_problems(output)]
    if canonical_bytes(nb) != path.read_bytes():
        problems.append("not in canonical form, `make refresh` writes it")
    if path.stat().st_size > MAX_BYTES:
        problems.append(
            f"{path.stat().st_size // 1024} KB, at most {MAX_BYTES // 1024} are allowed"
        )
    return problems


def _parameters(nb: NotebookNode) -> tuple[dict[str, Any], list[str]]:
    tagged = [(number, cell) for number, cell in _code(nb) if "parameters" in _tags(cell)]
    if len(tagged) != 1:
        return {}, [f"{len(tagged)} code cells are tagged 'parameters', must be 1"]
    ((number, cell),) = tagged
    try:
        statements = ast.parse(cell.source).body
    except SyntaxError as error:
        return {}, [f"cell {number}: not plain Python (line {error.lineno})"]
    found, problems = {}, []
    for statement in statements:
        if (assigned := assignment(statement)) is None:
            problems.append(
                f"cell {number}: {ast.unparse(statement)!r} is no `NAME = literal`, but the "
                "cell tagged 'parameters' may hold nothing else"
            )
            continue
        name, value = assigned
        try:
            found[name] = ast.literal_eval(value)
        except ValueError:
            problems.append(
                f"cell {number}: {name} is computed in the cell tagged 'parameters' and would "
                "keep its old value when another is passed"
            )
            continue
        if not is_declarable(found[name]):
            problems.append(f"cell {number}: {name} must be text, number, bool or a list of text")
    return found, problems


def _no_default_run(declared: dict[str, Any]) -> Iterator[str]:
    # a plain run must be the default profile's own, or it lands in another build folder
    if "PROFILE" not in declared:
        yield "the cell tagged 'parameters' does not declare PROFILE"
    for name, value in declared.items():
        wanted = profiles.PROFILES["default"].to_dict().get(name, value)
        if (list(value) if isinstance(value, tuple) else value) != wanted:
            yield f"parameter {name} = {value!r}, but profile 'default' has {wanted!r}"


def _uncommented(nb: NotebookNode) -> Iterator[str]:
    for number, cell in _code(nb):
        if "parameters" in _tags(cell):
            yield from (f"cell {number}: {line}" for line in comment_problems(cell.source))


def _code_problems(source: str) -> Iterator[str]:
    try:
        flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        tree = compile(source, "cell", "exec", flags=flags)
    except SyntaxError as error:
        yield f"line {error.lineno} is not plain Python (`!` and `%` lines are not allowed)"
        return
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > MAX_FUNCTION_LINES:
                yield f"{node.name} has {lines} lines, at most {MAX_FUNCTION_LINES} are allowed"
            continue
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            yield f"line {node.lineno} is a loop, which belongs into the library"
        pending.extend(ast.iter_child_nodes(node))


def _output_problems(output: NotebookNode) -> Iterator[str]:
    data = output.get("data", {})
    if any("widget" in kind for kind in data):
        yield "a widget, which no headless page can show"
    texts = [text for kind, text in data.items() if not kind.startswith("image/")]
    here = str(paths.root())
    for text in [output.get("text", ""), *texts]:
        lines = str(text).splitlines()
        line = next((n for n in lines if _MACHINE_PATH.search(n) or here in n), None)
        if line is not None:
            yield f"a path of this machine in the output: {line.strip()[:120]}"


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _code(nb: NotebookNode) -> list[tuple[int, NotebookNode]]:
    """Code cells with their number among all cells, from 1."""
    return [(n, cell) for n, cell in enumerate(nb.cells, start=1) if cell.cell_type == "code"]


def _tags(cell: NotebookNode) -> list[str]:
    tags: list[str] = cell.metadata.get("tags", [])
    return tags
