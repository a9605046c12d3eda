"""Python blocks of the pages in docs/ run as they stand, in an empty folder, top to bottom."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGES = {
    page.name: blocks
    for page in sorted((Path(__file__).resolve().parents[2] / "docs").glob("*.md"))
    if (blocks := re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.M | re.S))
}


@pytest.mark.parametrize("page", PAGES)
def test_every_block_runs(
    page: str, tmp_path: Path, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for number, block in enumerate(PAGES[page], start=1):
        exec(compile(block, f"{page}, block {number}", "exec"), names)


def test_the_pages_of_the_library_have_blocks() -> None:
    assert {"library.md", "synthesis_export.md"} <= PAGES.keys()
