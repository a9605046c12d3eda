"""The one order of a ranked list: score as float32, then passage id, both descending."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mtrlib.errors import InputError


def rank_by_score(scores: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """Fix the rank order of one query's passages, best first.

    Two scores that are equal once rounded to float32 are tied; of tied passages the one
    whose id is larger in code point order comes first. The order depends on nothing else,
    in particular not on the order in which ``scores`` was filled.

    Parameters
    ----------
    scores : ``passage_id -> score``, larger is better, in any unit.

    Returns
    -------
    tuple
        ``(passage_id, score)`` with the scores as given, not as rounded.

    Raises
    ------
    InputError
        For a score that is NaN, infinite or too large for float32.

    Notes
    -----
    trec_eval keeps scores as float32 and breaks ties in this way, so a run that is written
    out and scored elsewhere keeps its ranks. A caller that keeps only the best n should cut
    *after* ranking: a cut made on scores alone chooses among ties at random.

    Examples
    --------
    >>> rank_by_score({"a": 1.0, "b": 1.0, "c": 2.0})
    (('c', 2.0), ('b', 1.0), ('a', 1.0))
    """
    exact = np.fromiter(scores.values(), dtype=np.float64, count=len(scores))  # (n_passages,)
    with np.errstate(over="ignore"):
        rounded = exact.astype(np.float32)  # (n_passages,)
    if not np.isfinite(rounded).all():
        bad = next(p for p, ok in zip(scores, np.isfinite(rounded), strict=True) if not ok)
        raise InputError(
            f"passage {bad!r} has the score {scores[bad]!r}, which is no finite float32. "
            "Mend: drop the passage, or look for an empty or zero vector behind it."
        )
    order = sorted(zip(rounded.tolist(), scores, strict=True), reverse=True)
    return tuple((passage_id, float(scores[passage_id])) for _, passage_id in order)
