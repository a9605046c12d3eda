"""A retriever that searches each text once: equal texts, equal lists, shares of time."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from mtrlib.data.schema import Run
from mtrlib.errors import InputError
from mtrlib.retrieval.models import TokenCounter
from mtrlib.retrieval.registry import RetrieverSpec
from mtrlib.retrieval.search import Searcher


class Remembered:
    """Wraps a retriever for an experiment in which many methods share their texts.

    A batch changes the last bits of an encoder's vectors, so the same query in two batches may
    come back in two orders; here a text keeps the list of its first search. New texts of a
    call are searched in one batch, in sorted order.

    Parameters
    ----------
    searcher : the retriever.
    depth : of every list that is kept; no search may ask for more.
    """

    def __init__(self, searcher: Searcher, depth: int = 100) -> None:
        self.spec: RetrieverSpec = searcher.spec
        self.depth = depth
        self._searcher = searcher
        self._lists: dict[str, tuple[tuple[str, float], ...]] = {}
        self._seconds: dict[str, float] = {}

    def search(self, queries: Mapping[str, str], depth: int) -> Run:
        """As :meth:`.Searcher.search`.

        Raises
        ------
        InputError
            A depth beyond the one kept, or an empty text; the query is named.
        """
        if depth > self.depth:
            raise InputError(f"depth={depth} exceeds the {self.depth} that are remembered.")
        blank = next((q for q, text in queries.items() if not text.strip()), None)
        if blank is not None:
            raise InputError(f"query {blank!r} is empty. Mend: fall back to the original query.")
        new = sorted({text for text in queries.values() if text not in self._lists})
        if new:
            started = time.perf_counter()
            found = self._searcher.search({str(i): t for i, t in enumerate(new)}, self.depth)
            share = (time.perf_counter() - started) / len(new)
            for i, text in enumerate(new):
                self._lists[text] = found.rankings.get(str(i), ())
                self._seconds[text] = share
        lists = {q: self._lists[text][:depth] for q, text in queries.items()}
        return Run(self.spec.name, lists)

    def seconds(self, text: str) -> float:
        """Seconds that the search of a text took: its share of its batch, so throughput."""
        return self._seconds[text]

    def budget(self) -> tuple[int | None, TokenCounter | None]:
        """As the retriever's."""
        return self._searcher.budget()

    def describe(self) -> dict[str, Any]:
        """As the retriever's."""
        return self._searcher.describe()


def remembered(searcher: Searcher, depth: int = 100) -> Remembered:
    """The retriever itself if it remembers already, else wrapped."""
    return searcher if isinstance(searcher, Remembered) else Remembered(searcher, depth)
