"""Does a benchmark tell retrievers apart? Means with intervals, spread, paired comparisons.

Source: MTR-Suite, section 5 and Figure 2b, which shows a spread of Recall@20 alone. Here
every mean has an interval that resamples whole conversations, and a spread is compared
with the noise before it is called a difference.

The functions read one table, ``per_query``: one row per query, with the columns ``benchmark,
view, system, query_id, conversation_id, turn_number, value``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from mtrlib.evaluation.significance import bootstrap_interval, holm, paired_difference


def mean_intervals(
    per_query: pd.DataFrame,
    by: Sequence[str],
    *,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Mean per group of queries with its interval.

    Parameters
    ----------
    per_query : the table of this module; ``value`` is a fraction in [0, 1].
    by : columns that define a group, for example benchmark, view, system.

    Returns
    -------
    DataFrame
        One row per group, in order of appearance: ``by``, ``value``, ``ci_low``,
        ``ci_high`` (fractions), ``n_queries``, ``n_conversations``.
    """
    rows = []
    for key, group in per_query.groupby(list(by), sort=False):
        indexed = group.set_index("query_id")
        found = bootstrap_interval(
            indexed["value"],
            groups=indexed["conversation_id"],
            resamples=resamples,
            confidence=confidence,
            rng=rng,
        )
        rows.append((*key, found.value, found.low, found.high, found.n, found.n_groups))
    columns = [*by, "value", "ci_low", "ci_high", "n_queries", "n_conversations"]
    return pd.DataFrame(rows, columns=columns)


def compare_systems(
    per_query: pd.DataFrame,
    *,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """All pairs of systems per benchmark and view: difference, interval, corrected p-value.

    Returns
    -------
    DataFrame
        ``benchmark, view, worse, better, difference`` (at least 0, fraction), ``ci_low``,
        ``ci_high``, ``p_value`` and ``p_holm`` (corrected over the pairs of one benchmark
        and view), ``gained, lost`` (shares of queries), ``n_queries`` and ``verdict``:
        "differ" where the corrected p-value is below 1 - confidence, else "inconclusive".
    """
    how = {"resamples": resamples, "confidence": confidence, "rng": rng}
    tables = []
    for (benchmark, view), part in per_query.groupby(["benchmark", "view"], sort=False):
        means = part.groupby("system")["value"].mean()
        rows = []
        for pair in combinations(sorted(means.index), 2):
            worse, better = sorted(pair, key=lambda s: (means[s], s))
            names = {"benchmark": benchmark, "view": view, "worse": worse, "better": better}
            rows.append({**names, **_difference(part, "system", worse, better, **how)})
        if rows:
            table = _corrected(rows)
            table["verdict"] = np.where(table["p_holm"] < 1 - confidence, "differ", "inconclusive")
            tables.append(table)
    return pd.concat(tables, ignore_index=True)


def compare_views(
    per_query: pd.DataFrame,
    before: str,
    after: str,
    *,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """What a view gains over another, per benchmark and system, on the same queries.

    Returns
    -------
    DataFrame
        ``benchmark, system, before, after, difference`` (fraction), ``ci_low``, ``ci_high``,
        ``p_value``, ``p_holm`` (over all rows), ``gained, lost`` (shares of queries),
        ``n_queries``.
    """
    how = {"resamples": resamples, "confidence": confidence, "rng": rng}
    rows = []
    for (benchmark, system), part in per_query.groupby(["benchmark", "system"], sort=False):
        names = {"benchmark": benchmark, "system": system, "before": before, "after": after}
        rows.append({**names, **_difference(part, "view", before, after, **how)})
    return _corrected(rows)


def _difference(
    part: pd.DataFrame, column: str, first: str, second: str, **how: Any
) -> dict[str, float]:
    """Paired difference of two systems or views on the queries of one table."""
    values = part.pivot(index="query_id", columns=column, values="value")
    groups = part.drop_duplicates("query_id").set_index("query_id")["conversation_id"]
    found = paired_difference(values[first], values[second], groups=groups, **how)
    return {
        "difference": found.value,
        "ci_low": found.low,
        "ci_high": found.high,
        "p_value": found.p_value,
        "gained": found.n_gained / found.n,
        "lost": found.n_lost / found.n,
        "n_queries": found.n,
    }


def _corrected(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """The rows as one family of tests, with Holm's p-values beside the raw ones."""
    table = pd.DataFrame(rows)
    table.insert(list(table).index("p_value") + 1, "p_holm", holm(table["p_value"]))
    return table


SLICES = ("standalone", "context-dependent", "short", "verbose", "before switch", "from switch on")


def sliced(per_query: pd.DataFrame) -> pd.DataFrame:
    """Rows of the per-query table under each slice they belong to, in a column ``slice``.

    Slices come in pairs: standalone and context-dependent turns; short and verbose ones;
    turns before a topic switch and from it on (only conversations that have one).
    Benchmarks without such labels are left out.
    """
    has = {
        label: per_query["labels"].map(lambda labels, wanted=label: wanted in labels)
        for label in ("standalone", "context_dependent", "verbose")
    }
    labelled = per_query["benchmark"].isin(per_query.loc[has["verbose"], "benchmark"])
    masks = (
        has["standalone"],
        has["context_dependent"],
        ~has["verbose"],
        has["verbose"],
        per_query["from_switch"] < 0,
        per_query["from_switch"] >= 0,
    )
    parts = [
        per_query[mask & labelled].assign(slice=name)
        for name, mask in zip(SLICES, masks, strict=True)
    ]
    return pd.concat(parts, ignore_index=True)


def spread(
    per_query: pd.DataFrame,
    pairs: pd.DataFrame,
    *,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Best minus worst system per benchmark and view, and how many pairs the data tell apart.

    Parameters
    ----------
    per_query : the table of this module.
    pairs : of :func:`compare_systems`.

    Returns
    -------
    DataFrame
        ``benchmark, view, best, worst, spread`` (fraction), ``ci_low``, ``ci_high`` (whole
        conversations resampled, best and worst chosen anew each time, so the interval is of
        the spread itself), ``pairs_apart``, ``pairs``.
    """
    edges = [(1 - confidence) / 2, (1 + confidence) / 2]
    rows = []
    for (benchmark, view), part in per_query.groupby(["benchmark", "view"], sort=False):
        by_conversation = part.pivot_table(
            index="conversation_id", columns="system", values="value", aggfunc="sum"
        )
        sizes = part.groupby("conversation_id")["query_id"].nunique()  # (n_conversations,)
        means = by_conversation.sum() / sizes.sum()
        drawn = rng.integers(len(sizes), size=(resamples, len(sizes)))
        counts = np.apply_along_axis(np.bincount, 1, drawn, minlength=len(sizes))
        sums = counts @ by_conversation.to_numpy()  # (resamples, n_systems)
        again = sums / (counts @ sizes.loc[by_conversation.index].to_numpy())[:, None]
        low, high = np.quantile(again.max(axis=1) - again.min(axis=1), edges)
        own = pairs[(pairs["benchmark"] == benchmark) & (pairs["view"] == view)]
        rows.append(
            {
                "benchmark": benchmark,
                "view": view,
                "best": means.idxmax(),
                "worst": means.idxmin(),
                "spread": means.max() - means.min(),
                "ci_low": low,
                "ci_high": high,
                "pairs_apart": int((own["verdict"] == "differ").sum()),
                "pairs": len(own),
            }
        )
    return pd.DataFrame(rows)
