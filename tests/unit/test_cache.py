"""Embeddings are encoded once, and again as soon as anything that matters changes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from mtrlib.retrieval import cache, encoders
from mtrlib.retrieval.registry import RetrieverSpec

IDS, TEXTS = ["a", "b", "c"], ["one", "two", "one"]


@pytest.fixture
def spec(tmp_path: Path) -> RetrieverSpec:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"weights")
    return RetrieverSpec("toy", "dense", model=str(folder))


@pytest.fixture
def encoded(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    calls: list[list[str]] = []

    def encode(spec: RetrieverSpec, texts: list[str], prompt: str, label: str):
        calls.append([prompt + t for t in texts])
        vectors = np.array([[len(t), ord(t[0])] for t in texts], dtype=np.float32)
        return sparse.csr_matrix(vectors) if spec.kind == "sparse" else vectors

    monkeypatch.setattr(encoders, "encode", encode)
    return calls


def test_second_time_comes_from_the_cache(spec: RetrieverSpec, encoded: list):
    first = cache.embeddings(spec, IDS, TEXTS, "q: ", "toy")
    second = cache.embeddings(spec, IDS, TEXTS, "q: ", "toy")
    assert encoded == [["q: one", "q: two"]]  # repeated texts once
    assert np.array_equal(first, second)
    assert np.array_equal(first[0], first[2])


def test_sparse_vectors_too(spec: RetrieverSpec, encoded: list):
    sparse_spec = dataclasses.replace(spec, kind="sparse")
    first = cache.embeddings(sparse_spec, IDS, TEXTS, "", "toy")
    second = cache.embeddings(sparse_spec, IDS, TEXTS, "", "toy")
    assert len(encoded) == 1
    assert (first != second).nnz == 0


@pytest.mark.parametrize(
    "change",
    [
        {"max_length": 64},
        {"pooling": "cls"},
        {"normalize": False},
        {"dtype": "float16"},
    ],
)
def test_settings_are_part_of_the_key(spec: RetrieverSpec, encoded: list, change: dict):
    cache.embeddings(spec, IDS, TEXTS, "", "toy")
    cache.embeddings(dataclasses.replace(spec, **change), IDS, TEXTS, "", "toy")
    assert len(encoded) == 2


def test_ids_texts_order_and_prompt_are_part_of_the_key(spec: RetrieverSpec):
    keys = {
        cache.embedding_key(spec, IDS, TEXTS, ""),
        cache.embedding_key(spec, ["x", "b", "c"], TEXTS, ""),
        cache.embedding_key(spec, IDS, ["one", "two", "three"], ""),
        cache.embedding_key(spec, IDS[::-1], TEXTS[::-1], ""),
        cache.embedding_key(spec, IDS, TEXTS, "q: "),
    }
    assert len(keys) == 5


def test_model_files_are_part_of_the_key(spec: RetrieverSpec, tmp_path: Path):
    first = cache.embedding_key(spec, IDS, TEXTS, "")
    other = tmp_path / "other"
    other.mkdir()
    (other / "model.safetensors").write_bytes(b"other weights")
    assert cache.embedding_key(dataclasses.replace(spec, model=str(other)), IDS, TEXTS, "") != first


def test_a_damaged_file_is_made_anew(spec: RetrieverSpec, encoded: list, fresh_cache: Path):
    first = cache.embeddings(spec, IDS, TEXTS, "", "toy")
    (path,) = (fresh_cache / "embeddings" / "toy").iterdir()
    path.write_bytes(path.read_bytes()[:50])
    assert np.array_equal(cache.embeddings(spec, IDS, TEXTS, "", "toy"), first)
    assert len(encoded) == 2
    assert [p.name for p in path.parent.iterdir()] == [path.name]  # no part file left
