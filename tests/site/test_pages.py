"""The pages as files: complete, connected, described, small, and nothing from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.site

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 25 * 2**20  # bytes
ELSEWHERE = re.compile(r"(?:https?:|wss?:)?//", re.I)
# what a style or a script fetches; an address in a comment or a namespace is not fetched
STYLE = re.compile(r"""(?:url\(\s*["']?|@import\s+["'])((?:https?:)?//[^"')\s]+)""", re.I)
SCRIPT = re.compile(
    r"""(?:\bimport\s*\(?\s*|\bfrom\s+|\bfetch\(\s*|importScripts\(\s*|\.src\s*=\s*|\.open\([^)]*,\s*)"""
    r"""["'`]((?:https?:)?//[^"'`]+)""",
    re.I,
)


def resolved(page: str, link: str) -> tuple[str, str]:
    """(page, anchor) that a link of a page leads to."""
    parts = urlsplit(link)
    if not parts.path:
        return page, unquote(parts.fragment)
    joined = PurePosixPath(page).parent.joinpath(unquote(parts.path)).as_posix()
    names: list[str] = []
    for name in joined.split("/"):
        if name == "..":
            names.pop()
        elif name != ".":
            names.append(name)
    return "/".join(names), unquote(parts.fragment)


def internal(links: list[str]) -> list[str]:
    return [link for link in links if not urlsplit(link).scheme and not link.startswith("//")]


def test_every_notebook_card_and_module_has_its_place(site, pages):
    wanted = {f"notebooks/{p.stem}.html" for p in (ROOT / "notebooks").glob("*.ipynb")}
    wanted |= {f"data/cards/{p.stem}.html" for p in (ROOT / "data" / "cards").glob("*.md")}
    wanted |= {f"docs/{p.stem}.html" for p in (ROOT / "docs").glob("*.md")}
    assert wanted <= set(pages)
    anchors = set().union(*(page.anchors for name, page in pages.items() if name[:4] == "api/"))
    for path in (ROOT / "mtrlib").rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if not parts[-1].startswith("_"):
            assert f"module-{'.'.join(parts)}" in anchors


def test_every_page_is_reached_from_the_home_page(pages):
    reached, left = set(), ["index.html", "search.html"]  # the search box leads to the latter
    while left:
        name = left.pop()
        if name in pages and name not in reached:
            reached.add(name)
            left += [resolved(name, link)[0] for link in internal(pages[name].links)]
    assert reached == set(pages)


def test_every_internal_link_and_anchor_resolves(site, pages):
    dead = []
    for name, page in pages.items():
        for link in internal(page.links):
            target, anchor = resolved(name, link)
            here = pages.get(target)
            if here is None and (site / target).is_file():
                continue  # a file to take home
            if here is None or (anchor and anchor not in here.anchors):
                dead.append(f"{name}: {link}")
    assert not dead


def test_every_loaded_file_is_there(site, pages):
    missing = [
        f"{name}: {address}"
        for name, page in pages.items()
        for address in internal(page.loaded)
        if not (site / resolved(name, address)[0]).is_file()
    ]
    assert not missing


def test_nothing_is_fetched_from_elsewhere(site, pages):
    found = [
        f"{name}: {address}"
        for name, page in pages.items()
        for address in page.loaded
        if ELSEWHERE.match(address)
    ]
    texts = {name: "\n".join(page.code) for name, page in pages.items()}
    for pattern in ("*.css", "*.js", "*.svg"):
        texts |= {str(p.relative_to(site)): p.read_text("utf-8") for p in site.rglob(pattern)}
    for name, text in texts.items():
        found += [f"{name}: {address}" for address in STYLE.findall(text) + SCRIPT.findall(text)]
    assert not found


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (STYLE, "a { background: url(https://x.org/a.png) }"),
        (STYLE, "@import '//x.org/a.css';"),
        (SCRIPT, 'import("https://x.org/a.js")'),
        (SCRIPT, "s.src = 'https://x.org/a.js'"),
        (SCRIPT, "fetch(`//x.org/a.json`)"),
    ],
)
def test_the_search_for_addresses_finds_them(pattern, text):
    assert pattern.findall(text)


def test_every_picture_has_a_text_that_stands_for_it(pages):
    silent = {name: page.silent for name, page in pages.items() if page.silent}
    assert not silent
    assert all(page.pictures for name, page in pages.items() if name.startswith("notebooks/0"))


def test_formulas_are_mathml(pages):
    rule = pages["notebooks/04_rvr_training.html"].text
    assert rule.count("<math") > 3
    for page in pages.values():
        assert "MathJax" not in page.text


def test_the_site_is_small(site):
    assert sum(p.stat().st_size for p in site.rglob("*") if p.is_file()) < LIMIT
