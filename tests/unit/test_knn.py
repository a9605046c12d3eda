"""Exact nearest neighbours: padding, ties, the document itself, and input that is refused."""

from __future__ import annotations

import numpy as np
import pytest

from mtrlib.errors import InputError
from mtrlib.synthesis.knn import nearest_documents

NAMES = [f"d{i:03}" for i in range(300)]


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    return np.random.default_rng(4).standard_normal((300, 12)).astype(np.float32)


@pytest.mark.parametrize("backend", ["faiss", "numpy"])
@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_lists_equal_a_full_sort(vectors, backend, similarity) -> None:
    wide = vectors.astype(np.float64)
    if similarity == "cosine":
        wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    scores = wide @ wide.T
    np.fill_diagonal(scores, -np.inf)
    knn = nearest_documents(NAMES, vectors, 7, similarity=similarity, backend=backend)
    assert knn.dtype == np.int32
    assert (knn == np.argsort(-scores, axis=1)[:, :7]).all()


def test_the_document_itself_comes_first_where_asked(vectors) -> None:
    others = nearest_documents(NAMES, vectors, 5)
    knn = nearest_documents(NAMES, vectors, 6, include_self=True)
    assert (knn[:, 0] == np.arange(300)).all()
    assert (knn[:, 1:] == others).all()


def test_copies_follow_the_document_itself() -> None:
    knn = nearest_documents(["a", "b", "c"], [[1, 0]] * 3, 3, include_self=True)
    assert knn.tolist() == [[0, 2, 1], [1, 2, 0], [2, 1, 0]]
    assert nearest_documents(["a", "b", "c"], [[1, 0]] * 3, 1).tolist() == [[2], [2], [1]]


def test_a_small_corpus_is_padded() -> None:
    knn = nearest_documents(["a", "b"], [[1, 0], [0, 1]], 4, include_self=True)
    assert knn.tolist() == [[0, 1, -1, -1], [1, 0, -1, -1]]
    assert nearest_documents(["a", "b"], [[1, 0], [0, 1]], 3).tolist() == [[1, -1, -1], [0, -1, -1]]
    assert nearest_documents(["a"], [[1, 0]], 1, include_self=True).tolist() == [[0]]


def test_lists_do_not_depend_on_the_order_of_rows() -> None:
    rng = np.random.default_rng(6)
    vectors = rng.integers(-1, 2, size=(300, 4)) + 0.5  # hardly a pair without a tie
    rows = rng.permutation(300)
    knn = nearest_documents(NAMES, vectors, 9)
    moved = nearest_documents([NAMES[row] for row in rows], vectors[rows], 9)
    assert (rows[moved] == knn[rows]).all()


def test_a_zero_vector_has_no_neighbours() -> None:
    with pytest.warns(UserWarning, match="b"):
        knn = nearest_documents(["a", "b", "c"], [[1, 0], [0, 0], [1, 1]], 1)
    assert knn.tolist() == [[2], [-1], [0]]


@pytest.mark.parametrize(
    ("names", "vectors", "k", "named"),
    [
        (["a", "b"], [[1.0], [np.nan]], 1, "passage b is not finite"),
        (["a", "b"], [[1.0]], 1, "2 passage ids"),
        (["a"], [1.0], 1, r"shape \(1,\)"),
        (["a", "a"], [[1.0], [2.0]], 1, "'a' occurs twice"),
        (["a"], [[1.0]], 0, "k=0"),
        (["a"], [[1.0]], -1, "k=-1"),
    ],
)
def test_input_that_has_no_neighbours_is_refused(names, vectors, k, named) -> None:
    with pytest.raises(InputError, match=named):
        nearest_documents(names, vectors, k)
