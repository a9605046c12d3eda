"""What clusters are like: sizes, similarity inside, purity, agreement of two partitions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from mtrlib.errors import InputError
from mtrlib.synthesis.clustering import Clusters

ROWS_AT_ONCE = 1024  # bounds the similarity matrix of one huge cluster


def cluster_report(
    clusters: Clusters,
    *,
    vectors: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
) -> pd.Series:
    """Describe a partition in one row of numbers.

    Parameters
    ----------
    clusters : the partition.
    vectors : of the documents, shape (n_documents, dimension); adds ``cosine_mean`` and
        ``cosine_min``, means over clusters of :func:`similarity_within`.
    groups : known group of every document; adds ``pair_purity``.

    Returns
    -------
    pd.Series
        Counts ``documents``, ``lost``, ``clusters`` and ``undersized`` (clusters below the
        size asked for); ``size_p50``, ``size_p99`` and ``size_max`` in documents, 0 without
        clusters; ``exact``, the fraction of clusters that have the size asked for.

    Raises
    ------
    InputError
        Vectors or groups that are not one per document.
    """
    sizes = clusters.sizes if len(clusters) else np.zeros(1, np.int32)
    report: dict[str, float] = {
        "documents": len(clusters.labels),
        "lost": len(clusters.lost),
        "clusters": len(clusters),
        "undersized": int((clusters.sizes < clusters.size).sum()),
        "size_p50": float(np.percentile(sizes, 50)),
        "size_p99": float(np.percentile(sizes, 99)),
        "size_max": int(sizes.max()),
        "exact": float((sizes == clusters.size).mean()),
    }
    if vectors is not None:
        within = similarity_within(clusters, vectors)
        report["cosine_mean"] = float(within["cosine_mean"].mean())
        report["cosine_min"] = float(within["cosine_min"].mean())
    if groups is not None:
        report["pair_purity"] = pair_purity(clusters, groups)
    return pd.Series(report, dtype=float)


def similarity_within(clusters: Clusters, vectors: npt.ArrayLike) -> pd.DataFrame:
    """Mean and smallest cosine over the pairs of documents of each cluster.

    Parameters
    ----------
    clusters : the partition.
    vectors : of the documents, shape (n_documents, dimension), finite.

    Returns
    -------
    pd.DataFrame
        One row per cluster: ``size`` in documents, ``cosine_mean`` and ``cosine_min``, both
        in [-1, 1], NaN for a cluster of one. A zero vector has cosine 0 with all others.

    Raises
    ------
    InputError
        Vectors that are not one per document, or not finite.

    Notes
    -----
    The smallest cosine shows how far a chain has drifted: neighbours in it are near, its
    ends need not be.
    """
    matrix = np.asarray(vectors, dtype=np.float32)
    if matrix.ndim != 2 or len(matrix) != len(clusters.labels):
        raise InputError(
            f"{len(clusters.labels)} documents, but vectors of shape {matrix.shape}. Mend: give "
            "one vector per document, lost ones included."
        )
    for row in np.flatnonzero(~np.isfinite(matrix).all(axis=1))[:1]:
        raise InputError(f"the vector of document {row} is not finite. Mend: encode it again.")
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    unit = np.divide(matrix, norms, out=np.zeros_like(matrix), where=norms > 0)
    values = [_mean_and_minimum(unit[clusters[c]]) for c in range(len(clusters))]
    frame = pd.DataFrame(values, columns=["cosine_mean", "cosine_min"], dtype=float)
    frame.insert(0, "size", clusters.sizes)
    return frame


def pair_purity(clusters: Clusters, groups: npt.ArrayLike) -> float:
    """Fraction of the pairs of documents in one cluster that are also in one group.

    Parameters
    ----------
    clusters : the partition; lost documents are in no pair.
    groups : known group of every document, shape (n_documents,). A document of no group
        needs a value of its own.

    Returns
    -------
    float
        In [0, 1]; NaN where no cluster has two documents.

    Raises
    ------
    InputError
        Groups that are not one per document.
    """
    known = np.asarray(groups)
    if known.shape != clusters.labels.shape:
        raise InputError(
            f"{len(clusters.labels)} documents, but groups of shape {known.shape}. Mend: give "
            "one group per document."
        )
    kept = clusters.labels >= 0
    _, codes = np.unique(known[kept], return_inverse=True)
    cells = np.stack([clusters.labels[kept], codes], axis=1)  # (n_kept, 2)
    _, together = np.unique(cells, axis=0, return_counts=True)
    pairs = _n_pairs(clusters.sizes)
    return _n_pairs(together) / pairs if pairs else float("nan")


def adjusted_rand(first: Clusters, second: Clusters) -> float:
    """Agreement of two partitions of the same documents, row by row.

    Returns
    -------
    float
        Adjusted Rand index: 1 for equal partitions, about 0 for unrelated ones. Documents
        that either has lost are left out.

    Raises
    ------
    InputError
        Partitions of a different number of documents.

    References
    ----------
    Hubert and Arabie, "Comparing partitions", 1985.
    """
    from sklearn.metrics import adjusted_rand_score

    if len(first.labels) != len(second.labels):
        raise InputError(
            f"partitions of {len(first.labels)} and {len(second.labels)} documents cannot be "
            "compared. Mend: cluster the same corpus."
        )
    both = (first.labels >= 0) & (second.labels >= 0)
    return float(adjusted_rand_score(first.labels[both], second.labels[both]))


def _mean_and_minimum(unit: npt.NDArray[np.float32]) -> tuple[float, float]:
    n = len(unit)
    if n < 2:
        return float("nan"), float("nan")
    total, lowest = 0.0, 1.0
    for start in range(0, n, ROWS_AT_ONCE):
        cosines = unit[start : start + ROWS_AT_ONCE] @ unit.T  # (rows, n)
        own = np.arange(len(cosines)), np.arange(start, start + len(cosines))
        total += float(cosines.sum(dtype=np.float64) - cosines[own].sum(dtype=np.float64))
        cosines[own] = 1.0
        lowest = min(lowest, float(cosines.min()))
    return total / (n * (n - 1)), lowest


def _n_pairs(counts: npt.NDArray[np.integer]) -> float:
    wide = counts.astype(np.int64)
    return float((wide * (wide - 1)).sum() // 2)
