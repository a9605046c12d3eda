"""MinHash with banding, compiled: which earlier texts may be near-duplicates of this one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from mtrlib.data.shingles import Hashes, hash_slice
from mtrlib.errors import InputError

MOST_HASHES = 400  # values in a signature
DEVIATIONS = 5  # a pair whose estimate is this far below the threshold is not verified

Signature = npt.NDArray[np.uint32]

_HALF = np.uint64(32)


def banding(threshold: float, recall: float) -> tuple[int, int]:
    """``(bands, rows)``: the most rows a band that find pairs at the threshold often enough.

    A pair of similarity s meets in a band with probability ``s ** rows``, hence in one of
    them with ``1 - (1 - s ** rows) ** bands``. More rows let fewer unlike pairs through.

    Parameters
    ----------
    threshold : Jaccard similarity in (0, 1].
    recall : probability in (0, 1) of finding a pair that is exactly at the threshold.

    Raises
    ------
    InputError
        Values out of range, or more than ``MOST_HASHES`` hashes even with one row a band.

    References
    ----------
    Leskovec, Rajaraman and Ullman, "Mining of massive datasets", section 3.4.

    Examples
    --------
    >>> banding(0.5, 0.995)
    (83, 4)
    """
    if not 0 < threshold <= 1:
        raise InputError(f"threshold={threshold} must be above 0 and at most 1; 0.5 is usual.")
    if not 0 < recall < 1:
        raise InputError(f"recall={recall} must lie between 0 and 1; 0.995 is usual.")
    fitting = (1, 0)
    for rows in range(1, 17):
        meet = threshold**rows
        bands = 1 if meet == 1 else math.ceil(math.log(1 - recall) / math.log1p(-meet))
        if bands * rows <= MOST_HASHES:
            fitting = (bands, rows)
    if not fitting[1]:
        raise InputError(
            f"threshold={threshold} with recall={recall} takes more than {MOST_HASHES} hashes. "
            "Mend: a higher threshold, or a lower recall."
        )
    return fitting


class MinHashIndex:
    """Signatures of the texts kept so far, found by any band they share with a new one.

    Parameters
    ----------
    n : texts that will be added at most; fixes the memory, about 2 kB a text at 0.5.
    threshold : Jaccard similarity that candidates should reach.
    recall : probability of finding a pair exactly at the threshold; more similar pairs are
        found more often, equal texts always.
    rng : draws the hash functions.
    """

    def __init__(
        self, n: int, *, threshold: float, recall: float, rng: np.random.Generator
    ) -> None:
        self.bands, self.rows = banding(threshold, recall)
        k = self.bands * self.rows
        self._mask = rng.integers(0, 2**32, k, dtype=np.uint32)
        self._odd = rng.integers(0, 2**32, k, dtype=np.uint32) | np.uint32(1)
        deviation = math.sqrt(threshold * (1 - threshold) / k)
        self._agreeing = math.ceil(k * (threshold - DEVIATIONS * deviation))
        slots = 1 << max(n - 1, 1).bit_length()
        self._heads = np.full((self.bands, slots), -1, np.int32)  # newest text of each slot
        self._older = np.full((n, self.bands), -1, np.int32)  # next text of the same slot
        self._signatures = np.empty((n, k), np.uint32)
        self._seen = np.zeros(n, np.int64)  # the last call that met a text
        self._found = np.empty(n, np.int32)
        self._added, self._calls = 0, 0

    def signature(self, hashes: Hashes) -> Signature:
        """MinHash signature, shape (bands * rows,), of at least one shingle."""
        return _signature(hashes, self._mask, self._odd)

    def candidates(self, signature: Signature) -> list[int]:
        """Numbers of added texts that share a band and look similar enough, ascending."""
        self._calls += 1
        n_found = _candidates(
            signature, self._calls, self._agreeing, self.rows, self._heads, self._older,
            self._signatures, self._seen, self._found,
        )  # fmt: skip
        return sorted(self._found[:n_found].tolist())

    def add(self, signature: Signature) -> None:
        """Remember a text; its number is how many were added before."""
        _add(signature, self._added, self.rows, self._heads, self._older, self._signatures)
        self._added += 1


@njit(cache=True)
def _signature(hashes: Any, mask: Any, odd: Any) -> Any:
    folded = np.empty(len(hashes), np.uint32)
    for i in range(len(hashes)):
        folded[i] = np.uint32(hashes[i] >> _HALF)
    signature = np.empty(len(mask), np.uint32)
    for p in range(len(mask)):
        flip, factor, least = mask[p], odd[p], np.uint32(0xFFFFFFFF)
        for x in folded:
            least = min(least, np.uint32((x ^ flip) * factor))
        signature[p] = least
    return signature


@njit(cache=True)
def _slot(signature: Any, start: int, rows: int, slots: int) -> Any:
    return np.int64(hash_slice(signature, start, start + rows) & np.uint64(slots - 1))


@njit(cache=True)
def _candidates(
    signature: Any, call: int, agreeing: int, rows: int, heads: Any, older: Any,
    signatures: Any, seen: Any, found: Any,
) -> int:  # fmt: skip
    n_found = 0
    for band in range(len(heads)):
        start = band * rows
        other = heads[band, _slot(signature, start, rows, heads.shape[1])]
        while other >= 0:
            if seen[other] != call:
                meets = True
                for i in range(start, start + rows):
                    meets &= signatures[other, i] == signature[i]
                if meets:
                    seen[other] = call
                    if (signatures[other] == signature).sum() >= agreeing:
                        found[n_found] = other
                        n_found += 1
            other = older[other, band]
    return n_found


@njit(cache=True)
def _add(signature: Any, row: int, rows: int, heads: Any, older: Any, signatures: Any) -> None:
    signatures[row] = signature
    for band in range(len(heads)):
        slot = _slot(signature, band * rows, rows, heads.shape[1])
        older[row, band] = heads[band, slot]
        heads[band, slot] = row
