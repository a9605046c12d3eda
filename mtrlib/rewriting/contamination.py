"""Contamination of the HyDE path: passages that hold what the hypothetical answer made up."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from mtrlib.rewriting.entities import invented
from mtrlib.rewriting.mentions import Mentioned
from mtrlib.rewriting.methods import MethodRun
from mtrlib.rewriting.plans import paths_of

HYPOTHETICAL = "hypothetical"  # name of the path


def contamination(
    applied: MethodRun, known: Mapping[str, Sequence[str]], passages: Mapping[str, Mentioned]
) -> pd.DataFrame:
    """Per query, how many passages of the HyDE path hold an invented entity.

    Parameters
    ----------
    applied : a run of HyDE.
    known : query id -> texts that license an entity: the query (with its history, where the
        original text leans on it) and the gold passages.
    passages : passage id -> text with title, for example ``Truth.mentions``.

    Returns
    -------
    DataFrame
        Indexed by ``query_id``, the queries that HyDE was used for: ``listed`` (passages on
        the path), ``contaminated``, ``invented`` (entities, joined by "; ").

    Notes
    -----
    The rate of a set is pooled: contaminated over listed of all queries. Queries without gold
    belong in no such rate, since everything would look invented: leave them out of ``known``.
    """
    rows = []
    for query_id in applied.used:
        if query_id not in known:
            continue
        plan = applied.plans[query_id]
        paths = paths_of(plan, HYPOTHETICAL)
        if not paths:
            continue
        found = sorted({e for p in paths for e in invented(p.text, *known[query_id])})
        ids = [i for p in paths for i in applied.lists[query_id][p.name]]
        held = sum(passages[i].any(found) for i in ids) if found else 0
        rows.append((query_id, len(ids), held, "; ".join(found)))
    columns = ["query_id", "listed", "contaminated", "invented"]
    return pd.DataFrame(rows, columns=columns).set_index("query_id")


def contamination_rate(
    applied: MethodRun, known: Mapping[str, Sequence[str]], passages: Mapping[str, Mentioned]
) -> float:
    """Contaminated passages over all passages of the HyDE paths; NaN without any."""
    table = contamination(applied, known, passages)
    listed = int(table["listed"].sum())
    return float(table["contaminated"].sum() / listed) if listed else math.nan
