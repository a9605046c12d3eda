"""How much a character carries: one measure of length for texts with and without spaces."""

from __future__ import annotations

import re

# Han with its radicals and punctuation marks, kana, bopomofo, Hangul: a word is about two of
# these characters, as it is about five letters and a space elsewhere. First and last code point.
DENSE = (
    (0x1100, 0x11FF),
    (0x2E80, 0x2FDF),
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3040, 0x318F),
    (0x31A0, 0x31BF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xA960, 0xA97F),
    (0xAC00, 0xD7FF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
# Three dense characters count as much as five others; whole numbers keep sums exact.
DENSE_WEIGHT, OTHER_WEIGHT = 5, 3

_DENSE = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in DENSE) + "]")


def width(text: str) -> float:
    """Length of a text in letters of a script with spaces; a dense character is 5/3 of one.

    >>> width("seven"), width("退款到")
    (5.0, 5.0)
    """
    dense = 0 if text.isascii() else len(_DENSE.findall(text))
    return len(text) + dense * (DENSE_WEIGHT - OTHER_WEIGHT) / OTHER_WEIGHT
