"""Recursive character splitting as the MTR pipeline publishes it, to measure what it loses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

SEPARATORS = ("\n\n", "\n", ".", "!", "?", ",", " ", "\u200b", "，", "、", "．", "。", "")
DANGLING_WORDS = 5  # a last paragraph of so few words is taken for a heading and dropped


def published_chunks(text: str, *, most: int, least: int) -> list[str]:
    """Chunks of at most ``most`` characters; those below ``least`` are dropped.

    A text is split at the first separator it holds, separators staying with what follows;
    pieces are joined up to ``most``, longer ones split by the separators that are left. Then
    a last paragraph of five words or fewer is dropped from each chunk.
    """
    chunks = (_without_dangling(c) for c in _split(text, SEPARATORS, most))
    return [c for c in chunks if len(c) >= least]


def _split(text: str, separators: Sequence[str], most: int) -> Iterator[str]:
    at = next(i for i, s in enumerate(separators) if s in text)
    waiting: list[str] = []
    for piece in _pieces(text, separators[at]):
        if len(piece) < most or not separators[at + 1 :]:
            waiting.append(piece)
            continue
        yield from _joined(waiting, most)
        waiting = []
        yield from _split(piece, separators[at + 1 :], most)
    yield from _joined(waiting, most)


def _pieces(text: str, separator: str) -> list[str]:
    if not separator:
        return list(text)
    return [p for p in re.split(f"(?={re.escape(separator)})", text) if p]


def _joined(pieces: Sequence[str], most: int) -> Iterator[str]:
    chunk = ""
    for piece in pieces:
        if chunk and len(chunk) + len(piece) > most:
            yield from filter(None, [chunk.strip()])
            chunk = ""
        chunk += piece
    yield from filter(None, [chunk.strip()])


def _without_dangling(chunk: str) -> str:
    body, border, last = chunk.rpartition("\n\n")
    return body.rstrip() if border and len(last.split()) <= DANGLING_WORDS else chunk
