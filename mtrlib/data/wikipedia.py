"""Stream a MediaWiki XML dump (bz2 or plain) into articles of plain blocks.

One page is held at a time, so a full enwiki dump reads in the same memory as a slice.
Redirects, pages outside namespace 0, references, tables, templates and navigation
sections are dropped; section paths, list items and link targets are kept.
"""

from __future__ import annotations

import bz2
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal
from xml.etree import ElementTree

import mwparserfromhell
from mwparserfromhell import nodes

from mtrlib.errors import InputError

# Sections that hold no prose of the article itself.
NAVIGATION = frozenset(
    "references|external links|see also|further reading|notes|footnotes|notes and references|"
    "references and notes|citations|gallery|other uses|additional references".split("|")
)
# Dropped only after a navigation section: before one they list an author's works.
AFTER_NAVIGATION = frozenset({"bibliography", "sources", "works cited", "literature"})

ITEM = "\ue000"  # starts a list item
LINK_OPEN, LINK_CLOSE = "\ue001", "\ue002"  # enclose the index of a link target
LINK = re.compile(f"{LINK_OPEN}(\\d+){LINK_CLOSE}")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph or a list item. Link marks stay in ``text`` until passages are cut."""

    kind: Literal["paragraph", "item"]
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks below one heading. ``path`` is () for the lead."""

    path: tuple[str, ...]
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Article:
    """A page of the main namespace. ``links[i]`` is the target of link mark ``i``."""

    page_id: str
    title: str
    sections: tuple[Section, ...]
    links: tuple[str, ...]


def read_dump(path: Path | str) -> Iterator[Article]:
    """Yield the articles of a dump in its order.

    Parameters
    ----------
    path : XML file, optionally bz2-compressed (recognised by its content, not its name).

    Raises
    ------
    InputError
        File missing, or not well-formed XML (a cut download).
    """
    path = Path(path)
    if not path.is_file():
        raise InputError.at(path, None, "no such dump", "fetch it with `make data`")
    with path.open("rb") as probe:
        compressed = probe.read(3) == b"BZh"
    with bz2.open(path) if compressed else path.open("rb") as stream:
        try:
            for page_id, title, text in _pages(stream):
                yield parse_article(page_id, title, text)
        except (ElementTree.ParseError, EOFError, OSError) as error:
            raise InputError.at(
                path, None, f"the dump ends or breaks early ({error})", "fetch it again"
            ) from error


def _pages(stream: IO[bytes]) -> Iterator[tuple[str, str, str]]:
    """``(page id, title, wikitext)`` of main-namespace pages that are no redirects."""
    events = ElementTree.iterparse(stream, events=("start", "end"))
    _, mediawiki = next(events)
    for event, element in events:
        if event != "end" or _local(element) != "page":
            continue
        fields = {_local(child): child for child in element}
        if fields["ns"].text == "0" and "redirect" not in fields:
            text = {_local(child): child for child in fields["revision"]}["text"].text
            yield str(fields["id"].text), str(fields["title"].text), text or ""
        mediawiki.clear()  # drop finished pages, or memory grows with the dump


def _local(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def parse_article(page_id: str, title: str, wikitext: str) -> Article:
    """Turn wikitext into sections of plain blocks."""
    links: list[str] = []
    sections: list[Section] = []
    headings: list[tuple[int, str]] = []
    raw: list[str] = []
    in_navigation = False

    def close() -> None:
        path = tuple(name for _, name in headings)
        names = [name.lower() for name in path]
        if in_navigation or any(name in NAVIGATION for name in names):
            return
        blocks = tuple(_blocks("".join(raw)))
        if blocks:
            sections.append(Section(path, blocks))

    seen_navigation = False
    for node in mwparserfromhell.parse(wikitext, skip_style_tags=True).nodes:
        if not isinstance(node, nodes.Heading):
            raw.append(_plain(node, links))
            continue
        close()
        raw = []
        name = _clean("".join(_plain(n, []) for n in node.title.nodes))
        while headings and headings[-1][0] >= node.level:
            headings.pop()
        headings.append((node.level, name))
        top = headings[0][1].lower()
        seen_navigation |= top in NAVIGATION
        in_navigation = seen_navigation and top in AFTER_NAVIGATION
    close()
    return Article(page_id, title, tuple(sections), tuple(links))


def _blocks(raw: str) -> Iterator[Block]:
    """Split at blank lines and list marks; single line ends are spaces."""
    lines: list[str] = []
    for line in [*raw.split("\n"), ""]:
        starts_item = line.startswith(ITEM)
        if lines and (starts_item or not line.strip() or lines[0].startswith(ITEM)):
            text = _clean(" ".join(lines))
            if re.search(r"\w", LINK.sub("", text)):
                yield Block("item" if lines[0].startswith(ITEM) else "paragraph", text)
            lines = []
        if line.strip():
            lines.append(line)


def _clean(text: str) -> str:
    """Mend what dropped templates leave behind: empty brackets, doubled spaces and commas."""
    text = re.sub(r"'{2,}", "", text.replace(ITEM, ""))
    text = re.sub(r"__[A-Z]+__", "", text)
    text = re.sub(r"[^\S\n]+", " ", text.replace("\u200b", ""))
    text = re.sub(r"\(\s*[;,:\s]+", "(", text)
    text = re.sub(r"[;,:\s]+\)", ")", text)
    text = re.sub(r"\(\$ in [^()]*\)", "", text)  # an amount that a dropped template computed
    text = re.sub(r"\(\s*(?:or|and|also)?\s*\)|\[\s*\]", "", text)
    text = re.sub(r"\s+([.,;:!?)])", r"\1", text)
    text = re.sub(r",(?:\s*,)+", ",", text)
    return re.sub(r"\s+", " ", text).strip()


def _plain(node: Any, links: list[str]) -> str:
    """Text of one node with link and item marks; "" for what is dropped."""
    if isinstance(node, nodes.Text):
        return str(node.value)
    if isinstance(node, nodes.HTMLEntity):
        return str(node.normalize())
    if isinstance(node, nodes.Wikilink):
        return _wikilink(node, links)
    if isinstance(node, nodes.ExternalLink):
        return _inner(node.title, links) if node.title else ""
    if isinstance(node, nodes.Tag):
        return _tag(node, links)
    if isinstance(node, nodes.Template):
        name = str(node.name).strip().lower()
        if name.startswith("formatnum:"):
            return _inner(node.name, links).partition(":")[2]
        render = INLINE.get(name.split("-")[0])
        arguments = [_inner(p.value, links).strip() for p in node.params if not p.showkey]
        return render(arguments) if render and arguments else ""
    return ""


def _inner(code: Any, links: list[str]) -> str:
    return "".join(_plain(node, links) for node in code.nodes) if code is not None else ""


def _wikilink(node: nodes.Wikilink, links: list[str]) -> str:
    target = str(node.title).strip()
    prefix, colon, _ = target.lstrip(":").partition(":")
    shown = _inner(node.text, links) if node.text is not None else target.lstrip(":")
    if colon and re.fullmatch(r"(?i)file|image|category|media", prefix):
        return ""
    if colon and re.fullmatch(r"[a-z-]{2,12}", prefix) and node.text is None:
        return ""  # a link to another language or project
    page = target.partition("#")[0].replace("_", " ").strip()
    if not page or (colon and re.fullmatch(r"[A-Za-z-]{1,12}", prefix)):
        return shown
    links.append(page[0].upper() + page[1:])
    return f"{LINK_OPEN}{len(links) - 1}{LINK_CLOSE}{shown}"


DROPPED_TAGS = frozenset("ref references table gallery timeline imagemap score hiero".split())


def _tag(node: nodes.Tag, links: list[str]) -> str:
    name = str(node.tag).strip().lower()
    if name in DROPPED_TAGS:
        return ""
    if name in {"li", "dt"}:
        return ITEM
    if name == "math":
        return "[formula]"
    if name in {"br", "hr", "dd"}:
        return " "
    inner = _inner(node.contents, links)
    return f"\n\n{inner}\n\n" if name in {"blockquote", "p", "div", "center", "poem"} else inner


def _convert(arguments: list[str]) -> str:
    """``{{convert|10|to|20|km|mi}}`` reads "10 to 20 km": the value as the author gave it."""
    out = [arguments[0]]
    rest = arguments[1:]
    while len(rest) > 1 and rest[0] in {"to", "-", "–", "and", "by", "x", "or", "+/-", "and(-)"}:
        out += rest[:2]
        rest = rest[2:]
    out += rest[:1]
    if len(rest) >= 3 and re.fullmatch(r"[\d./+]+", rest[1]) and rest[2] in {"in", "oz", "lb"}:
        out += rest[1:3]
    return " ".join(out)


def _first(arguments: list[str]) -> str:
    return arguments[0]


def _last(arguments: list[str]) -> str:
    return arguments[-1]


# Templates that stand for words of a sentence; dropping them would lose facts. A name is
# looked up to its first hyphen, so that "lang-ru" is "lang".
INLINE: dict[str, Callable[[list[str]], str]] = {
    **dict.fromkeys(["convert", "cvt"], _convert),
    **dict.fromkeys(["lang", "transl", "columns"], _last),
    **dict.fromkeys(
        "nowrap small smaller sc nts dts vanchor abbr tooltip keypress nihongo flag "
        "formatnum big val visible".split(),
        _first,
    ),
    **dict.fromkeys(["quote", "cquote", "blockquote"], lambda a: f"\n\n{a[0]}\n\n"),
    "angbr": lambda a: f"⟨{a[0]}⟩",
    "chem": "".join,
    "frac": "/".join,
    "as of": lambda a: "As of " + a[0],
    "c.": lambda a: "c. " + a[0],
    "circa": lambda a: "c. " + a[0],
}
