"""Script-aware shingles of a text as hashes, and the exact Jaccard similarity of two texts.

A shingle is a window of five letters, or of three characters where a script is dense (Han,
kana, Hangul): either holds about one word, so one threshold means the same in both.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from mtrlib.data.script_width import DENSE, DENSE_WEIGHT, OTHER_WEIGHT

WINDOW = 15  # weight of a shingle: 5 letters or 3 dense characters

Hashes = npt.NDArray[np.uint64]

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]+")
_RANGES = np.array(DENSE, dtype=np.uint32)
_START, _PRIME = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xFF51AFD7ED558CCD)
_HALF = np.uint64(32)


def folded(text: str) -> str:
    """The form that is compared: NFKC, case folded, one space for white space, no zero widths."""
    if not text.isascii():
        text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return " ".join(text.casefold().split())


def shingle_hashes(text: str) -> Hashes:
    """64-bit hashes of the shingles of a folded text, one per window, so with repeats.

    A text that is shorter than one window is its own shingle; an empty text has none. Where
    windows of mixed scripts do not end with the text, the last one is stretched to its end.

    Hashes stand for the shingles in all that follows. Two different shingles share one with a
    probability of about 2^-64; for two texts of 2,000 characters that is 4e-13, and it would
    move their similarity by less than 0.001.
    """
    return _shingle_hashes(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32))


def shingle_set(text: str) -> Hashes:
    """Hashes of the shingles of a folded text, sorted and without repeats."""
    hashes = np.sort(shingle_hashes(text))
    first = np.ones(len(hashes), bool)
    np.not_equal(hashes[1:], hashes[:-1], out=first[1:])
    return hashes[first]


def jaccard(a: Hashes, b: Hashes) -> float:
    """Shared shingles over all shingles of two shingle sets, in [0, 1]; 0 if both are empty."""
    shared = _shared(a, b)
    return float(shared / (len(a) + len(b) - shared)) if shared else 0.0


@njit(cache=True)
def hash_slice(values: Any, start: int, end: int) -> Any:
    """64-bit hash of ``values[start:end]``."""
    mixed = _START
    for i in range(start, end):
        mixed = (mixed ^ np.uint64(values[i])) * _PRIME
        mixed ^= mixed >> _HALF
    mixed *= _PRIME
    return mixed ^ (mixed >> _HALF)


@njit(cache=True)
def _weight(code: Any) -> int:
    if code >= _RANGES[0, 0]:
        for first, last in _RANGES:
            if first <= code <= last:
                return DENSE_WEIGHT
    return OTHER_WEIGHT


@njit(cache=True)
def _shingle_hashes(codes: Any) -> Any:
    hashes = np.empty(len(codes), np.uint64)
    count, end, weight = 0, 0, 0
    for start in range(len(codes)):
        while end < len(codes) and weight < WINDOW:
            weight += _weight(codes[end])
            end += 1
        if weight < WINDOW:
            break
        hashes[count] = hash_slice(codes, start, end)
        count += 1
        weight -= _weight(codes[start])
    if len(codes):
        last = max(count - 1, 0)
        hashes[last] = hash_slice(codes, last, len(codes))
        count = last + 1
    return hashes[:count]


@njit(cache=True)
def _shared(a: Any, b: Any) -> int:
    i, j, shared = 0, 0, 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            shared += 1
        # both move on where they are equal
        step = a[i] <= b[j]
        j += a[i] >= b[j]
        i += step
    return shared
