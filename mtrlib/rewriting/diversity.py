"""Variants must look from another side: those too similar to one already there are dropped."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from mtrlib.retrieval.cache import embeddings
from mtrlib.retrieval.lexical import tokenize
from mtrlib.retrieval.registry import retriever_spec

DIGITS = 6  # cosines are rounded to this, so that .88 is .88 whatever the last bits say

Vectors = Callable[[Sequence[str]], np.ndarray]  # texts -> (n_texts, dimension), any norm


@dataclass(frozen=True, slots=True)
class Diverse:
    """What the filter left of the variants of one query.

    Attributes
    ----------
    kept, dropped : variants, in order; ``dropped`` with the similarity that was too high.
    mean_all : mean pairwise cosine of the variants as they came; NaN with fewer than two.
    mean_kept : the same of those kept.
    """

    kept: tuple[str, ...]
    dropped: tuple[tuple[str, float], ...]
    mean_all: float
    mean_kept: float


def encoder_vectors(name: str) -> Vectors:
    """Vectors of a registered retriever's queries, from the cache of embeddings.

    A text keeps the vector of its first batch, so that no batch changes a cosine.

    Raises
    ------
    InputError, FetchError
        As :func:`mtrlib.retrieval.search.searcher`.
    """
    spec = retriever_spec(name)
    known: dict[str, np.ndarray] = {}

    def vectors(texts: Sequence[str]) -> np.ndarray:
        new = sorted(set(texts) - set(known))
        if new:
            ids = [str(i) for i in range(len(new))]
            found = embeddings(spec, ids, new, spec.query_prompt, f"{name} variants")
            dense = found.toarray() if hasattr(found, "toarray") else found
            known.update(zip(new, dense, strict=True))
        return np.stack([known[text] for text in texts])

    return vectors


def token_vectors(texts: Sequence[str]) -> np.ndarray:
    """Counts of script-aware tokens: no model, any language; two synonyms look different."""
    counter = TfidfVectorizer(analyzer=tokenize, use_idf=False)
    if not any(tokenize(text) for text in texts):
        return np.zeros((len(texts), 1))
    return counter.fit_transform(list(texts)).toarray()


def diverse(
    variants: Mapping[str, tuple[str, Sequence[str]]], vectors: Vectors, *, most: float = 0.88
) -> dict[str, Diverse]:
    """Filter the variants of many queries; all texts are encoded in one call.

    Parameters
    ----------
    variants : query id -> (original query, its variants in order).
    vectors : texts -> vectors.
    most : cosine with the original or an accepted variant above which a variant is dropped;
        exactly this value is kept.

    Returns
    -------
    dict
        One :class:`Diverse` per query, in the order given.

    Notes
    -----
    In order, so the first of two similar variants stays. A text whose vector is 0 is similar
    to nothing.
    """
    texts = sorted({t for original, own in variants.values() for t in (original, *own)})
    found = _unit(vectors(texts)) if texts else np.zeros((0, 1))  # (n_texts, dimension)
    row = {text: i for i, text in enumerate(texts)}
    return {
        query_id: _filtered(original, own, {t: found[row[t]] for t in (original, *own)}, most)
        for query_id, (original, own) in variants.items()
    }


def _filtered(
    original: str, own: Sequence[str], vector: Mapping[str, np.ndarray], most: float
) -> Diverse:
    kept: list[str] = []
    dropped = []
    for text in own:
        nearest = max(_cosine(vector[text], vector[other]) for other in (original, *kept))
        if nearest > most:
            dropped.append((text, nearest))
        else:
            kept.append(text)
    return Diverse(tuple(kept), tuple(dropped), _mean(own, vector), _mean(kept, vector))


def _mean(texts: Sequence[str], vector: Mapping[str, np.ndarray]) -> float:
    pairs = [_cosine(vector[a], vector[b]) for a, b in combinations(texts, 2)]
    return math.fsum(pairs) / len(pairs) if pairs else math.nan


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    return round(float(a @ b), DIGITS)


def _unit(vectors: np.ndarray) -> np.ndarray:
    wide = np.asarray(vectors, dtype=np.float64)  # (n_texts, dimension)
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    return wide / np.where(norms > 0, norms, 1)
