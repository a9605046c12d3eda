"""Passages that are nearly the gold: another copy of the answer under another id."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mtrlib.data.schema import Passage
from mtrlib.data.shingles import Hashes, folded, jaccard, shingle_set


class NearGold:
    """Tells which passages count as gold because their text is nearly that of a gold passage.

    Every pair is compared exactly (Jaccard similarity of script-aware shingles): there are only
    the passages of a result list against a few gold ones, so the candidates of MinHash would
    save nothing and could miss a pair. [D]

    Parameters
    ----------
    passages : passage id -> passage.
    least : similarity from which, inclusively, a passage counts.
    """

    def __init__(self, passages: Mapping[str, Passage], least: float = 0.5) -> None:
        self._passages = passages
        self._least = least
        self._sets: dict[str, Hashes] = {}

    def copies(self, listed: Collection[str], gold: Collection[str]) -> frozenset[str]:
        """The listed passages, gold aside, that are nearly one of the gold ones."""
        known = [g for g in sorted(gold) if g in self._passages]
        return frozenset(
            p for p in listed if p not in gold and any(self._similar(p, g) for g in known)
        )

    def _similar(self, a: str, b: str) -> bool:
        return jaccard(self._shingles(a), self._shingles(b)) >= self._least

    def _shingles(self, passage_id: str) -> Hashes:
        if passage_id not in self._sets:
            self._sets[passage_id] = shingle_set(folded(self._passages[passage_id].text))
        return self._sets[passage_id]
