"""Methods in pairs: what a pair gains beyond the sum of its parts; and effects per label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from mtrlib.data.schema import Turn
from mtrlib.errors import InputError
from mtrlib.evaluation.significance import bootstrap_interval, holm, paired_difference
from mtrlib.retrieval.search import Searcher
from mtrlib.rewriting.chain import ORDER, Chain
from mtrlib.rewriting.labels import Attribution
from mtrlib.rewriting.methods import MethodRun, apply_method
from mtrlib.rewriting.plans import Fusion, Method
from mtrlib.rewriting.remembered import remembered


def run_pairs(
    methods: Sequence[Method],
    searcher: Searcher,
    turns: Sequence[Turn],
    *,
    texts: Mapping[str, str] | None = None,
    fusion: Fusion | None = None,
) -> dict[tuple[str, ...], MethodRun]:
    """Every method alone and every pair, in the order of the chain; equal texts searched once.

    Returns
    -------
    dict
        ``(name,)`` and ``(name, name)`` -> run.
    """
    search = remembered(searcher)
    how: dict[str, Any] = {"texts": texts, "fusion": fusion}
    ordered = sorted(methods, key=lambda m: ORDER.index(m.name))
    found: dict[tuple[str, ...], MethodRun] = {}
    found |= {(m.name,): apply_method(m, search, turns, **how) for m in ordered}
    for a, b in combinations(ordered, 2):
        found[a.name, b.name] = apply_method(Chain((a, b)), search, turns, **how)
    return found


def interaction_table(
    tables: Mapping[tuple[str, ...], pd.DataFrame],
    groups: Mapping[str, str],
    *,
    measure: str = "recall",
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """What each pair gains beyond the sum of what its parts gain alone.

    ``interaction = (pair - base) - (a - base) - (b - base)`` per query, over all queries with
    gold. Below 0: the two find the same, or drift together, since both lengthen the query.

    Parameters
    ----------
    tables : steps -> :func:`mtrlib.rewriting.harness.measured`, singles and pairs.
    measure : ``recall`` (@20) or ``ndcg`` (@5).

    Returns
    -------
    DataFrame
        Per pair ``first, second, alone_first, alone_second, together`` (gains in points),
        ``interaction`` with ``ci_low, ci_high``, ``n``, and ``reading``: "more than the sum",
        "less than the sum" or "within noise".

    Raises
    ------
    InputError
        A pair without its parts, or tables of different queries.
    """
    rows = []
    for steps in (s for s in tables if len(s) == 2):
        if any((name,) not in tables for name in steps):
            raise InputError(f"pair {steps}: a part was not run alone. Mend: see run_pairs.")
        both, a, b = (_gain(tables[s], measure) for s in (steps, steps[:1], steps[1:]))
        if not (both.index.equals(a.index) and both.index.equals(b.index)):
            raise InputError(f"pair {steps}: its tables are of different queries.")
        found = bootstrap_interval(
            both - a - b, groups=groups, resamples=resamples, confidence=confidence, rng=rng
        )
        within = not (found.low > 0 or found.high < 0)
        sign = "more" if found.value > 0 else "less"
        reading = "within noise" if within else f"{sign} than the sum"
        means = [float(x.mean()) for x in (a, b, both)]
        rows.append((*steps, *means, found.value, found.low, found.high, found.n, reading))
    columns = ["first", "second", "alone_first", "alone_second", "together", "interaction"]
    return pd.DataFrame(rows, columns=[*columns, "ci_low", "ci_high", "n", "reading"])


def _gain(table: pd.DataFrame, measure: str) -> pd.Series:
    return 100 * (table[f"{measure}_after"] - table[f"{measure}_before"])


def effect_by_label(
    tables: Mapping[str, pd.DataFrame],
    attribution: Attribution,
    groups: Mapping[str, str],
    *,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """ΔRecall@20 of every method per failure label: does it help the label it is said to help?

    Returns
    -------
    DataFrame
        ``method, label, points, ci_low, ci_high, p_value, p_holm`` (over all rows), ``n``,
        ``used`` (queries of the label that the method changed) and ``note`` ("too few to decide
        on" below the least number of examples). Queries that did not fail are the label
        ``found before``: what a method breaks shows there.

    Notes
    -----
    Labels are given where the baseline found nothing, so that any change can only gain there;
    read a label against the others, and with ``found before``.
    """
    labels = {q: label for label, own in attribution.groups().items() for q in own}
    rows = []
    for method, table in tables.items():
        label_of = pd.Series([labels.get(str(q), FOUND) for q in table.index], index=table.index)
        for label in dict.fromkeys([*attribution.groups(), FOUND]):
            own = table[label_of == label]
            if own.empty:
                continue
            d = paired_difference(
                100 * own["recall_before"], 100 * own["recall_after"], groups=groups,
                resamples=resamples, confidence=confidence, rng=rng,
            )  # fmt: skip
            note = "" if d.n >= attribution.least else "too few to decide on"
            used = int(own["used"].sum())
            rows.append((method, label, d.value, d.low, d.high, d.p_value, d.n, used, note))
    columns = ["method", "label", "points", "ci_low", "ci_high", "p_value", "n", "used", "note"]
    found = pd.DataFrame(rows, columns=columns)
    found.insert(6, "p_holm", holm(found["p_value"]) if len(found) else [])
    return found


FOUND = "found before"
