"""Claim: 500,000 documents are clustered in under 2 s on one core, with at most 100 bytes a
document on top of the neighbour lists, and none is lost; the published procedure beside it.

python benchmarks/cluster.py [--documents 20000 100000 500000]

Made-up vectors: 64 dimensions, log-normal groups (median 12, sigma 0.8) with a cosine of about
0.5 inside, 5 % of documents in no group. 32 neighbours each from an inverted file, 8 of
3 sqrt(n) cells probed, so the lists are approximate. Seed 13. The published procedure in plain
Python is the reference that the tests hold; the script stops where paper_compatible differs
from it. Bytes are the peak of a run of its own, counted by tracemalloc. "shuffled" is the
adjusted Rand index between the clusters of the corpus and of the same corpus with its rows
shuffled, for the same lists; "short" counts the chains below the size, before the merge.
"""

from __future__ import annotations

import argparse
import os
import runpy
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mtrlib.synthesis.cluster_report import adjusted_rand, cluster_report
from mtrlib.synthesis.clustering import Clusters, cluster

ROOT = Path(__file__).resolve().parents[1]
DIMENSION, K, SIZE, SEED, PROBES = 64, 32, 8, 13, 8
COLUMNS = [
    "lost", "clusters", "undersized", "size_p50", "size_p99", "size_max", "exact", "cosine_mean",
    "cosine_min", "pair_purity",
]  # fmt: skip

Way = Callable[[np.ndarray, list[str]], Any]
published = runpy.run_path(str(ROOT / "tests" / "unit" / "test_clustering.py"))["published"]
WAYS: dict[str, Way] = {
    "published, Python": lambda knn, names: published(knn, SIZE),
    "published, ours": lambda knn, names: cluster(knn, size=SIZE, paper_compatible=True),
    "ours, ascending": lambda knn, names: cluster(knn, size=SIZE),
    "ours, free": lambda knn, names: cluster(knn, size=SIZE, order="free", document_ids=names),
}


def made_up(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors, shape (n, DIMENSION), and the group of each document."""
    rng = np.random.default_rng(SEED)
    sizes = np.maximum(1, rng.lognormal(np.log(12), 0.8, n // 8 + 100).astype(int))
    groups = np.repeat(np.arange(len(sizes)), sizes)[:n]
    assert len(groups) == n
    centres = rng.standard_normal((len(sizes), DIMENSION))
    vectors = centres[groups] + rng.standard_normal((n, DIMENSION))
    background = np.flatnonzero(rng.random(n) < 0.05)
    vectors[background] = rng.standard_normal((len(background), DIMENSION))
    groups[background] = len(sizes) + np.arange(len(background))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = rng.permutation(n)
    return vectors[rows].astype(np.float32), groups[rows]


def neighbours(vectors: np.ndarray) -> np.ndarray:
    import faiss

    cells = int(3 * len(vectors) ** 0.5)
    quantizer = faiss.IndexFlatIP(DIMENSION)
    index = faiss.IndexIVFFlat(quantizer, DIMENSION, cells, faiss.METRIC_INNER_PRODUCT)
    index.cp.niter, index.cp.seed, index.nprobe = 8, SEED, PROBES
    index.train(vectors[: 40 * cells])
    index.add(vectors)
    return index.search(vectors, K)[1].astype(np.int32)


def peak_bytes(way: Way, knn: np.ndarray, names: list[str]) -> float:
    tracemalloc.start()
    way(knn, names)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / len(knn)


def seconds(way: Way, knn: np.ndarray, names: list[str], times: int) -> tuple[float, Any]:
    spent, found = [], None
    for _ in range(times):
        started = time.perf_counter()
        found = way(knn, names)
        spent.append(time.perf_counter() - started)
    return min(spent), found


def under_shuffle(way: Way, knn: np.ndarray, names: list[str], first: Clusters) -> float:
    rows = np.random.default_rng(SEED).permutation(len(knn))
    back = np.append(np.argsort(rows), -1).astype(np.int32)  # padding stays padding
    moved = way(back[knn][rows], [names[row] for row in rows])
    labels = np.empty_like(moved.labels)
    labels[rows] = moved.labels
    moved.labels[:] = labels
    return adjusted_rand(first, moved)


def assert_same(reference: tuple[list[list[int]], list[int]], ours: Clusters) -> None:
    clusters, lost = reference
    assert lost == ours.lost.tolist()
    assert len(clusters) == len(ours)
    assert all(a == b.tolist() for a, b in zip(clusters, ours, strict=True))


def compile_seconds() -> float:
    """Seconds of a first call with an empty cache of compiled code."""
    code = "from mtrlib.synthesis.clustering import cluster\n" + (
        "cluster([[1], [0]], size=1, order='free', document_ids=['a', 'b'])"
    )
    with tempfile.TemporaryDirectory() as folder:
        settings = {**os.environ, "NUMBA_CACHE_DIR": folder, "PYTHONPATH": str(ROOT)}
        spent = []
        for _ in range(2):  # the second finds the compiled code
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], env=settings, check=True)
            spent.append(time.perf_counter() - started)
    return spent[0] - spent[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, nargs="+", default=[20_000, 100_000, 500_000])
    asked = parser.parse_args()
    print(f"compiling takes {compile_seconds():.1f} s once; it is not in the seconds below")
    heads = ["documents", "way", "seconds", "bytes/doc", "shuffled", "chains", "short", *COLUMNS]
    print(*(f"{h:>17}" if h == "way" else f"{h:>11}" for h in heads))
    for n in asked.documents:
        vectors, groups = made_up(n)
        started = time.perf_counter()
        knn, names = neighbours(vectors), [f"d{row}" for row in range(n)]
        took, padded = time.perf_counter() - started, (knn < 0).any(axis=1).mean()
        print(f"{n:>11,} neighbour lists in {took:.0f} s, {padded:.2%} of them padded", flush=True)
        for name, way in WAYS.items():
            slow = name.endswith("Python")
            spent, found = seconds(way, knn, names, 1 if slow else 3)
            line = [f"{n:>11,}", f"{name:>17}", f"{spent:>11.3f}"]
            line.append(f"{peak_bytes(way, knn, names):>11.0f}")
            if slow:
                assert_same(found, cluster(knn, size=SIZE, paper_compatible=True))
            else:
                report = cluster_report(found, vectors=vectors, groups=groups)
                line.append(f"{under_shuffle(way, knn, names, found):>11.3f}")
                line += [f"{count:>11}" for count in (found.n_chains, found.n_undersized_chains)]
                line += [f"{report[column]:>11.7g}" for column in COLUMNS[:6]]
                line += [f"{report[column]:>11.3f}" for column in COLUMNS[6:]]
            print(*line, flush=True)


if __name__ == "__main__":
    main()
