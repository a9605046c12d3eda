"""How general the passages are that only rewrites bring: do the same ones come for everybody?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from mtrlib.rewriting.methods import MethodRun
from mtrlib.rewriting.plans import ORIGINAL


def hubness(applied: MethodRun, groups: Mapping[str, str]) -> pd.DataFrame:
    """Occurrences of passages in the lists of other conversations, by how they were found.

    A passage that turns up for many unrelated queries is a hub: an overview, an introduction.
    Variants grow more general than their query and meet hubs first, so that the prompt fills
    with what is roughly right (seed 004). Queries of the same conversation are left out of the
    count: they share passages for a good reason.

    Returns
    -------
    DataFrame
        One row per ``found_by``: ``original`` (in the original's list), ``rewrites only``, and
        of the latter ``rewrites only, in prompt``: ``passages`` (query and passage pairs),
        ``other_conversations`` (mean number of other conversations in whose lists, original
        or rewrite, the passage stands), ``p90`` of the same, and ``skew`` of the occurrences over
        the distinct passages (the usual measure of hubness; NaN with fewer than three).

    References
    ----------
    Radovanović, Nanopoulos and Ivanović, "Hubs in space", 2010.
    """
    met: dict[str, set[str]] = {}
    for query_id, lists in applied.lists.items():
        for name in [ORIGINAL, *(path.name for path in applied.plans[query_id].paths)]:
            for passage_id in lists[name]:
                met.setdefault(passage_id, set()).add(groups[query_id])
    kinds: dict[str, list[tuple[str, str]]] = {kind: [] for kind in _KINDS}
    for query_id in applied.used:
        lists = applied.lists[query_id]
        original = set(lists[ORIGINAL])
        paths = applied.plans[query_id].paths
        new = sorted({p for path in paths for p in lists[path.name]} - original)
        prompt = set(applied.run.ids(query_id, applied.fusion.prompt_size))
        kinds[_KINDS[0]] += [(query_id, p) for p in lists[ORIGINAL]]
        kinds[_KINDS[1]] += [(query_id, p) for p in new]
        kinds[_KINDS[2]] += [(query_id, p) for p in new if p in prompt]
    rows = [_row(kind, pairs, met, groups) for kind, pairs in kinds.items()]
    columns = ["found_by", "passages", "other_conversations", "p90", "skew"]
    return pd.DataFrame(rows, columns=columns).set_index("found_by")


_KINDS = ("original", "rewrites only", "rewrites only, in prompt")


def _row(
    kind: str,
    pairs: list[tuple[str, str]],
    met: Mapping[str, set[str]],
    groups: Mapping[str, str],
) -> tuple[str, int, float, float, float]:
    others = [len(met[p] - {groups[q]}) for q, p in pairs]
    if not others:
        return kind, 0, math.nan, math.nan, math.nan
    return (
        kind,
        len(others),
        float(np.mean(others)),
        float(np.percentile(others, 90)),
        _skew(Counter(p for _, p in pairs).values()),
    )


def _skew(counts: Iterable[int]) -> float:
    """Third standardised moment; 0 where all are equal."""
    values = np.sort(np.fromiter(counts, dtype=float))  # (n_passages,)
    if len(values) < 3:
        return math.nan
    spread = values.std()
    return float(((values - values.mean()) ** 3).mean() / spread**3) if spread else 0.0
