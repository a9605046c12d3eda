"""The default corpus: the Wikipedia slice, parsed once and kept in the user cache."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any

from mtrlib import paths
from mtrlib.data import passages as cutting
from mtrlib.data import registry, wikipedia
from mtrlib.data.fetch import fetch
from mtrlib.data.jsonl import read_jsonl, write_jsonl
from mtrlib.data.schema import Passage


def wikipedia_passages(limit: int = 0) -> tuple[Passage, ...]:
    """Passages of the English Wikipedia slice (May 2016) in the order of the dump.

    Parameters
    ----------
    limit : at most this many passages, in whole articles: in the order of the dump, each
        article that still fits. 0 = all.
    """
    dump = fetch(registry.entry("enwiki-2016")) / "enwiki.xml.bz2"
    found = tuple(_read_passages(_parsed(dump, registry.entry("enwiki-2016").fingerprint)))
    return whole_articles(found, limit) if limit else found


def _parsed(dump: Path, fingerprint: str) -> Path:
    """The parsed dump as JSON Lines, keyed by the dump and by the code that parses it."""
    key = hashlib.sha256(f"{fingerprint} {version('mwparserfromhell')}".encode())
    for module in (wikipedia, cutting):
        key.update(Path(str(module.__file__)).read_bytes())
    path = paths.cache("corpora") / f"enwiki-2016-{key.hexdigest()[:16]}.jsonl"
    if not path.is_file():
        articles = wikipedia.read_dump(dump)
        write_jsonl(path, (_record(p) for a in articles for p in cutting.cut_passages(a)))
    return path


def _record(passage: Passage) -> dict[str, Any]:
    return {
        "id": passage.passage_id,
        "title": passage.title,
        "section": list(passage.section),
        "text": passage.text,
        "links": list(passage.links),
    }


def _read_passages(path: Path) -> Iterator[Passage]:
    """Read the project's own passage file."""
    for _, r in read_jsonl(path):
        yield Passage(r["id"], r["text"], r["title"], tuple(r["section"]), tuple(r["links"]))


def articles(passages: Iterable[Passage]) -> Iterator[tuple[str, list[Passage]]]:
    """Group consecutive passages by article: ``(page id, its passages)``."""
    for page_id, group in groupby(passages, key=lambda p: p.passage_id.rpartition("__")[0]):
        yield page_id, list(group)


def whole_articles(passages: Sequence[Passage], limit: int) -> tuple[Passage, ...]:
    """Articles in order, each taken when it still fits into ``limit`` passages."""
    kept: list[Passage] = []
    for _, group in articles(passages):
        if len(kept) + len(group) <= limit:
            kept += group
    return tuple(kept)
