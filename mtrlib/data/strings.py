"""The string rule for answers, and the copy check: does a text repeat a passage's words?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

_TOKEN = re.compile(r"[^\W_]+|[^\w\s]|_")


def answer_tokens(text: str) -> list[str]:
    """Letter-digit runs and single symbols of the NFD form, lower-cased; accents dropped.

    The rule of the DPR family that RVR's evaluation uses (seed 002; ``rvr.md`` section 3).

    >>> answer_tokens("Grand Prix Spécial, 1972")
    ['grand', 'prix', 'special', ',', '1972']
    """
    decomposed = unicodedata.normalize("NFD", text)
    bare = "".join(c for c in decomposed if not unicodedata.combining(c))
    return _TOKEN.findall(bare.lower())


def contains_answer(text: str, aliases: Iterable[str]) -> bool:
    """Whether any alias stands in ``text`` as a run of whole tokens; an empty alias never does."""
    haystack = f" {' '.join(answer_tokens(text))} "
    needles = (" ".join(answer_tokens(alias)) for alias in aliases)
    return any(needle and f" {needle} " in haystack for needle in needles)


def word_runs(text: str, length: int = 8) -> Iterator[tuple[str, ...]]:
    """All runs of ``length`` consecutive words, case and punctuation aside."""
    words = [t for t in answer_tokens(text) if t[0].isalnum()]
    return zip(*(words[i:] for i in range(length)), strict=False)
