"""A retriever for tests that answers from lists."""

from __future__ import annotations

from mtrlib.data.schema import Run
from mtrlib.retrieval.registry import RetrieverSpec


class Lists:
    """Answers by text, one that is not known finds nothing; keeps what it was asked."""

    spec = RetrieverSpec("lists", "lexical")

    def __init__(self, found=None):
        self.found = found or {}
        self.calls = []

    def search(self, queries, depth):
        self.calls.append(dict(queries))
        lists = {q: self.found.get(text, []) for q, text in queries.items()}
        return Run("lists", {q: tuple((p, 1.0) for p in ids[:depth]) for q, ids in lists.items()})

    def budget(self):
        return None, None

    def describe(self):
        return {}
