"""The parts that make the site: docstrings, tables, formulas, links, the mirror of its sources."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from docutils import nodes

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def extension(monkeypatch):
    """Import a module of docs/_ext."""
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    return importlib.import_module


@pytest.fixture
def make_site(monkeypatch, tmp_path) -> ModuleType:
    """The builder's script, looking at a small repository."""
    spec = importlib.util.spec_from_file_location("make_site", ROOT / "tools" / "make_site.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    for name, text in {
        "README.md": "# r\n[c](data/gates.yaml) [gone](no.md) ![f](figures/a.png)",
        "docs/a.md": "[r](../README.md#r) [out](../../etc/passwd) [web](https://x.org/data/gates.yaml)",
        "docs/_pages/index.md": "home",
        "data/gates.yaml": "a: 1",
        "data/other.yaml": "b: 1",
        "figures/a.png": "png",
        "mtrlib/__init__.py": "",
        "mtrlib/paths.py": "",
        "mtrlib/data/__init__.py": "",
        "mtrlib/data/schema.py": "",
        "mtrlib/data/__main__.py": "",
        "mtrlib/data/_hidden.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return module


def files(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


def test_the_mirror_holds_pages_and_what_they_link(make_site, tmp_path):
    stage = tmp_path / "build" / "site"
    make_site.mirror(stage)
    api = {"api/index.rst", "api/mtrlib.rst", "api/mtrlib.data.rst"}
    own = {"index.md", "README.md", "docs/a.md", "data/gates.yaml", "figures/a.png"}
    assert files(stage) == api | own
    page = (stage / "api" / "mtrlib.data.rst").read_text()
    assert ".. automodule:: mtrlib.data.schema\n   :members:" in page
    assert "__main__" not in page and "_hidden" not in page


def test_the_mirror_touches_only_what_changed(make_site, tmp_path):
    stage = tmp_path / "build" / "site"
    make_site.mirror(stage)
    before = {name: (stage / name).stat().st_mtime_ns for name in files(stage)}
    (tmp_path / "docs" / "a.md").write_text("other")
    (tmp_path / "README.md").write_text("# r\n![f](figures/a.png)")
    make_site.mirror(stage)
    after = {name: (stage / name).stat().st_mtime_ns for name in files(stage)}
    assert set(before) - set(after) == {"data/gates.yaml"}
    assert {n for n in after if after[n] != before[n]} == {"docs/a.md", "README.md"}


DOCSTRING = """One line.

Parameters
----------
qrels, run : graded judgements; rankings,
    best first.
k : cutoff.

Returns
-------
A path, relative to
the root.

Notes
-----
key : this is prose.
"""


def test_a_house_docstring_keeps_its_meaning(extension):
    done = extension("house_docstrings").rewrite(DOCSTRING.splitlines())
    text = "\n".join(done)
    assert "qrels, run\n    graded judgements; rankings,\n    best first.\nk\n    cutoff." in text
    assert ":returns: A path, relative to\n    the root." in text
    assert "Notes\n-----\nkey : this is prose." in text


def test_fields_of_a_class_become_a_list_and_a_typed_return_stays(extension):
    lines = ["Attributes", "----------", "name : what.", "", "Returns", "-------", "int", "    n."]
    done = extension("house_docstrings").rewrite(lines)
    assert done == [
        "Fields", "------", "name", "    what.", "", "Returns", "-------", "int", "    n.",
    ]  # fmt: skip


TABLE = (
    '<table class="dataframe"><thead><tr><th></th><th>n</th><th>what</th></tr></thead><tbody>'
    "<tr><th>a</th><td>1,024</td><td>some text</td></tr>"
    "<tr><th>b</th><td>-2.5e-3</td><td>3</td></tr></tbody></table>"
)


def test_text_columns_are_marked_with_their_headings(extension):
    done = extension("notebook_tables").aligned(TABLE)
    assert '<th></th><th>n</th><th class="text">what</th>' in done
    assert '<td>1,024</td><td class="text">some text</td>' in done
    assert '<td>-2.5e-3</td><td class="text">3</td>' in done


def test_headings_over_several_columns_stay(extension):
    wide = TABLE.replace("<th>n</th>", '<th colspan="2">n</th>')
    done = extension("notebook_tables").aligned(wide)
    assert "<th>what</th>" in done and '<td class="text">3</td>' in done


def test_a_formula_becomes_mathml(extension):
    shown = extension("mathml").markup(nodes.math("", r"\frac{a}{b}"), "inline")
    assert "<mfrac>" in shown


@pytest.mark.parametrize("formula", [r"\left(a<b", r"\nosuch{a<b}"])
def test_a_broken_formula_is_a_warning(extension, monkeypatch, formula):
    mathml, warned = extension("mathml"), []
    monkeypatch.setattr(mathml.LOGGER, "warning", lambda text, *a, **k: warned.append(a))
    shown = mathml.markup(nodes.math("", formula), "inline")
    assert shown == f"<code>{formula.replace('<', '&lt;')}</code>"
    assert warned[0][0] == formula


def test_several_images_of_a_cell_are_told_apart(extension):
    texts = extension("notebook_figures").texts
    assert texts("A map.", 1) == ["A map."]
    assert texts("A map.", 2) == ["A map. Part 1.", "A map. Part 2."]


@pytest.mark.parametrize(
    ("page", "link", "wanted"),
    [
        ("docs/a", "[x](../README.md#y)", "[x](../index.md#y)"),
        ("index", "[x](README.md)", "[x](index.md)"),
        ("docs/a", "[x](README.md)", "[x](README.md)"),  # another README
        (
            "cards",
            "[x](data/authored/list-mini/README.md)",
            "[x](data/authored/list-mini/README.md)",
        ),
    ],
)
def test_links_to_the_readme_lead_home(extension, page, link, wanted):
    source = [link]
    extension("repository_links").link_home(None, page, source)
    assert source == [wanted]
