"""Cards of the published datasets, written from the registry so that they cannot drift from it."""

from __future__ import annotations

from pathlib import Path

from mtrlib import paths
from mtrlib.data.formats import formats
from mtrlib.data.registry import Entry, PathSource, UrlSource, registry


def dataset_card(entry: Entry) -> str:
    """The card of a dataset as Markdown: what it is, licence, counts, files, reader, quirks."""
    known = formats()
    readers = [f"`{name}` ({known[name].seen})" for name in entry.reader.split()]
    counts = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in entry.counts.items())
    rows = {
        "licence": entry.licence,
        "redistribution": entry.redistribution,
        "counts (as published)": counts or "not stated in our sources",
        "reader": ", ".join(readers),
        "files": _files(entry),
        "cite": entry.citation,
    }
    table = "\n".join(f"| {name} | {value} |" for name, value in rows.items())
    text = f"# {entry.name}\n\n{entry.title}.\n\n| | |\n|---|---|\n{table}\n"
    if entry.note:
        text += f"\n{entry.note}\n"
    return text + f"\n`python -m mtrlib.data check PATH` validates your copy; {_how(entry)}.\n"


def _files(entry: Entry) -> str:
    for source in entry.sources:
        if isinstance(source, UrlSource):
            names = ", ".join(m.name for m in entry.members)
            pinned = all(m.sha256 for m in entry.members)
            how = "pinned in the registry" if pinned else "recorded at the first fetch"
            return f"{names} at {source.base} (SHA-256 {how})"
        if isinstance(source, PathSource):
            return f"your own folder {source.path}"
    return "no address that can be fetched, see below"


def _how(entry: Entry) -> str:
    if entry.sources:
        return f'`make data DATASETS="{entry.name}"` fetches it'
    return "get it by hand, then name its folder as a benchmark"


def datasets() -> list[Entry]:
    """The published datasets of the registry."""
    return [e for e in registry().values() if e.role == "dataset"]


def card_path(entry: Entry) -> Path:
    """Where the card of a dataset is kept."""
    return paths.root() / "data" / "cards" / f"{entry.name}.md"


def write_cards() -> int:
    """Write all cards; returns how many."""
    for entry in datasets():
        card_path(entry).write_text(dataset_card(entry), encoding="utf-8")
    return len(datasets())
