"""Numbers that describe clusters, on partitions small enough to count by hand."""

from __future__ import annotations

import numpy as np
import pytest

from mtrlib.errors import InputError
from mtrlib.synthesis import cluster_report as report_module
from mtrlib.synthesis.cluster_report import (
    adjusted_rand,
    cluster_report,
    pair_purity,
    similarity_within,
)
from mtrlib.synthesis.clustering import Clusters, cluster


@pytest.fixture
def three() -> Clusters:
    """Clusters [0 1 2], [3 4] and [5]."""
    found = cluster([[1, -1], [2, -1], [0, -1], [4, -1], [3, -1], [-1, -1]], size=3)
    assert [rows.tolist() for rows in found] == [[0, 1, 2], [3, 4], [5]]
    return found


VECTORS = np.array([[2, 0], [0, 1], [3, 3], [1, 0], [-1, 0], [0, 1]], dtype=float)


def test_similarity_by_hand(three) -> None:
    within = similarity_within(three, VECTORS)
    half = 2**-0.5
    assert within["size"].tolist() == [3, 2, 1]
    assert within["cosine_mean"].tolist() == pytest.approx([2 * half / 3, -1, np.nan], nan_ok=True)
    assert within["cosine_min"].tolist() == pytest.approx([0, -1, np.nan], nan_ok=True, abs=1e-7)


def test_similarity_in_blocks_equals_all_at_once(monkeypatch) -> None:
    knn = np.roll(np.arange(50), -1)[:, None]
    found = cluster(knn, size=50)
    vectors = np.random.default_rng(1).standard_normal((50, 5))
    whole = similarity_within(found, vectors)
    monkeypatch.setattr(report_module, "ROWS_AT_ONCE", 7)
    assert similarity_within(found, vectors).to_numpy() == pytest.approx(whole.to_numpy(), abs=1e-6)


def test_a_zero_vector_is_at_right_angles_to_all(three) -> None:
    within = similarity_within(three, np.zeros((6, 2)))
    assert within["cosine_min"].tolist() == pytest.approx([0, 0, np.nan], nan_ok=True)


def test_purity_by_hand(three) -> None:
    # pairs: three in the first cluster, one of them pure; one in the second, pure
    assert pair_purity(three, ["a", "a", "b", "c", "c", "a"]) == pytest.approx(2 / 4)
    assert pair_purity(three, range(6)) == 0
    assert pair_purity(three, [1] * 6) == 1
    assert np.isnan(pair_purity(cluster([[-1], [-1]], size=2), [1, 1]))


def test_report_in_one_row(three) -> None:
    report = cluster_report(three, vectors=VECTORS, groups=[1] * 6)
    assert report.drop(["cosine_mean", "cosine_min"]).to_dict() == pytest.approx(
        {
            "documents": 6, "lost": 0, "clusters": 3, "undersized": 2, "size_p50": 2,
            "size_p99": 2.98, "size_max": 3, "exact": 1 / 3, "pair_purity": 1,
        }
    )  # fmt: skip
    assert report["cosine_mean"] == pytest.approx((2**0.5 / 3 - 1) / 2)
    assert report["cosine_min"] == pytest.approx(-1 / 2)


def test_report_counts_what_is_lost() -> None:
    knn = [[1, 2], [0, 2], [0, 1], [4, 4], [3, 3]]
    found = cluster(knn, size=3, paper_compatible=True)
    report = cluster_report(found, groups=[1, 1, 2, 1, 1])
    assert (report["lost"], report["clusters"], report["size_max"]) == (2, 1, 3)
    assert report["pair_purity"] == pytest.approx(1 / 3)


def test_report_of_nothing() -> None:
    report = cluster_report(cluster(np.full((3, 1), -1), size=2, paper_compatible=True))
    assert (report["lost"], report["clusters"], report["size_p50"]) == (3, 0, 0)


def test_agreement_of_partitions(three) -> None:
    assert adjusted_rand(three, three) == 1
    alone = cluster(np.full((6, 1), -1), size=3)
    assert adjusted_rand(three, alone) == 0
    paper = cluster([[1], [2], [0], [4], [3], [-1]], size=3, paper_compatible=True)
    assert adjusted_rand(three, paper) == 1  # on the three documents that both hold


def test_one_value_per_document(three) -> None:
    with pytest.raises(InputError, match=r"shape \(5, 2\)"):
        similarity_within(three, VECTORS[:5])
    with pytest.raises(InputError, match="document 2 is not finite"):
        similarity_within(three, np.where(np.arange(6)[:, None] == 2, np.inf, VECTORS))
    with pytest.raises(InputError, match=r"shape \(7,\)"):
        pair_purity(three, range(7))
    with pytest.raises(InputError, match="6 and 1 documents"):
        adjusted_rand(three, cluster([[-1]], size=1))
