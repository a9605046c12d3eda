"""Build the site: mirror its sources below build/site, then run Sphinx into build/html.

The mirror has the layout of the repository, so a relative link works on both. Nothing is
executed: notebooks are shown with the outputs they were committed with. Only files that changed
are copied, so a second build reads only what is new.

Run it with ``make html``.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STAGE = ROOT / "build" / "site"
STATE = ROOT / "build" / "site-state"
PAGES = (
    "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/*.md", "notebooks/*.ipynb",
    "data/cards/*.md", "data/authored/*/README.md", "examples/**/*.md",
)  # fmt: skip
LINK = re.compile(r"\]\(([^)#\s]+)|<img[^>]+src=\\?\"([^\"\\]+)")


def sources() -> Iterator[tuple[Path, bytes]]:
    """(path below the mirror, content) of every page, and of every file that a page links."""
    for page in sorted((ROOT / "docs" / "_pages").glob("*.md")):
        yield Path(page.name), page.read_bytes()
    linked = set()
    for path in sorted({p for pattern in PAGES for p in ROOT.glob(pattern)}):
        content = path.read_bytes()
        yield path.relative_to(ROOT), content
        for groups in LINK.findall(content.decode("utf-8")):
            target = (path.parent / next(filter(None, groups))).resolve()
            if target.is_file() and target.is_relative_to(ROOT):
                linked.add(target)
    for path in sorted(linked):
        yield path.relative_to(ROOT), path.read_bytes()
    yield from api_pages()


def api_pages() -> Iterator[tuple[Path, bytes]]:
    """A page per package, a section per public module."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "mtrlib").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        package = ".".join(parts[:-1])
        if parts[-1] == "__init__":
            found.setdefault(package, [])
        elif not parts[-1].startswith("_"):
            found.setdefault(package, []).append(parts[-1])
    for package, modules in found.items():
        lines = [package, "=" * len(package), "", f".. automodule:: {package}", "   :members:", ""]
        for module in modules:
            name = f"{package}.{module}"
            lines += [module, "-" * len(module), "", f".. automodule:: {name}", "   :members:", ""]
        yield Path("api", f"{package}.rst"), "\n".join(lines).encode()
    lines = [
        "Library",
        "=======",
        "",
        "A page per package; a lower row never imports a higher one:",
    ]
    lines += ["reporting, then audit, synthesis, rvr and rewriting, then retrieval, llm and"]
    lines += ["evaluation, then data, then profiles and paths. See also :ref:`genindex` and"]
    lines += [":ref:`modindex`.", "", ".. toctree::", "   :maxdepth: 1", ""]
    lines += [f"   {package}" for package in found]
    yield Path("api", "index.rst"), "\n".join([*lines, ""]).encode()


def mirror(folder: Path) -> None:
    """Bring ``folder`` to the state of :func:`sources`; untouched files keep their time."""
    kept = set()
    for name, content in sources():
        path = folder / name
        kept.add(path)
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    for path in folder.rglob("*"):
        if path.is_file() and path not in kept:
            path.unlink()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "html")
    parser.add_argument("--fresh", action="store_true", help="forget the last build")
    args = parser.parse_args(arguments)
    if args.fresh:
        for folder in (args.out, STATE):
            shutil.rmtree(folder, ignore_errors=True)
    mirror(STAGE)
    from sphinx.cmd.build import build_main

    # quiet, every warning an error, all of them shown
    options = ["-q", "-W", "--keep-going", "-b", "html", "-j", "auto"]
    options += ["-c", str(ROOT / "docs"), "-d", str(STATE)]
    code = build_main([*options, str(STAGE), str(args.out)])
    if code:
        shutil.rmtree(STATE, ignore_errors=True)  # or the next build would pass over the fault
    else:
        print("open", os.path.relpath(args.out / "index.html"))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
