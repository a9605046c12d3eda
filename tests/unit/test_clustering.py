"""Greedy-traversal clustering: the published procedure, and what ours holds beyond it."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from mtrlib.errors import InputError
from mtrlib.synthesis.cluster_report import adjusted_rand
from mtrlib.synthesis.clustering import Clusters, cluster
from mtrlib.synthesis.knn import nearest_documents


def published(knn: np.ndarray, size: int) -> tuple[list[list[int]], list[int]]:
    """The published procedure step by step, slow: clusters in creation order, and the lost.

    ``set.pop`` takes the smallest number from a set that was filled with 0 to n - 1 and
    never added to; the released code relies on it.
    """
    unvisited, visited = set(range(len(knn))), set()
    if not unvisited:
        return [], []
    current, number, length = unvisited.pop(), 0, 1
    clusters = {0: [current]}
    visited.add(current)
    while unvisited:
        near = (d for d in knn[current].tolist() if d not in visited and d != -1)
        following = next(near, None)
        if following is None or length >= size:
            current = unvisited.pop()
            number, length = number + 1, 0
        else:
            current = following
            unvisited.remove(current)
        clusters.setdefault(number, []).append(current)
        visited.add(current)
        length += 1
    return merged_as_published(knn, size, clusters)


def merged_as_published(
    knn: np.ndarray, size: int, clusters: dict[int, list[int]]
) -> tuple[list[list[int]], list[int]]:
    owner = {d: number for number, members in clusters.items() for d in members}
    lost = []
    for number in list(clusters):
        if len(clusters[number]) >= size:
            continue
        for document in clusters[number]:
            others = (d for d in knn[document].tolist() if d != -1 and owner[d] != number)
            target = next(others, None)
            if target is None or owner[target] not in clusters:
                lost.append(document)
                continue
            host = clusters[owner[target]]
            host.insert(host.index(target), document)
            owner[document] = owner[target]
        del clusters[number]
    return [clusters[number] for number in sorted(clusters)], sorted(lost)


def lists(clusters: Clusters) -> list[list[int]]:
    return [rows.tolist() for rows in clusters]


def assert_whole(clusters: Clusters, n: int) -> None:
    """Every document is in exactly one cluster, within the cap."""
    assert sorted(clusters.members.tolist()) == list(range(n))
    assert clusters.lost.size == 0
    for number, rows in enumerate(clusters):
        assert (clusters.labels[rows] == number).all()
    assert clusters.cap is not None
    assert 1 <= clusters.sizes.min() <= clusters.sizes.max() <= clusters.cap


def random_lists(rng: np.random.Generator) -> np.ndarray:
    """Lists with padding, repeats and selves; narrow ones, so that groups form and close."""
    n, k = int(rng.integers(1, 60)), int(rng.integers(1, 8))
    reach = int(rng.integers(1, 10))
    knn = np.arange(n)[:, None] + rng.integers(-reach, reach + 1, size=(n, k))  # (n, k)
    knn = knn.clip(0, n - 1)
    knn[rng.random((n, k)) < rng.choice([0, 0.2, 0.6])] = -1
    return knn


def test_paper_mode_equals_the_published_procedure_on_random_lists() -> None:
    rng = np.random.default_rng(13)
    n_moved = n_lost = n_kept = 0
    for _ in range(200):
        knn, size = random_lists(rng), int(rng.integers(1, 10))
        clusters, lost = published(knn, size)
        ours = cluster(knn, size=size, paper_compatible=True)
        assert lists(ours) == clusters
        assert ours.lost.tolist() == lost
        assert (ours.labels[lost] == -1).all()
        n_moved += ours.n_moved
        n_lost += len(lost)
        n_kept += len(ours.members)
    assert min(n_moved, n_lost, n_kept) > 300  # the lists try all branches


def test_set_pop_takes_the_smallest_row() -> None:
    unvisited = set(range(1000))
    unvisited -= {0, 1, 5, 999}
    assert [unvisited.pop() for _ in range(4)] == [2, 3, 4, 6]


def test_a_chain_follows_the_last_document_and_not_the_first() -> None:
    # 0 lists 2 before 3, but from 1 the way goes to 3
    knn = [[1, 2, 3], [3, 0, 2], [0, 1, 3], [1, 2, 0]]
    assert lists(cluster(knn, size=4)) == [[0, 1, 3, 2]]


def test_hubs_swallow_everything_as_published_and_are_capped_in_ours() -> None:
    knn = np.tile(np.arange(20), (2000, 1))
    paper = cluster(knn, size=8, paper_compatible=True)
    assert paper.sizes.tolist() == [1992, 8]
    ours = cluster(knn, size=8)
    assert_whole(ours, 2000)
    assert ours.sizes.tolist() == [16, 16] + [8] * 246
    assert ours.n_joined == 1968 - 246


@pytest.mark.parametrize("k", [2, 3, 5])
def test_groups_below_the_size_without_a_way_out_are_lost_only_as_published(k: int) -> None:
    group = np.arange(1000) // 5 * 5
    knn = group[:, None] + (np.arange(1000)[:, None] + np.arange(k)) % 5
    paper = cluster(knn, size=8, paper_compatible=True)
    assert (len(paper), len(paper.lost)) == (0, 1000)
    ours = cluster(knn, size=8)
    assert_whole(ours, 1000)
    assert [sorted(rows) for rows in lists(ours)] == [
        list(range(first, first + 5)) for first in range(0, 1000, 5)
    ]


def test_a_corpus_below_the_size_is_one_cluster() -> None:
    knn = np.tile(np.arange(5), (5, 1))
    assert cluster(knn, size=8, paper_compatible=True).lost.tolist() == [0, 1, 2, 3, 4]
    assert lists(cluster(knn, size=8)) == [[0, 1, 2, 3, 4]]


@pytest.mark.parametrize(
    "row", [[-1, -1, -1], "self", "self and padding"], ids=["padding", "self", "both"]
)
def test_documents_without_neighbours_stay_alone(row: list[int] | str) -> None:
    own = np.arange(30)[:, None]
    knn = {"self": np.tile(own, 3), "self and padding": np.hstack([own, own * 0 - 1])}.get(
        str(row), np.full((30, 3), -1)
    )
    assert len(cluster(knn, size=8, paper_compatible=True).lost) == 30
    assert lists(cluster(knn, size=8)) == [[d] for d in range(30)]


def test_padding_is_never_read_as_the_last_document() -> None:
    knn = [[1, -1], [0, -1], [-1, -1]]
    assert lists(cluster(knn, size=2)) == [[0, 1], [2]]


def test_repeats_in_a_list_change_nothing() -> None:
    rng = np.random.default_rng(5)
    knn = random_lists(rng)
    assert lists(cluster(np.repeat(knn, 3, axis=1), size=4)) == lists(cluster(knn, size=4))


def test_a_tenth_of_the_rows_with_only_themselves_loses_nothing() -> None:
    rng = np.random.default_rng(2)
    knn = rng.integers(0, 2000, size=(2000, 12))
    alone = rng.permutation(2000)[:200]
    knn[alone] = alone[:, None]
    assert len(cluster(knn, size=8, paper_compatible=True).lost) > 50
    assert_whole(cluster(knn, size=8), 2000)


def test_a_full_neighbour_is_passed_over_for_the_next_with_room() -> None:
    # chains [0 1], [2 3], [4], [5]; 4 fills the first at cap 3, so 5 goes to the second
    knn = [[1, 1], [0, 0], [3, 3], [2, 2], [1, 3], [1, 3]]
    assert lists(cluster(knn, size=2, cap=3)) == [[0, 4, 1], [2, 5, 3]]
    assert lists(cluster(knn, size=2, cap=4)) == [[0, 4, 5, 1], [2, 3]]


def test_leftovers_around_one_neighbour_are_joined_up_to_the_size() -> None:
    # 2 to 6 list only 0, whose cluster is full from the start
    knn = [[1], [0], [0], [0], [0], [0], [0]]
    ours = cluster(knn, size=2, cap=2)
    assert lists(ours) == [[0, 1], [2, 3], [4, 5], [6]]
    assert (ours.n_chains, ours.n_undersized_chains, ours.n_moved, ours.n_joined) == (6, 5, 0, 2)


def test_leftovers_that_would_exceed_the_cap_are_not_joined() -> None:
    knn = [[1, 2], [2, 0], [0, 1], [4, 0], [3, 0], [6, 0], [5, 0]]
    assert lists(cluster(knn, size=3, cap=3)) == [[0, 1, 2], [3, 4], [5, 6]]


def vectors_with_copies(rng: np.random.Generator, n: int) -> np.ndarray:
    vectors = rng.standard_normal((n, 6)).astype(np.float32)
    vectors[n // 2 : n // 2 + 20] = vectors[:20]
    return vectors


def by_name(clusters: Clusters, names: list[str]) -> list[list[str]]:
    return [[names[row] for row in rows] for rows in clusters]


def test_free_order_does_not_depend_on_the_order_of_rows() -> None:
    rng = np.random.default_rng(8)
    vectors, names = vectors_with_copies(rng, 400), [f"d{i}" for i in range(400)]
    knn = nearest_documents(names, vectors, 10)
    expected = by_name(cluster(knn, size=5, order="free", document_ids=names), names)
    for _ in range(5):
        rows = rng.permutation(400)
        shuffled = [names[row] for row in rows]
        knn = nearest_documents(shuffled, vectors[rows], 10)
        found = cluster(knn, size=5, order="free", document_ids=shuffled)
        assert by_name(found, shuffled) == expected
        assert_whole(found, 400)


def test_free_order_does_not_depend_on_names_where_no_two_documents_are_alike() -> None:
    rng = np.random.default_rng(9)
    names = [f"d{i}" for i in range(300)]
    knn = nearest_documents(names, rng.standard_normal((300, 6)), 8)
    renamed = [names[row] for row in rng.permutation(300)]
    first = cluster(knn, size=5, order="free", document_ids=names)
    assert lists(first) == lists(cluster(knn, size=5, order="free", document_ids=renamed))


def test_ascending_order_depends_on_the_order_of_rows() -> None:
    rng = np.random.default_rng(9)
    vectors, rows = rng.standard_normal((300, 6)), rng.permutation(300)
    names = np.array([f"d{i:03}" for i in range(300)])
    first = cluster(nearest_documents(names.tolist(), vectors, 8), size=5)
    second = cluster(nearest_documents(names[rows].tolist(), vectors[rows], 8), size=5)
    again = replace(second, labels=second.labels[np.argsort(rows)])
    assert adjusted_rand(first, again) < 0.8


def test_alike_documents_start_by_id() -> None:
    knn = [[1], [0], [3], [2]]  # two pairs that the graph cannot tell apart
    found = cluster(knn, size=2, order="free", document_ids=["c", "d", "b", "a"])
    assert lists(found) == [[3, 2], [0, 1]]


def test_shuffled_starts_follow_the_generator() -> None:
    knn = random_lists(np.random.default_rng(1))

    def of(seed: int) -> list[list[int]]:
        return lists(cluster(knn, size=4, order="shuffled", rng=np.random.default_rng(seed)))

    assert of(1) == of(1)
    assert of(1) != of(2)


def test_type_and_layout_of_the_lists_do_not_matter() -> None:
    knn = random_lists(np.random.default_rng(3))
    expected = lists(cluster(knn.astype(np.int32), size=4))
    frozen = knn.astype(np.int32)
    frozen.setflags(write=False)
    for given in (knn.tolist(), np.asfortranarray(knn), frozen):
        assert lists(cluster(given, size=4)) == expected


@pytest.mark.parametrize("order", ["ascending", "shuffled", "free"])
def test_memory_stays_below_100_bytes_a_document(order: str) -> None:
    n = 20_000
    knn = np.random.default_rng(0).integers(0, n, size=(n, 12), dtype=np.int32)
    names = [str(i) for i in range(n)]
    settings = {
        "shuffled": {"rng": np.random.default_rng(0)},
        "free": {"document_ids": names},
    }.get(order, {})
    cluster(knn, size=8, order=order, **settings)  # compiled before memory is counted
    tracemalloc.start()
    cluster(knn, size=8, order=order, **settings)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak <= 100 * n


def test_an_empty_corpus_has_no_clusters() -> None:
    for paper_compatible in (False, True):
        found = cluster(np.empty((0, 4), np.int32), size=8, paper_compatible=paper_compatible)
        assert (len(found), found.members.size, found.lost.size) == (0, 0, 0)


def test_lists_of_length_zero_leave_everyone_alone() -> None:
    assert lists(cluster(np.empty((3, 0)), size=2)) == [[0], [1], [2]]


def test_a_cluster_out_of_range_is_an_index_error() -> None:
    found = cluster([[1], [0]], size=2)
    for wrong in (-1, 1):
        with pytest.raises(IndexError, match="of 1"):
            found[wrong]


@pytest.mark.parametrize(
    ("knn", "settings", "named"),
    [
        ([[0, 5], [1, 0]], {}, "document 0 lists 5"),
        ([[0, 1], [-2, 0]], {}, "document 1 lists -2"),
        ([0, 1], {}, r"shape \(2,\)"),
        ([[0.5, 1.0]], {}, "float64"),
        ([[0]], {"size": 0}, "size=0"),
        ([[0]], {"cap": 7}, "cap=7 is below size=8"),
        ([[0]], {"order": "random"}, "order 'random' is unknown"),
        ([[0]], {"order": "free"}, "document_ids for 'free'"),
        ([[0]], {"order": "shuffled"}, "a generator for 'shuffled'"),
        ([[0]], {"document_ids": ["a"]}, "neither for 'ascending'"),
        ([[0]], {"order": "free", "document_ids": ["a", "b"]}, "2 document ids for 1 rows"),
        ([[1], [0]], {"order": "free", "document_ids": ["a", "a"]}, "'a' occurs twice"),
        ([[0]], {"paper_compatible": True, "cap": 16}, "no cap"),
        ([[0]], {"paper_compatible": True, "order": "shuffled"}, "ascending"),
    ],
)
def test_what_cannot_be_clustered_is_refused(knn, settings, named) -> None:
    with pytest.raises(InputError, match=named):
        cluster(knn, **{"size": 8, **settings})
