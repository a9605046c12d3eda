"""Compiled steps of greedy-traversal clustering; :mod:`mtrlib.synthesis.clustering` calls them.

Documents and clusters are rows, -1 is "none". No step allocates: the caller makes every array,
so that the memory of a run can be read in one place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.int32]


class Lists(NamedTuple):
    """Clusters as doubly linked lists, each array of shape (n_documents,).

    ``head[c]`` is the first document of cluster c and ``sizes[c]`` its size; ``owner[d]`` is
    the cluster of document d, ``before[d]`` and ``after[d]`` stand next to it.
    """

    owner: Ints
    before: Ints
    after: Ints
    head: Ints
    sizes: Ints


@njit(cache=True)
def traverse(knn: Ints, starts: Ints, size: int, lists: Lists) -> int:
    """Chain every document to its nearest unvisited neighbour, ``size`` to a chain.

    A chain that is full, or has no way on, ends; the next begins at the first unvisited
    document of ``starts``. Returns the number of chains.
    """
    lists.owner[:] = -1
    chain, current, cursor = -1, -1, 0
    for _ in range(len(knn)):
        following = -1
        if chain >= 0 and lists.sizes[chain] < size:
            for neighbour in knn[current]:
                if neighbour >= 0 and lists.owner[neighbour] < 0:
                    following = neighbour
                    break
        if following >= 0:
            lists.after[current] = following
            lists.before[following] = current
        else:
            while lists.owner[starts[cursor]] >= 0:
                cursor += 1
            following = starts[cursor]
            chain += 1
            lists.head[chain] = following
            lists.sizes[chain] = 0
            lists.before[following] = -1
        current = following
        lists.after[current] = -1
        lists.owner[current] = chain
        lists.sizes[chain] += 1
    return chain + 1


@njit(cache=True)
def _destination(knn: Ints, document: int, cap: int, lists: Lists) -> int:
    """The nearest neighbour in another cluster that has room."""
    for neighbour in knn[document]:
        if neighbour >= 0 and lists.owner[neighbour] != lists.owner[document]:
            members = lists.sizes[lists.owner[neighbour]]
            if members == 0:  # this neighbour was lost; as published, no other is tried
                return -1
            if members < cap:
                return neighbour
    return -1


@njit(cache=True)
def _move(document: int, target: int, lists: Lists) -> None:
    """Take a document out of its cluster and put it just before ``target``."""
    left, right = lists.before[document], lists.after[document]
    if left >= 0:
        lists.after[left] = right
    else:
        lists.head[lists.owner[document]] = right
    if right >= 0:
        lists.before[right] = left
    lists.sizes[lists.owner[document]] -= 1
    left = lists.before[target]
    if left >= 0:
        lists.after[left] = document
    else:
        lists.head[lists.owner[target]] = document
    lists.before[document] = left
    lists.after[document] = target
    lists.before[target] = document
    lists.owner[document] = lists.owner[target]
    lists.sizes[lists.owner[target]] += 1


@njit(cache=True)
def merge(knn: Ints, n_chains: int, size: int, cap: int, drops: bool, lists: Lists) -> int:
    """Hand the documents of undersized clusters over to the clusters of their neighbours.

    Clusters come in creation order, each with what it has received by then. A document that
    no cluster can take stays where it is, or, with ``drops``, is lost. Returns the moves.
    """
    moves = 0
    for cluster in range(n_chains):
        if lists.sizes[cluster] >= size:
            continue
        document = lists.head[cluster]
        while document >= 0:
            following = lists.after[document]
            target = _destination(knn, document, cap, lists)
            if target >= 0:
                _move(document, target, lists)
                moves += 1
            document = following
        if drops:
            lists.head[cluster] = -1
            lists.sizes[cluster] = 0
    return moves


@njit(cache=True)
def gather(knn: Ints, n_chains: int, size: int, cap: int, waiting: Ints, lists: Lists) -> int:
    """Join undersized clusters around a neighbour that they share.

    What :func:`merge` leaves had neighbours in full clusters only, as around a hub. Clusters
    whose first documents have the same nearest neighbour outside are joined until they are
    of ``size``; ``waiting[h]`` is the one that grows around h. Returns the joins.
    """
    joins = 0
    waiting[:] = -1
    for cluster in range(n_chains):
        joining = lists.sizes[cluster]
        if joining == 0 or joining >= size:
            continue
        hub = -1
        for neighbour in knn[lists.head[cluster]]:
            if neighbour >= 0 and lists.owner[neighbour] != cluster:
                hub = neighbour
                break
        if hub < 0:
            continue
        host = waiting[hub]
        if host < 0 or lists.sizes[host] >= size or lists.sizes[host] + joining > cap:
            waiting[hub] = cluster
            continue
        _append(cluster, host, lists)
        joins += 1
    return joins


@njit(cache=True)
def _append(cluster: int, host: int, lists: Lists) -> None:
    tail = lists.head[host]
    while lists.after[tail] >= 0:
        tail = lists.after[tail]
    document = lists.head[cluster]
    lists.after[tail] = document
    lists.before[document] = tail
    while document >= 0:
        lists.owner[document] = host
        document = lists.after[document]
    lists.sizes[host] += lists.sizes[cluster]
    lists.head[cluster] = -1
    lists.sizes[cluster] = 0


@njit(cache=True)
def read_out(n_chains: int, lists: Lists, labels: Ints, members: Ints, offsets: Ints) -> int:
    """Write the surviving clusters one after another, numbered from 0 in creation order.

    ``labels`` stays -1 for a document in none. Returns the number of clusters.
    """
    labels[:] = -1
    offsets[0] = 0
    n_clusters, position = 0, 0
    for cluster in range(n_chains):
        document = lists.head[cluster]
        if document < 0:
            continue
        while document >= 0:
            labels[document] = n_clusters
            members[position] = document
            position += 1
            document = lists.after[document]
        n_clusters += 1
        offsets[n_clusters] = position
    return n_clusters
