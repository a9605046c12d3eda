"""Whether a text mentions a term, in scripts with and without spaces; and how long texts are."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from mtrlib.data.script_width import DENSE
from mtrlib.data.strings import answer_tokens

_RANGES = "".join(f"{chr(first)}-{chr(last)}" for first, last in DENSE)
_DENSE = re.compile(f"[{_RANGES}]")
_WORD = re.compile(rf"[^\W{_RANGES}]+(?:['’.-][^\W{_RANGES}]+)*")


def plain(text: str) -> str:
    """NFKC, case folded, letters and digits alone, one space between: what "equal" compares.

    >>> plain("限流，怎么设？") == plain("限流 怎么设")
    True
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"[^\W_]+", folded))


class Mentioned:
    """One text that is asked for terms; a term without letters and digits is in none.

    A term with a dense character (Han, kana, Hangul) is looked for as a string, since its
    words have no borders; others as a run of whole tokens, so that "art" is not in "party".

    >>> Mentioned("网关的限流阈值").has("限流"), Mentioned("a party").has("art")
    (True, False)
    """

    def __init__(self, text: str) -> None:
        self._folded = unicodedata.normalize("NFKC", text).casefold()
        self._tokens = f" {' '.join(answer_tokens(_spaced(self._folded)))} "

    def has(self, term: str) -> bool:
        """Whether the term is mentioned."""
        form, dense = _term_form(term)
        return bool(form) and form in (self._folded if dense else self._tokens)

    def any(self, terms: Iterable[str]) -> bool:
        """Whether any of the terms is mentioned."""
        return any(self.has(term) for term in terms)


@lru_cache(maxsize=2**16)
def _term_form(term: str) -> tuple[str, bool]:
    """How a term is looked for, "" = never; and whether in the text itself or in its tokens."""
    folded = unicodedata.normalize("NFKC", term).casefold().strip()
    if not any(c.isalnum() for c in folded):
        return "", False
    if _DENSE.search(folded):
        return folded, True
    return f" {' '.join(answer_tokens(folded))} ", False


def dense_characters(text: str) -> int:
    """Han, kana and Hangul characters."""
    return len(_DENSE.findall(text))


def words(text: str) -> list[str]:
    """Words of the scripts with spaces, in order; dense characters are left out.

    >>> words("Who's in 网关 v2.1?")
    ["Who's", 'in', 'v2.1']
    """
    return _WORD.findall(text)


def is_short(text: str, *, most_words: int, most_characters: int) -> bool:
    """Whether a text has few words, and few dense characters.

    Where both occur each takes its share: 4 of 8 words and 4 of 8 characters are just short.
    A text without any of the two is not short but empty.
    """
    n_words, n_dense = len(words(text)), dense_characters(text)
    if not n_words + n_dense:
        return False
    return n_words / most_words + n_dense / most_characters <= 1


def _spaced(text: str) -> str:
    """Latin words in a text without spaces get their borders: ``用LDAP登录``."""
    return _DENSE.sub(" ", text)
