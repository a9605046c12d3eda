"""The built site, read once: pages, their links, and what they load."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import pytest

SITE = Path(__file__).resolve().parents[2] / "build" / "html"
# (tag, attribute) that a browser fetches by itself; links that a reader clicks are not here
LOADED = {
    ("script", "src"), ("img", "src"), ("img", "srcset"), ("iframe", "src"), ("source", "src"),
    ("source", "srcset"), ("video", "src"), ("audio", "src"), ("embed", "src"), ("object", "data"),
    ("link", "href"), ("use", "href"), ("image", "href"), ("body", "background"),
}  # fmt: skip
POINTERS = {"next", "prev", "index", "search", "canonical", "author", "copyright", "top"}


@dataclass
class Page(HTMLParser):
    """What a page holds: anchors, links, loaded addresses, pictures without text, styles."""

    path: Path
    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    pictures: int = 0
    code: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._in_code = False
        self.text = self.path.read_text("utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._in_code = tag in ("script", "style")
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "img":
            self.pictures += 1
            if not given.get("alt", "").strip():
                self.silent.append(given.get("src", ""))
        if "style" in given:
            self.code.append(given["style"])
        if tag == "link" and set(given.get("rel", "").split()) & POINTERS:
            self.links.append(given["href"])
            return
        self.loaded += [given[name] for t, name in LOADED if t == tag and name in given]

    def handle_endtag(self, tag: str) -> None:
        self._in_code = False

    def handle_data(self, data: str) -> None:
        if self._in_code:
            self.code.append(data)


@pytest.fixture(scope="session")
def site() -> Path:
    """Folder of the built site."""
    if not (SITE / "index.html").is_file():
        pytest.skip("no site in build/html: run `make html` first")
    return SITE


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[str, Page]:
    """All pages by their path below the site."""
    return {p.relative_to(site).as_posix(): Page(p) for p in sorted(site.rglob("*.html"))}
