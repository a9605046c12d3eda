"""What must hold for every partition, whatever the lists of neighbours are."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mtrlib.synthesis.clustering import Clusters, cluster

thorough = settings(max_examples=300, deadline=None)


@st.composite
def neighbour_lists(draw: st.DrawFn) -> np.ndarray:
    """Any rows at all: padding, repeats, selves, hubs, lists of length 0, no documents."""
    n, k = draw(st.integers(0, 40)), draw(st.integers(0, 6))
    reach = draw(st.integers(1, max(n, 1)))  # small: a few hubs that all list
    values = st.integers(-1, min(n, reach) - 1)
    return draw(hnp.arrays(np.int32, (n, k), elements=values))


@st.composite
def ways(draw: st.DrawFn, n: int) -> dict[str, Any]:
    """Settings of our mode, made anew at every call so that no generator is used twice."""
    size = draw(st.integers(1, 9))
    way: dict[str, Any] = {"size": size}
    if draw(st.booleans()):
        way["cap"] = draw(st.integers(size, 3 * size))
    order = draw(st.sampled_from(["ascending", "shuffled", "free"]))
    if order == "free":
        way["document_ids"] = draw(st.permutations([f"d{i}" for i in range(n)]))
    return {**way, "order": order}


def run(knn: np.ndarray, way: dict[str, Any]) -> Clusters:
    rng = np.random.default_rng(7) if way["order"] == "shuffled" else None
    return cluster(knn, rng=rng, **way)


def lists(clusters: Clusters) -> list[list[int]]:
    return [rows.tolist() for rows in clusters]


@thorough
@given(st.data(), neighbour_lists())
def test_every_document_is_in_exactly_one_cluster_within_the_cap(data, knn) -> None:
    way = data.draw(ways(len(knn)))
    found = run(knn, way)
    assert sorted(found.members.tolist()) == list(range(len(knn)))
    assert found.lost.size == 0
    assert sum(len(rows) for rows in found) == len(knn)
    for number, rows in enumerate(found):
        assert 1 <= len(rows) <= way.get("cap", 2 * way["size"])
        assert (found.labels[rows] == number).all()


@thorough
@given(st.data(), neighbour_lists())
def test_the_same_lists_give_the_same_partition(data, knn) -> None:
    way = data.draw(ways(len(knn)))
    first, before = run(knn, way), knn.copy()
    assert lists(run(knn, way)) == lists(first)
    assert (knn == before).all()


@thorough
@given(st.data(), neighbour_lists(), st.integers(1, 9))
def test_free_order_survives_any_order_of_rows(data, knn, size) -> None:
    n = len(knn)
    names = [f"d{i}" for i in range(n)]
    rows = np.array(data.draw(st.permutations(range(n))), dtype=int)
    back = np.append(np.argsort(rows), -1)  # padding stays padding
    moved = cluster(
        back[knn][rows], size=size, order="free", document_ids=[names[row] for row in rows]
    )
    first = cluster(knn, size=size, order="free", document_ids=names)
    assert [rows[members].tolist() for members in moved] == lists(first)


@thorough
@given(neighbour_lists(), st.integers(1, 9))
def test_paper_mode_says_what_it_loses(knn, size) -> None:
    found = cluster(knn, size=size, paper_compatible=True)
    assert sorted([*found.members.tolist(), *found.lost.tolist()]) == list(range(len(knn)))
    assert (found.sizes >= size).all()
    assert (found.labels[found.lost] == -1).all()
