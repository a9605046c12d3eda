"""What a retriever thinks of single (query text, passage) pairs, and how that ranks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mtrlib.data.schema import Passage
from mtrlib.errors import InputError
from mtrlib.retrieval.cache import embeddings
from mtrlib.retrieval.models import TokenCounter
from mtrlib.retrieval.registry import retriever_spec
from mtrlib.retrieval.search import LexicalSearcher
from mtrlib.retrieval.text import encoded_text

NEIGHBOURS = 100  # passages of the corpus that a score is standardised over
QUERIES_AT_ONCE = 64  # bounds the score matrix
MEASURES = ("raw", "standard", "log_rank")

Floats = npt.NDArray[np.float64]


class CorpusScorer:
    """One retriever over one corpus, asked for single pairs.

    Vectors come from the same cache as those of :mod:`mtrlib.retrieval.search`. Query vectors
    are kept, so a text is encoded once, however often and with whatever others it is asked.

    Parameters
    ----------
    name : a lexical, static, dense or sparse retriever of the registry.
    passages : the corpus, ids unique.

    Raises
    ------
    InputError
        Unknown retriever, or a hybrid, which has no scores of its own.
    FetchError
        Its model cannot be had.
    """

    def __init__(self, name: str, passages: Sequence[Passage]) -> None:
        self.spec = retriever_spec(name)
        if self.spec.kind == "hybrid":
            raise InputError(f"{name} is a hybrid. Mend: score its parts, {self.spec.parts}.")
        self._rows = {p.passage_id: row for row, p in enumerate(passages)}
        self._known: dict[str, Any] = {}  # query text -> vector
        self._measured: dict[tuple[str, str], Floats] = {}  # copies of a set ask the same again
        self._budget: tuple[int, Callable[[str], int]] | None = None
        self._vectors: Any = None
        self._lexical: LexicalSearcher | None = None
        if self.spec.kind == "lexical":
            self._lexical = LexicalSearcher(self.spec, passages)
        else:
            texts = [encoded_text(p) for p in passages]
            prompt, label = self.spec.passage_prompt, f"{name} passages"
            found = embeddings(self.spec, list(self._rows), texts, prompt, label)
            self._vectors = found.astype(np.float64)

    def budget(self) -> tuple[int | None, Callable[[str], int] | None]:
        """Most tokens of a query text and how they are counted; (None, None) = no limit."""
        if self._lexical is not None:
            return None, None
        if self._budget is None:
            counter = TokenCounter(self.spec)
            self._budget = counter.query_budget, lru_cache(maxsize=None)(counter)
        return self._budget

    def measures(
        self, queries: Sequence[tuple[str, str]], pairs: Sequence[tuple[int, str]]
    ) -> Floats:
        """Score, standardised score and log rank of each pair, shape (n_pairs, 3).

        Parameters
        ----------
        queries : ``(id, text)``; the ids only name the cached vectors.
        pairs : ``(position in queries, passage id)``, in any order.

        Returns
        -------
        ndarray
            Columns as ``MEASURES``: the retriever's own score (0 where it has no hit); the
            same in standard deviations from the mean of the query's best ``NEIGHBOURS``
            passages of the corpus (0 where those tie), so that it does not depend on which
            candidates are shown; natural logarithm of 1 + passages that score higher.

        Raises
        ------
        InputError
            A passage that the corpus lacks.
        """
        new: dict[str, list[str]] = {}
        for query, passage_id in pairs:
            query_id, text = queries[query]
            if passage_id not in self._rows:
                raise InputError(
                    f"passage {passage_id!r} (of {query_id!r}) is not in the corpus it is scored "
                    "in. Mend: give the corpus of the item's own benchmark."
                )
            if (text, passage_id) not in self._measured:
                new.setdefault(text, []).append(passage_id)
        self.encode(queries)
        texts = list(new)
        for start in range(0, len(texts), QUERIES_AT_ONCE):
            block = texts[start : start + QUERIES_AT_ONCE]
            for text, row in zip(block, self._scores(block), strict=True):
                measured = _measures(row, [self._rows[p] for p in new[text]])
                self._measured |= zip(((text, p) for p in new[text]), measured, strict=True)
        found = [self._measured[queries[query][1], passage_id] for query, passage_id in pairs]
        return np.array(found).reshape(len(pairs), len(MEASURES))

    def encode(self, queries: Sequence[tuple[str, str]]) -> None:
        """Make vectors of the ``(id, text)`` whose text is new, under one key of the cache."""
        new = [(i, text) for i, text in dict.fromkeys(queries) if text not in self._known]
        if new and self._lexical is None:
            ids, texts = zip(*new, strict=True)
            prompt, label = self.spec.query_prompt, f"{self.spec.name} queries"
            made = embeddings(self.spec, list(ids), list(texts), prompt, label)
            self._known |= dict(zip(texts, made, strict=True))

    def _scores(self, texts: Sequence[str]) -> Floats:
        """Scores of the whole corpus, shape (n_texts, n_passages), with float32's digits."""
        if self._lexical is None:
            rows = [self._known[text] for text in texts]
            if self.spec.kind == "sparse":
                product = sparse.vstack(rows, format="csr").astype(np.float64) @ self._vectors.T
                scores = product.toarray()
            else:
                scores = np.stack(rows).astype(np.float64) @ self._vectors.T
            # equal to the last bit whichever texts share a block
            return np.asarray(scores, dtype=np.float32).astype(np.float64)
        matrix = np.zeros((len(texts), len(self._rows)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # how many of one block have no known term says nothing
            queries = {str(i): text for i, text in enumerate(texts)}
            run = self._lexical.search(queries, len(self._rows))
        for i, row in enumerate(matrix):
            for passage_id, score in run.rankings[str(i)]:
                row[self._rows[passage_id]] = score
        return matrix


def _measures(row: Floats, columns: Sequence[int]) -> Floats:
    own, ordered = row[list(columns)], np.sort(row)
    best = ordered[-NEIGHBOURS:]
    spread = best.std()
    standard = (own - best.mean()) / spread if spread > 1e-9 else np.zeros(len(own))
    higher = len(ordered) - np.searchsorted(ordered, own, side="right")
    return np.column_stack([own, standard, np.log1p(higher)])
