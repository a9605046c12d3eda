"""Exact search and the one rule of ranking: float32 score, then passage id, both descending.

FAISS and NumPy find candidates; the final scores come from one float64 product, so both
back ends give the same run to the bit.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mtrlib.data.schema import Run
from mtrlib.errors import InputError

Floats = npt.NDArray[np.float32]
SPARE = 32  # candidates beyond the depth, so that ties at the border are seen
QUERIES_AT_ONCE = 256  # bounds the score matrix of the NumPy back end
NEAR = 1e-5  # how far two float32 products of one pair may lie apart


class PassageIds:
    """The ids of a corpus by row, and the order that breaks ties between them."""

    def __init__(self, ids: Iterable[str]) -> None:
        self.ids = list(ids)
        self._tie = np.empty(len(self.ids), dtype=np.int64)
        descending = sorted(range(len(self.ids)), key=self.ids.__getitem__, reverse=True)
        self._tie[descending] = np.arange(len(self.ids))

    def __len__(self) -> int:
        return len(self.ids)

    def top(
        self,
        scores: Floats,
        depth: int,
        *,
        rows: npt.NDArray[np.int64] | None = None,
        above: float | None = None,
    ) -> tuple[tuple[str, float], ...]:
        """The best ``depth`` of ``scores`` as ``(passage_id, score)``, fewer if there are fewer.

        Parameters
        ----------
        scores : one per row of the corpus, or of ``rows`` where given; shape (n,).
        above : keep only scores greater than this (0 for lexical search).
        """
        at = np.arange(len(scores)) if rows is None else rows
        if above is not None:
            keep = scores > above
            scores, at = scores[keep], at[keep]
        if len(scores) > depth:
            border = np.partition(scores, len(scores) - depth)[len(scores) - depth]
            keep = scores >= border  # all that tie at the border, before ids decide
            scores, at = scores[keep], at[keep]
        order = np.lexsort((self._tie[at], -scores))[:depth]
        return tuple((self.ids[at[i]], float(scores[i])) for i in order)


class DenseIndex:
    """Exact inner product or cosine over dense vectors.

    Parameters
    ----------
    ids : passage ids, one per row.
    vectors : shape (n_passages, dimension), finite.
    similarity : ``dot``, or ``cosine`` (a normalised copy is searched).
    backend : ``faiss``, ``numpy``, or ``auto``: FAISS, but NumPy on macOS, where the
        wheels of torch and faiss bring two OpenMP runtimes into one process.
    """

    def __init__(
        self, ids: Iterable[str], vectors: Floats, *, similarity: str = "dot", backend: str = "auto"
    ) -> None:
        if similarity not in ("dot", "cosine"):
            raise InputError(f"similarity {similarity!r} is unknown. Known: dot, cosine.")
        self._ids = PassageIds(ids)
        self._similarity = similarity
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != len(self._ids):
            raise InputError(f"{len(self._ids)} passage ids, but vectors of shape {vectors.shape}.")
        for row in np.flatnonzero(~np.isfinite(vectors).all(axis=1))[:1]:
            raise InputError(f"the vector of passage {self._ids.ids[row]} is not finite.")
        self._vectors = _unit(vectors) if similarity == "cosine" else vectors
        self._faiss = _faiss_index(self._vectors) if _use_faiss(backend) else None

    def search(
        self, queries: Mapping[str, npt.ArrayLike], depth: int, system: str = "dense"
    ) -> Run:
        """Rank passages for query vectors of shape (dimension,), by query id.

        A zero vector (an empty query) has no neighbours: its list is empty and a warning
        names it. At most ``depth`` hits, fewer where the corpus is smaller.

        Raises
        ------
        InputError
            A query vector of another dimension or with values that are not finite.
        """
        dimension = self._vectors.shape[1]
        vectors, searched, empty = [], [], []
        for query_id, values in queries.items():
            vector = np.asarray(values, dtype=np.float32)
            if vector.shape != (dimension,):
                raise InputError(
                    f"query {query_id} has {vector.size} numbers, the index has {dimension}."
                )
            if not np.isfinite(vector).all():
                raise InputError(f"the vector of query {query_id} is not finite.")
            if vector.any():
                searched.append(query_id)
                vectors.append(vector)
            else:
                empty.append(query_id)
        if empty:
            warnings.warn(
                f"{len(empty)} queries have a zero vector and get no hits: {', '.join(empty[:5])}",
                stacklevel=2,
            )
        found: dict[str, tuple[tuple[str, float], ...]] = {}
        if vectors:
            matrix = np.stack(vectors)
            if self._similarity == "cosine":
                matrix = _unit(matrix)
            tops = [
                top
                for start in range(0, len(matrix), QUERIES_AT_ONCE)
                for top in self._top(matrix[start : start + QUERIES_AT_ONCE], depth)
            ]
            found = dict(zip(searched, tops, strict=True))
        return Run(system, {q: found.get(q, ()) for q in queries})

    def _top(self, matrix: Floats, depth: int) -> list[tuple[tuple[str, float], ...]]:
        wanted = min(len(self._ids), depth + SPARE)
        if self._faiss is not None:
            scores, rows = self._faiss.search(matrix, wanted)
        else:
            everything = matrix @ self._vectors.T
            rows = np.argpartition(-everything, wanted - 1, axis=1)[:, :wanted]
            scores = np.take_along_axis(everything, rows, axis=1)
        return [
            self._rescore(query, s, r, depth)
            for query, s, r in zip(matrix, scores, rows, strict=True)
        ]

    def _rescore(
        self, query: Floats, scores: Floats, rows: npt.NDArray[np.int64], depth: int
    ) -> tuple[tuple[str, float], ...]:
        valid = rows >= 0  # FAISS pads with -1, which Python would read as "last"
        scores, rows = scores[valid], rows[valid]
        if len(rows) > depth:
            border = np.partition(scores, len(scores) - depth)[len(scores) - depth]
            if scores.min() > border - NEAR and len(rows) < len(self._ids):
                rows = np.arange(len(self._ids))  # more ties than spare candidates: rank all
        exact = self._vectors[rows].astype(np.float64) @ query.astype(np.float64)
        if self._similarity == "cosine":
            exact = exact.clip(-1.0, 1.0)
        return self._ids.top(exact.astype(np.float32), depth, rows=rows)


class SparseIndex:
    """Exact inner product over sparse vectors; a hit shares at least one term."""

    def __init__(self, ids: Iterable[str], vectors: sparse.csr_matrix) -> None:
        self._ids = PassageIds(ids)
        self._by_term = vectors.T.tocsr().astype(np.float64)

    def search(
        self, query_ids: list[str], vectors: sparse.csr_matrix, depth: int, system: str = "sparse"
    ) -> Run:
        """Rank passages for query vectors, shape (n_queries, n_terms), rows as ``query_ids``."""
        products = (vectors.astype(np.float64) @ self._by_term).tocsr()
        rankings = {}
        for row, query_id in enumerate(query_ids):
            part = slice(products.indptr[row], products.indptr[row + 1])
            scores = products.data[part].astype(np.float32)
            hits = products.indices[part].astype(np.int64)
            rankings[query_id] = self._ids.top(scores, depth, rows=hits, above=0.0)
        return Run(system, rankings)


def _unit(vectors: Floats) -> Floats:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)


def _use_faiss(backend: str) -> bool:
    if backend not in ("auto", "faiss", "numpy"):
        raise InputError(f"backend {backend!r} is unknown. Known: auto, faiss, numpy.")
    if backend == "auto":
        backend = os.environ.get("MTR_BACKEND") or (
            "numpy" if sys.platform == "darwin" else "faiss"
        )
    return backend == "faiss"


def _faiss_index(vectors: Floats) -> Any:
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return index
