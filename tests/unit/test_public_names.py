"""Every public name of mtrlib is used by another module, a notebook or the docs; or it goes.

Tests do not count as users. A name that only its own module uses is private, unless callers meet
it in a public signature, a test addresses it as a step of its own, or it is a constant.
"""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
Function = ast.FunctionDef | ast.AsyncFunctionDef
Users = dict[str | tuple[str, str], set[str]]

# asked for by a name that is put together at run time
BY_NAME = {"FORMATS": "each reader's module; mtrlib.data.formats imports them all"}


@dataclass
class Uses:
    """What a piece of code takes from mtrlib, and every name and attribute in it."""

    taken: set[tuple[str, str]] = field(default_factory=set)  # (module, name)
    words: set[str] = field(default_factory=set)


@cache
def words(tree: ast.AST) -> frozenset[str]:
    """Every name and attribute in a piece of code."""
    nodes = list(ast.walk(tree))
    return frozenset(
        [n.id for n in nodes if isinstance(n, ast.Name)]
        + [n.attr for n in nodes if isinstance(n, ast.Attribute)]
    )


def uses(*trees: ast.AST) -> Uses:
    """Names taken by ``from mtrlib.a import b`` and by ``b.c`` of a module ``b``."""
    found, modules = Uses(words=set().union(*map(words, trees))), {}
    nodes = [node for tree in trees for node in ast.walk(tree)]
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "mtrlib":
            for alias in node.names:
                found.taken.add((str(node.module), alias.name))
                modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.taken.add((modules.get(node.value.id, ""), node.attr))
    return found


def definitions(body: list[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """Public names that a module or class defines."""
    for node in body:
        targets: list[ast.expr] = []
        if isinstance(node, Function | ast.ClassDef):
            targets = [ast.Name(node.name)]
        elif isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        for target in targets:
            if isinstance(target, ast.Name) and not target.id.startswith("_"):
                yield target.id, node


def signature(node: ast.stmt) -> list[ast.AST | None]:
    """What a caller meets of a public name: annotations, defaults, bases, fields, a value."""
    if isinstance(node, Function):
        return [node.args, node.returns]
    if isinstance(node, ast.Assign):
        return [node.value]
    if isinstance(node, ast.AnnAssign):
        return [node.annotation, node.value]
    if not isinstance(node, ast.ClassDef):
        return []
    inner = [n for n in node.body if isinstance(n, Function) and not n.name.startswith("_")]
    fields = [n.annotation for n in node.body if isinstance(n, ast.AnnAssign)]
    return [*node.bases, *fields, *(part for n in inner for part in signature(n))]


def raised(tree: ast.Module) -> Iterator[ast.AST]:
    """What callers may have to catch."""
    yield from (n.exc for n in ast.walk(tree) if isinstance(n, ast.Raise) and n.exc)


def asked_from_outside(node: ast.stmt, tree: ast.Module) -> bool:
    """Whether a class extends one of another library, which calls what it overrides."""
    bases = {ast.unparse(b).split("[")[0] for b in getattr(node, "bases", [])}
    foreign = bases - {"Protocol", "Generic"} - {name for name, _ in definitions(tree.body)}
    return bool(foreign and foreign - {name for _, name in uses(tree).taken})


def entry_points(tree: ast.Module) -> set[str]:
    """Names that a module calls when Python runs it."""
    blocks = [n for n in tree.body if isinstance(n, ast.If) and "__main__" in ast.unparse(n.test)]
    return set().union(*map(words, blocks))


def unused(module: str, tree: ast.Module, users: Users, tests: Uses) -> Iterator[str]:
    """Public names of a module that nobody needs to see, each with what to do."""
    shown = [s for _, n in definitions(tree.body) for s in signature(n) if s is not None]
    met = set().union(*map(words, [*shown, *raised(tree)]))
    called = {*BY_NAME, *entry_points(tree)}
    for name, node in definitions(tree.body):
        rest = set().union(*(words(n) for n in tree.body if n is not node))
        if not users[module, name] - {module} and name not in called:
            constant = not isinstance(node, Function | ast.ClassDef)
            if name not in rest:
                yield f"{name}: remove it, or use it"
            elif not constant and name not in met and (module, name) not in tests.taken:
                yield f"{name}: make it private"
        checked = isinstance(node, ast.ClassDef) and not asked_from_outside(node, tree)
        for method, inner in definitions(node.body if checked else []):
            own = rest.union(*(words(n) for n in node.body if n is not inner))
            if isinstance(inner, Function) and method not in own and not users[method] - {module}:
                yield f"{name}.{method}: remove it, or use it"


def users_of(found: Iterable[tuple[str, Uses]]) -> Users:
    """Who takes a name ``(module, name)``, and who says a word."""
    users: Users = defaultdict(set)
    for user, each in found:
        for key in each.taken | each.words:
            users[key].add(user)
    return users


def parsed(folder: str) -> dict[str, ast.Module]:
    """Modules below a folder by dotted name."""
    paths = sorted((ROOT / folder).rglob("*.py"))
    dotted = [".".join(p.relative_to(ROOT).with_suffix("").parts) for p in paths]
    return {
        name.removesuffix(".__init__"): ast.parse(path.read_text("utf-8"))
        for name, path in zip(dotted, paths, strict=True)
    }


def notebooks() -> Iterator[ast.Module]:
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        code = ("".join(c["source"]) for c in cells if c["cell_type"] == "code")
        yield ast.parse("\n".join(code))


def documented(text: str) -> Iterator[ast.Module]:
    """Python blocks of a page; a dotted name of mtrlib between backticks counts as an import."""
    yield from (ast.parse(b) for b in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S))
    for module, name in re.findall(r"`(mtrlib[\w.]*)\.(\w+)[^`\n]*`", text):
        yield ast.parse(f"from {module} import {name}\n{name}")


MODULES = parsed("mtrlib")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
OUTSIDE = [
    *parsed("benchmarks").values(),
    *parsed("tools").values(),
    *notebooks(),
    *(tree for page in PAGES for tree in documented(page.read_text("utf-8"))),
]
USERS = users_of([("", uses(*OUTSIDE)), *((name, uses(tree)) for name, tree in MODULES.items())])
TESTS = uses(*parsed("tests").values())


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_a_user(module):
    found = list(unused(module, MODULES[module], USERS, TESTS))
    assert found == []


@pytest.mark.parametrize(
    ("source", "other", "said"),
    [
        ("def f(): ...", "", ["f: remove it, or use it"]),
        ("def f(): ...", "from mtrlib.a import f", []),
        ("def f(): ...", "from mtrlib import a\na.f()", []),
        ("def f(): ...", "from mtrlib.b import f", ["f: remove it, or use it"]),
        ("def f(): return f()", "", ["f: remove it, or use it"]),
        ("def f(): ...\nprint(f())", "", ["f: make it private"]),
        ("def _f(): ...", "", []),
        ("N = 1\nM = N", "", ["M: remove it, or use it"]),
        ('def main(): ...\nif __name__ == "__main__":\n  main()', "", []),
        ("class C: ...\ndef f() -> C: ...", "from mtrlib.a import f", []),
        ("class C:\n  def m(self): ...", "from mtrlib.a import C", ["C.m: remove it, or use it"]),
        ("class C:\n  def m(self): ...", "from mtrlib.a import C\nC().m()", []),
        ("class C(Other):\n  def m(self): ...", "from mtrlib.a import C", []),
        ("class E: ...\ndef f(): raise E()", "from mtrlib.a import f", []),
    ],
)
def test_the_check_sees_what_is_unused(source, other, said):
    assert (
        list(
            unused("mtrlib.a", ast.parse(source), users_of([("", uses(ast.parse(other)))]), Uses())
        )
        == said
    )


def test_a_step_that_a_test_addresses_may_be_public():
    tree, test = ast.parse("def f(): ...\nprint(f())"), ast.parse("from mtrlib.a import f")
    assert not list(unused("mtrlib.a", tree, users_of([]), uses(test)))
    assert list(unused("mtrlib.a", ast.parse("def f(): ..."), users_of([]), uses(test)))


def test_docs_count_by_their_python_and_by_dotted_names():
    page = "`mtrlib.a.f(x)` and `g`\n\n```python\nfrom mtrlib.b import h\n```\n"
    taken = uses(*documented(page)).taken
    assert taken == {("mtrlib.a", "f"), ("mtrlib.b", "h")}
