"""Encoders: texts to vectors. torch is imported here and only when something must be encoded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from mtrlib import progress
from mtrlib.errors import InputError
from mtrlib.retrieval.cache import Vectors
from mtrlib.retrieval.models import model_folder
from mtrlib.retrieval.registry import RetrieverSpec

BATCHES_AT_ONCE = 16  # texts handed over at a time: progress, and a bound on memory

# (question, passage that answers it, passage on the same words that does not)
SANITY = (
    ("Who painted the ceiling?", "The ceiling was painted by Maria Rossi.", "The floor is oak."),
    ("When does the museum open?", "The museum opens at nine.", "Ferries carry cars and lorries."),
    ("How deep is the lake?", "The lake is forty metres deep.", "Her aunt baked a plum cake."),
)


def encode(spec: RetrieverSpec, texts: list[str], prompt: str, label: str) -> Vectors:
    """Encode texts in the order given.

    Parameters
    ----------
    prompt : put in front of every text.
    label : shown with the progress.

    Returns
    -------
    ndarray or csr_matrix
        float32, shape (len(texts), dimension); sparse for kind ``sparse``.

    Raises
    ------
    InputError
        The model gives vectors that are not finite, or fails the sanity pairs.
    """
    model = load_model(spec)
    order = sorted(range(len(texts)), key=lambda i: (-len(texts[i]), i))  # little padding
    step = spec.batch_size * BATCHES_AT_ONCE
    chunks = [order[i : i + step] for i in range(0, len(order), step)]
    pieces = [
        _encode_chunk(spec, model, [prompt + texts[i] for i in chunk])
        for chunk in _tracked(chunks, label, len(texts))
    ]
    back = np.argsort(np.asarray(order, dtype=np.int64), kind="stable")
    if spec.kind == "sparse":
        return sparse.vstack(pieces, format="csr")[back]
    vectors = np.concatenate(pieces)[back]
    if not np.isfinite(vectors).all():
        bad = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
        raise InputError(f"{spec.name}: text {bad} has a vector that is not finite ({label}).")
    return vectors


def _tracked(chunks: list[list[int]], label: str, total: int) -> Iterator[list[int]]:
    def texts() -> Iterator[list[int]]:
        yield from chunks

    size = len(chunks[0]) if chunks else 1
    return progress.track(texts(), f"encoding {label}", len(chunks), unit=f"x {size} of {total}")


def _encode_chunk(spec: RetrieverSpec, model: Any, texts: list[str]) -> Vectors:
    if spec.kind == "sparse":
        found = model.encode(
            texts,
            batch_size=spec.batch_size,
            convert_to_sparse_tensor=True,
            save_to_cpu=True,
            show_progress_bar=False,
        ).coalesce()
        rows, columns = found.indices().numpy()
        data = found.values().float().numpy()
        return sparse.csr_matrix((data, (rows, columns)), shape=tuple(found.shape))
    vectors = model.encode(
        texts,
        batch_size=spec.batch_size,
        normalize_embeddings=spec.normalize,
        convert_to_numpy=True,
        show_progress_bar=False,
    )
    return np.asarray(vectors, dtype=np.float32)


@lru_cache(maxsize=2)
def load_model(spec: RetrieverSpec) -> Any:
    """Load a model for inference in float32 on the CPU (GPU where torch finds one).

    Raises
    ------
    InputError
        The model does not order the sanity pairs: wrong weights, pooling or prompts.
    """
    from transformers.utils import logging

    logging.disable_progress_bar()  # "Loading weights" would land in notebooks
    folder = model_folder(spec)
    model = _LOADERS[spec.kind](spec, folder)
    if spec.kind != "static":  # has no positions; its tokenizer cuts instead
        model.max_seq_length = spec.max_length
    model.eval()
    if spec.sanity:
        _check_sanity(spec, model)
    return model


def _dense(spec: RetrieverSpec, folder: Path) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), trust_remote_code=spec.trust_remote_code)


def _static(spec: RetrieverSpec, folder: Path) -> Any:
    from safetensors.numpy import load_file
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    (weights,) = load_file(folder / "model.safetensors").values()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(spec.max_length)
    embedding = StaticEmbedding(tokenizer, embedding_weights=weights.astype(np.float32))
    return SentenceTransformer(modules=[embedding])


def _sparse(spec: RetrieverSpec, folder: Path) -> Any:
    from sentence_transformers import SparseEncoder
    from sentence_transformers.sentence_transformer.modules import Transformer

    transformer = Transformer(str(folder), transformer_task="fill-mask")
    return SparseEncoder(modules=[transformer, splade_pooling(spec.pooling)])


def splade_pooling(strategy: str) -> Any:
    """SPLADE pooling; for ``max`` the same numbers as the library's in about half the time.

    log1p and relu rise with their argument, so they are applied to the maximum over the
    tokens instead of to every token: (batch, vocabulary) values instead of (batch, tokens,
    vocabulary). Padding must stand on the right, as it does for encoders of the BERT kind.
    """
    import torch
    from sentence_transformers.sparse_encoder.modules import SpladePooling

    class MaxThenLog(SpladePooling):  # type: ignore[misc]
        def forward(self, features: dict[str, Any]) -> dict[str, Any]:
            logits, mask = features["token_embeddings"], features["attention_mask"]
            lengths = mask.sum(dim=1).tolist()
            rows = [each[:n].amax(dim=0) for each, n in zip(logits, lengths, strict=True)]
            features["sentence_embedding"] = torch.stack(rows).relu().log1p()
            self.embedding_dimension = logits.shape[-1]
            return features

    pooling = MaxThenLog if strategy == "max" else SpladePooling
    return pooling(pooling_strategy=strategy)


_LOADERS: dict[str, Callable[[RetrieverSpec, Path], Any]] = {
    "dense": _dense,
    "static": _static,
    "sparse": _sparse,
}


def _check_sanity(spec: RetrieverSpec, model: Any) -> None:
    wrong = 0
    for question, right, other in SANITY:
        texts = [
            spec.query_prompt + question,
            spec.passage_prompt + right,
            spec.passage_prompt + other,
        ]
        vectors = _encode_chunk(spec, model, texts)
        if sparse.issparse(vectors):
            vectors = vectors.toarray()
        wrong += not vectors[0] @ vectors[1] > vectors[0] @ vectors[2]
    if wrong:
        raise InputError(
            f"{spec.name} puts {wrong} of {len(SANITY)} plain question-answer pairs in the wrong "
            "order. Mend: check weights, pooling, prompts and trust_remote_code; `sanity: false` "
            "in the registry switches this check off for a model of another language."
        )
