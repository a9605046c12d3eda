"""Arrows between packages point one way, and heavy libraries wait until they are needed."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {"torch", "transformers", "sentence_transformers", "faiss"}
PAPERS = {"audit", "synthesis", "rvr", "rewriting"}

# row of each package or module; an import may stay in its row or go down
ROWS = {
    "errors": 0,
    "paths": 0,
    "profiles": 0,
    "ranges": 0,
    "progress": 0,
    "data": 1,
    "retrieval": 2,
    "llm": 2,
    "evaluation": 2,
    **dict.fromkeys(PAPERS, 3),
    "reporting": 4,
}

MODULES = sorted((ROOT / "mtrlib").rglob("*.py"))


def package(path: Path) -> str:
    """Name below mtrlib that a file belongs to; the package's own init has none."""
    first = path.relative_to(ROOT / "mtrlib").parts[0]
    return "" if first == "__init__.py" else first.removesuffix(".py")


def imports(tree: ast.AST, path: Path, *, lazy: bool) -> Iterator[str]:
    """Dotted names imported; with ``lazy`` also inside functions, else only at import time."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = path.relative_to(ROOT).parts[: -node.level]
                base = ".".join([*above, *filter(None, [base])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif not lazy and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        elif not lazy and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from imports(ast.Module(node.orelse, []), path, lazy=lazy)
        else:
            yield from imports(node, path, lazy=lazy)


def imported(path: Path, *, lazy: bool) -> set[str]:
    return set(imports(ast.parse(path.read_text("utf-8")), path, lazy=lazy))


def neighbours(path: Path) -> set[str]:
    """Other packages of mtrlib that a file imports."""
    names = (name.split(".") for name in imported(path, lazy=True))
    return {n[1] for n in names if n[0] == "mtrlib" and len(n) > 1 and n[1] in ROWS} - {
        package(path)
    }


by_file = pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))


@by_file
def test_imports_never_go_up(path):
    own = package(path)
    if not own:
        assert not neighbours(path), "mtrlib/__init__.py must stay light"
        return
    assert own in ROWS, f"{own} has no row yet: give it one here, where the design puts it"
    higher = {n for n in neighbours(path) if ROWS[n] > ROWS[own]}
    assert not higher, f"{own} must not import {higher}"
    if own in PAPERS:
        assert not neighbours(path) & PAPERS, "paper packages share only what lies below them"


def test_packages_form_no_cycle():
    graph: dict[str, set[str]] = {}
    for path in MODULES:
        graph.setdefault(package(path), set()).update(neighbours(path))
    TopologicalSorter(graph).prepare()


@by_file
def test_heavy_libraries_are_imported_inside_functions(path):
    found = {name.split(".")[0] for name in imported(path, lazy=False)} & HEAVY
    assert not found


@by_file
def test_only_reporting_knows_ipython(path):
    if package(path) != "reporting":
        assert not {n for n in imported(path, lazy=True) if n.split(".")[0] == "IPython"}


def test_importing_all_of_mtrlib_loads_nothing_heavy():
    """The source check above cannot see what a third library imports in turn."""
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in MODULES
        if path.stem != "__main__"
    ]
    code = (
        "import importlib, sys\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
        f"print(*sorted({HEAVY!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


@pytest.mark.parametrize(
    ("source", "at_import", "anywhere"),
    [
        ("import torch", {"torch"}, {"torch"}),
        ("def f():\n  import torch", set(), {"torch"}),
        ("try:\n  import faiss\nexcept ImportError: pass", {"faiss"}, {"faiss"}),
        ("class A:\n  import torch.nn", {"torch.nn"}, {"torch.nn"}),
        ("if TYPE_CHECKING:\n  import torch", set(), {"torch"}),
        (
            "from ..llm import client",
            {"mtrlib.llm", "mtrlib.llm.client"},
            {"mtrlib.llm", "mtrlib.llm.client"},
        ),
    ],
)
def test_the_reader_of_imports_sees_them(source, at_import, anywhere):
    path = ROOT / "mtrlib" / "audit" / "judges.py"
    tree = ast.parse(source)
    assert set(imports(tree, path, lazy=False)) == at_import
    assert set(imports(tree, path, lazy=True)) == anywhere
