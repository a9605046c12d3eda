"""``make verify`` passes on what is there, and fails when a constant of the library changes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mtrlib import paths

NOTEBOOK = "00"


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A copy of the library that may be changed."""
    copy = tmp_path / "library"
    shutil.copytree(
        paths.root() / "mtrlib", copy / "mtrlib", ignore=shutil.ignore_patterns("__pycache__")
    )
    return copy


def report(library: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """``python -m mtrlib.reporting`` of the copy, into a build folder beside it."""
    env = {
        **os.environ,
        "PYTHONPATH": str(library),
        "MTR_ROOT": str(paths.root()),
        "MTR_BUILD": str(library.parent / "build"),
    }
    command = [sys.executable, "-m", "mtrlib.reporting", *words, "--profile", "smoke"]
    return subprocess.run(
        [*command, "--nb", NOTEBOOK], cwd=library, env=env, capture_output=True, text=True
    )


def test_verify_passes_unchanged_and_names_what_a_planted_change_moved(library: Path) -> None:
    nothing = report(library, "verify")
    assert nothing.returncode == 2
    assert "Mend: run `make reproduce PROFILE=smoke` before the change" in nothing.stderr

    assert report(library, "run").returncode == 0
    proved = report(library, "verify")
    assert (proved.returncode, proved.stderr) == (0, "")
    assert "verified: 1 notebooks" in proved.stdout

    module = library / "mtrlib" / "data" / "headings.py"
    source = module.read_text("utf-8")
    assert "FEWEST_SECTIONS = 3\n" in source
    module.write_text(source.replace("FEWEST_SECTIONS = 3\n", "FEWEST_SECTIONS = 12\n"), "utf-8")
    moved = report(library, "verify")
    assert moved.returncode == 6, moved.stdout + moved.stderr
    assert "00_setup_and_data, cell" in moved.stderr
    assert "t00_benchmarks.csv, benchmark=headings" in moved.stderr
