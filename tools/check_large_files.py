"""Refuse files that would make every clone heavy.

With arguments: check those files (this is how pre-commit calls it). Without: check all that git
tracks or could add, or, where git is of no use, all files outside build and environment folders.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

LIMIT = 600 * 1024  # bytes; a notebook with outputs stays below 500 KB
SKIP = {".git", ".venv", "build", "__pycache__", ".mypy_cache", ".ruff_cache", ".hypothesis"}


def candidates(root: Path) -> Iterable[Path]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        found = (p for p in root.rglob("*") if not SKIP & set(p.relative_to(root).parts))
        return [p for p in found if p.is_file()]
    return [root / name for name in listed.stdout.split("\0") if name]


def main(arguments: list[str]) -> int:
    root = Path(__file__).resolve().parent.parent
    paths = [Path(a) for a in arguments] or candidates(root)
    large = [p for p in paths if p.is_file() and p.stat().st_size > LIMIT]
    for path in large:
        print(f"{path}: {path.stat().st_size / 1024:.0f} KB, the limit is {LIMIT // 1024} KB")
    return bool(large)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
