"""Exact search: case 03, ties, agreement of the two back ends."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from mtrlib.errors import InputError
from mtrlib.retrieval.index import DenseIndex, PassageIds, SparseIndex

BACKENDS = ["numpy", "faiss"]
DOCS = {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [0.6, 0.8]}


def _cosine(backend: str) -> DenseIndex:
    vectors = np.array(list(DOCS.values()), dtype=np.float32)
    return DenseIndex(DOCS, vectors, similarity="cosine", backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_case_03_more_hits_asked_than_passages(backend: str):
    ranking = _cosine(backend).search({"q1": [2, 0]}, depth=5).rankings["q1"]
    assert [p for p, _ in ranking] == ["a", "c", "b"]
    assert [s for _, s in ranking] == pytest.approx([1.0, 0.6, 0.0], abs=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_case_03_wrong_dimension_names_query_and_sizes(backend: str):
    with pytest.raises(InputError, match=r"query q2 has 3 numbers, the index has 2"):
        _cosine(backend).search({"q2": [1, 0, 0]}, depth=5)


@pytest.mark.parametrize("backend", BACKENDS)
def test_case_03_zero_vector_gets_no_hits_and_a_warning(backend: str):
    with pytest.warns(UserWarning, match="zero vector and get no hits: q3"):
        run = _cosine(backend).search({"q1": [2, 0], "q3": [0, 0]}, depth=5)
    assert run.rankings["q3"] == ()
    assert len(run.rankings["q1"]) == 3


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_named(bad: float):
    with pytest.raises(InputError, match="passage b is not finite"):
        DenseIndex(["a", "b"], np.array([[1, 0], [bad, 0]], dtype=np.float32))
    with pytest.raises(InputError, match="query q is not finite"):
        _cosine("numpy").search({"q": [bad, 0]}, depth=1)


def test_back_ends_give_the_same_run_also_with_many_ties():
    rng = np.random.default_rng(5)
    base = rng.normal(size=(60, 16)).astype(np.float32)
    vectors = np.concatenate([base] * 4)  # every vector four times: ties everywhere
    ids = [f"p{i:03d}" for i in rng.permutation(len(vectors))]
    queries = {f"q{i}": v for i, v in enumerate(rng.normal(size=(40, 16)))}
    queries["own"] = base[0]
    runs = [
        DenseIndex(ids, vectors, backend=backend).search(queries, depth=10) for backend in BACKENDS
    ]
    assert runs[0].rankings == runs[1].rankings


@pytest.mark.parametrize("backend", BACKENDS)
def test_more_ties_than_spare_candidates_still_follow_the_rule(backend: str):
    vectors = np.tile(np.array([[1, 0]], dtype=np.float32), (200, 1))
    ids = [f"p{i:03d}" for i in range(200)]
    run = DenseIndex(ids, vectors, backend=backend).search({"q": [1, 0]}, depth=3)
    assert run.ids("q") == ["p199", "p198", "p197"]


def test_insertion_order_of_passages_does_not_matter():
    rng = np.random.default_rng(6)
    vectors = rng.integers(0, 3, size=(50, 4)).astype(np.float32)
    ids = np.array([f"p{i}" for i in range(50)])
    query = {"q": np.array([1, 2, 0, 1])}
    first = DenseIndex(ids.tolist(), vectors).search(query, 20).rankings
    order = rng.permutation(50)
    second = DenseIndex(ids[order].tolist(), vectors[order]).search(query, 20).rankings
    assert first == second


def test_sparse_hits_share_a_term():
    passages = sparse.csr_matrix(np.array([[1, 0, 0], [0, 2, 0], [0, 1, 1]], dtype=np.float32))
    queries = sparse.csr_matrix(np.array([[0, 1, 0], [0, 0, 0]], dtype=np.float32))
    run = SparseIndex(["a", "b", "c"], passages).search(["q1", "q2"], queries, depth=20)
    assert run.rankings["q1"] == (("b", 2.0), ("c", 1.0))
    assert run.rankings["q2"] == ()


def test_top_breaks_ties_by_id_descending():
    ids = PassageIds(["b", "a", "c"])
    assert ids.top(np.array([1, 1, 1], dtype=np.float32), 2) == (("c", 1.0), ("b", 1.0))
