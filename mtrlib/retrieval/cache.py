"""Embeddings cached by content: the key covers all that changes a vector."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from mtrlib import paths
from mtrlib.retrieval.models import model_fingerprint
from mtrlib.retrieval.registry import RetrieverSpec
from mtrlib.retrieval.text import TEXT_RULE

Vectors: TypeAlias = Any  # float32 ndarray, or csr_matrix for kind "sparse"


def embedding_key(
    spec: RetrieverSpec, ids: Sequence[str], texts: Sequence[str], prompt: str
) -> str:
    """SHA-256 over ids and texts in order, model files, prompt, length, pooling and dtype."""
    settings = [
        model_fingerprint(spec),
        spec.kind,
        prompt,
        spec.max_length,
        spec.pooling,
        spec.normalize,
        spec.dtype,
        TEXT_RULE,
    ]
    digest = hashlib.sha256(json.dumps(settings).encode())
    for passage_id, text in zip(ids, texts, strict=True):
        digest.update(json.dumps([passage_id, text]).encode())
    return digest.hexdigest()


def embeddings(
    spec: RetrieverSpec, ids: Sequence[str], texts: Sequence[str], prompt: str, label: str
) -> Vectors:
    """Vectors of the texts, shape (len(texts), dimension); encoded only on a cache miss.

    Parameters
    ----------
    ids : identify the texts; part of the key, so vectors never end up under other ids.
    prompt : put in front of every text.
    label : shown with the progress, for example "minilm passages".
    """
    folder = paths.cache("embeddings", spec.name)
    suffix = ".npz" if spec.kind == "sparse" else ".npy"
    path = folder / f"{embedding_key(spec, ids, texts, prompt)[:32]}{suffix}"
    cached = _load(path, len(texts))
    if cached is not None:
        return cached
    from mtrlib.retrieval.encoders import encode

    unique = list(dict.fromkeys(texts))
    vectors = encode(spec, unique, prompt, label)
    position = {text: row for row, text in enumerate(unique)}
    vectors = vectors[[position[text] for text in texts]]
    _save(path, vectors)
    return vectors


def _load(path: Path, rows: int) -> Vectors | None:
    """The cached vectors, or None when absent or damaged (then they are made anew)."""
    if not path.is_file():
        return None
    try:
        found = sparse.load_npz(path) if path.suffix == ".npz" else np.load(path)
    except (OSError, ValueError, EOFError, KeyError):
        return None
    return found if found.shape[0] == rows else None


def _save(path: Path, vectors: Vectors) -> None:
    part = path.with_name(f".{os.getpid()}-{path.name}")
    if sparse.issparse(vectors):
        sparse.save_npz(part, vectors)
    else:
        np.save(part, vectors)
    part.replace(path)
