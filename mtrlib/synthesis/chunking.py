"""Long documents into chunks of 1,024 to 2,048 characters, headings with the text they head.

For users' own documents; the default corpus comes in passages already. The borders are the
published ones (MTR-Suite, curation). The usual splitting library fills a chunk with pieces of
one kind, drops what is short and leaves a heading at the end of the chunk before its text;
here every cut is chosen so that none of this happens, and it takes one function.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from mtrlib.data.schema import Passage
from mtrlib.errors import InputError
from mtrlib.synthesis.headings import Heading, find_headings, open_path
from mtrlib.synthesis.published_chunking import published_chunks

MOST, LEAST = 2048, 1024  # characters

# Where a chunk may end, the best first: paragraph, line, sentence, comma, space.
BORDERS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\n\n",
        r"\n",
        r"[.!?][\"'”’)\]]*\s+|[。．！？][”’」』）]*",
        r",\s+|[，、]",
        r"[ \u200b]",
    )
)
_LONGEST_BORDER = 8  # characters before the place that a border may begin


@dataclass(frozen=True)
class ChunkReport:
    """What chunking kept. Characters are counted without white space.

    Attributes
    ----------
    documents, chunks : how many.
    without_chunk : ids of documents that gave none.
    characters, characters_kept : in the documents, in the chunks.
    headings, headings_kept : in the documents; in chunks with text after them.
    """

    documents: int
    chunks: int
    without_chunk: tuple[str, ...]
    characters: int
    characters_kept: int
    headings: int
    headings_kept: int

    def table(self) -> pd.DataFrame:
        """One row per unit with ``total``, ``lost`` and ``lost_share`` (a fraction)."""
        rows = {
            "documents": (self.documents, len(self.without_chunk)),
            "characters": (self.characters, self.characters - self.characters_kept),
            "headings": (self.headings, self.headings - self.headings_kept),
        }
        frame = pd.DataFrame(rows, index=["total", "lost"]).T
        return frame.assign(lost_share=frame["lost"] / frame["total"])


def chunk(
    documents: Iterable[Passage],
    *,
    most: int = MOST,
    least: int = LEAST,
    paper_compatible: bool = False,
) -> tuple[list[Passage], ChunkReport]:
    """Cut documents into passages.

    Parameters
    ----------
    documents : records whose ``text`` is a whole document; ``passage_id`` is its id.
    most, least : bounds of a chunk in characters; ``most`` is at least twice ``least``.
    paper_compatible : cut as published instead, to see what that loses.

    Returns
    -------
    list of Passage
        Ids ``<document>__<n>`` with n from 0, in order; ``document`` is the document's id.
        Headings stay in the text; ``section`` adds those that were opened before the chunk.
    ChunkReport

    Raises
    ------
    InputError
        Bounds that leave no room.

    Notes
    -----
    A chunk ends at the last paragraph border between the bounds, else at the last line,
    sentence, comma or space, else anywhere; never inside or right after a heading, unless
    there is no other place. Borders leave at least ``least`` characters for the rest, so
    every document of that length or more is kept whole: its chunks joined are its text,
    white space aside. Shorter documents give no chunk and are in ``without_chunk``. White
    space at the ends of a chunk, at most two characters at either, is cut off last.

    The text is put in order first: runs of blanks become one, of empty lines one.

    References
    ----------
    MTR-Suite, MTR-Pipeline, curation: 2,048 characters, no overlap, at least 1,024.
    """
    if not 1 <= least <= most // 2:
        raise InputError(
            f"chunks of {least} to {most} characters: most must be at least twice least."
        )
    chunks: list[Passage] = []
    without: list[str] = []
    n = characters = n_headings = 0
    for document in documents:
        text = tidied(document.text)
        headings = find_headings(text)
        if paper_compatible:
            own = _passages(document, published_chunks(text, most=most, least=least), [], [])
        else:
            starts = list(_starts(text, headings, most, least)) if len(text) >= least else []
            ends = [*starts[1:], len(text)]
            pieces = [text[a:b].strip() for a, b in zip(starts, ends, strict=False)]
            own = _passages(document, pieces, starts, headings)
        chunks += own
        without += [] if own else [document.passage_id]
        n, characters = n + 1, characters + _visible(text)
        n_headings += len(headings)
    kept = sum(_visible(p.text) for p in chunks)
    headed = sum(h.end < len(p.text) for p in chunks for h in find_headings(p.text))
    return chunks, ChunkReport(n, len(chunks), tuple(without), characters, kept, n_headings, headed)


def tidied(text: str) -> str:
    """Line ends as LF, runs of other white space as one space, at most one empty line."""
    text = re.sub(r"[^\S\n]+", " ", text.replace("\r\n", "\n").replace("\r", "\n"))
    return re.sub(r"\n{3,}", "\n\n", re.sub(r" ?\n ?", "\n", text)).strip()


def _starts(text: str, headings: Sequence[Heading], most: int, least: int) -> Iterator[int]:
    start = 0
    yield start
    while len(text) - start > most:
        start = _cut(text, start + least, min(start + most, len(text) - least), headings)
        yield start


def _cut(text: str, low: int, high: int, headings: Sequence[Heading]) -> int:
    """The best place in [low, high] to end a chunk and start the next."""
    parting: list[int] = []  # where only a heading can be parted
    for border in BORDERS:
        ends = [m.end() for m in border.finditer(text, max(0, low - _LONGEST_BORDER), high)]
        ends = [end for end in reversed(ends) if end >= low]
        for end in ends:
            if not _parts_heading(end, headings):
                return end
        parting = parting or ends
    return parting[0] if parting else high


def _parts_heading(place: int, headings: Sequence[Heading]) -> bool:
    """Whether a cut there falls inside a heading, or between it and its text."""
    before = bisect_left(headings, place, key=lambda h: h.start)
    return before > 0 and place <= headings[before - 1].end


def _passages(
    document: Passage, pieces: Sequence[str], starts: Sequence[int], headings: Sequence[Heading]
) -> list[Passage]:
    return [
        Passage(
            passage_id=f"{document.passage_id}__{n}",
            text=piece,
            title=document.title,
            section=document.section + (_opened_before(starts[n], headings) if starts else ()),
            document=document.passage_id,
            source=document.source,
        )
        for n, piece in enumerate(pieces)
    ]


def _opened_before(place: int, headings: Sequence[Heading]) -> tuple[str, ...]:
    """Headings above what stands there, without one that stands right there itself."""
    path = open_path(h for h in headings if h.start <= place)
    return path[:-1] if any(h.start == place for h in headings) else path


def _visible(text: str) -> int:
    return len("".join(text.split()))
