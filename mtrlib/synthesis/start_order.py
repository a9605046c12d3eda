"""Where the chains of greedy-traversal clustering begin."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from numba import njit

from mtrlib.errors import InputError

Ints = npt.NDArray[np.int32]
Keys = npt.NDArray[np.uint64]

ROUNDS = 2  # how far around a document its key looks; one round tells nearly all apart
ONE, PRIME, HALF = np.uint64(1), np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


def start_order(
    knn: Ints, order: str, document_ids: Sequence[str] | None, rng: np.random.Generator | None
) -> Ints:
    """Permutation of the rows in which chains begin, int32 of shape (n_documents,).

    Parameters
    ----------
    knn : rows of the nearest neighbours, int32 of shape (n_documents, k), -1 for padding.
    order : ``ascending``, ``shuffled`` (needs ``rng``) or ``free`` (needs ``document_ids``).
    document_ids : one per row; decide between documents whose surroundings are the same.
    rng : the generator to draw from.

    Raises
    ------
    InputError
        An unknown order, one without what it needs, or ids that are not one per row, or
        that repeat where they decide.
    """
    needs = {"ascending": (False, False), "shuffled": (False, True), "free": (True, False)}
    if order not in needs:
        raise InputError(f"order {order!r} is unknown. Known: {', '.join(needs)}.")
    if needs[order] != (document_ids is not None, rng is not None):
        raise InputError(
            f"order {order!r} does not go with what is given. Mend: document_ids for 'free', a "
            "generator for 'shuffled', neither for 'ascending'."
        )
    rows = np.arange(len(knn), dtype=np.int32)
    if rng is not None:
        rng.shuffle(rows)
    return rows if document_ids is None else _by_surroundings(knn, document_ids)


def _by_surroundings(knn: Ints, document_ids: Sequence[str]) -> Ints:
    if len(document_ids) != len(knn):
        raise InputError(f"{len(document_ids)} document ids for {len(knn)} rows. Mend: one each.")
    keys, previous = np.empty(len(knn), np.uint64), np.empty(len(knn), np.uint64)
    _fingerprint(knn, ROUNDS, keys, previous)
    rows = np.argsort(keys, kind="stable").astype(np.int32)
    ordered = keys[rows]  # (n_documents,)
    tied = np.diff(ordered[1:] == ordered[:-1], prepend=False, append=False)
    edges = np.flatnonzero(tied)  # first and last place of every run of equal keys
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        run = sorted(rows[first : last + 1].tolist(), key=document_ids.__getitem__)
        for row, following in pairwise(run):
            if document_ids[row] == document_ids[following]:
                raise InputError(
                    f"document id {document_ids[row]!r} occurs twice. Mend: give unique ids."
                )
        rows[first : last + 1] = run
    return rows


@njit(cache=True)
def _fingerprint(knn: Ints, rounds: int, keys: Keys, previous: Keys) -> None:
    """Fill ``keys`` with a hash of the neighbour graph around each document.

    The first key is the in-degree; each round mixes in the keys of the listed neighbours in
    their order (Weisfeiler and Leman, 1968). Names and order of rows have no influence.
    """
    keys[:] = 0
    for document in range(len(knn)):
        for neighbour in knn[document]:
            if neighbour >= 0 and neighbour != document:
                keys[neighbour] += ONE
    for _ in range(rounds):
        previous[:] = keys
        for document in range(len(knn)):
            key = previous[document]
            for neighbour in knn[document]:
                if neighbour >= 0 and neighbour != document:
                    key = (key ^ previous[neighbour]) * PRIME
                    key ^= key >> HALF
            keys[document] = key
