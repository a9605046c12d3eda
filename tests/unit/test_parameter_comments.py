"""Each parameter of a notebook says its type and range beside its value."""

from __future__ import annotations

import re

import pytest

from mtrlib import profiles, ranges
from mtrlib.reporting import jobs, notebook_form
from mtrlib.reporting.parameter_comments import BEGINNINGS, comment_problems
from mtrlib.reporting.parameters import TYPES

GOOD = """\
PROFILE = "default"  # text: smoke, default or paper
# any comment of the cell

# list of text: names,
# or aliases
NAMES = ["a"]
WIDE = [  # list of text: one a line
    "a # b",
]
LIVE: bool = False  # True or False: ask
SHARE = 0.5  # number in (0, 1)"""


def test_comments_behind_and_above_count():
    assert list(comment_problems(GOOD)) == []


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("K = 20", "whole number"),
        ("K = 20  # cutoff", "whole number"),
        ("K = 20  # text: cutoff", "whole number"),
        ("LIVE = False  # whole number: 0 or 1", "True or False"),
        ('NAME = "a # text: b"', "text"),
        ('# text: too far above\n\nNAME = "a"', "text"),
        ("# whole number: of another\nSTEPS = 5\nK = 20  #", "whole number"),
    ],
)
def test_what_is_missing_is_named(line: str, wanted: str):
    (found,) = comment_problems(line)
    name = line.splitlines()[-1].split()[0]
    assert found.startswith(f"parameter {name} needs a comment that begins with {wanted!r}")


def test_a_computed_value_needs_a_comment_too():
    (found,) = comment_problems("A = len('x')\nB = len('x')  # anything")
    assert found.startswith("parameter A needs a comment")


def test_every_type_that_can_be_declared_has_its_words():
    assert set(BEGINNINGS) == {*TYPES, list, tuple}


@pytest.mark.notebooks
@pytest.mark.parametrize("path", jobs.select(), ids=lambda path: path.stem)
def test_numbered_notebooks_say_it(path):
    cells = notebook_form.read(path).cells
    (cell,) = (c for c in cells if "parameters" in c.metadata.get("tags", []))
    assert list(comment_problems(cell.source)) == []
    assert all(len(line) <= 100 for line in cell.source.splitlines())


@pytest.mark.notebooks
@pytest.mark.parametrize("path", jobs.select(), ids=lambda path: path.stem)
def test_ranges_and_choices_in_comments_are_those_that_are_enforced(path):
    notebook = notebook_form.read(path)
    (cell,) = (c for c in notebook.cells if "parameters" in c.metadata.get("tags", []))
    for name in notebook_form.declared_parameters(notebook):
        said = next(m[0] for m in re.finditer(rf"(#.*\n)?{name} = .*", cell.source))
        if name in ranges.LEAST:
            least, most = ranges.LEAST[name], ranges.MOST.get(name)
            wanted = f"whole number, {least} or more" if most is None else f"{least} to 2**32 - 1"
            assert wanted in said and most in (None, 2**32 - 1)
        for choice in ranges.CHOICES.get(name, ()):
            assert re.search(rf"#.*\b{choice}\b", said), f"{name}: {choice} is not named"
        if name in ranges.WITHIN_DEPTH:
            most = int(re.search(r"whole number, 1 to (\d+):", said)[1])
            assert most <= profiles.PROFILES["default"].DEPTH
