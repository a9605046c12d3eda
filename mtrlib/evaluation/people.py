"""People among themselves: the agreement that a judge can be held to."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from mtrlib.evaluation.reliability import Level, fleiss_kappa, krippendorff_alpha, rating_counts
from mtrlib.evaluation.resampling import measure
from mtrlib.evaluation.validation import STATISTICS, TABLE, row

PEOPLE = "people"  # stands in the column of the judge


def people_table(
    ratings: pd.DataFrame,
    level: Level,
    *,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """How far people agree among themselves: what a judge can be held to.

    Parameters
    ----------
    ratings : columns ``metric, item_id, group, rater, rating``; raters may skip items.
    level : of Krippendorff's alpha.

    Returns
    -------
    DataFrame
        As :func:`.validation_table` with the judge ``people`` and the statistics
        ``alpha_<level>``, ``kappa_fleiss`` and, for numbers, ``pearson_left_out``: each
        rating against the mean of the others on its item. ``n`` counts items with two or
        more ratings, ``n_missing`` those with fewer.
    """
    wanted: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
        f"alpha_{level}": lambda table, _: krippendorff_alpha(table, level),
        "kappa_fleiss": lambda _, counts: fleiss_kappa(counts),
    }
    if level != "nominal":
        wanted["pearson_left_out"] = lambda table, _: _left_out(table)
    seed = int(rng.integers(2**63))
    rows = []
    for metric, part in ratings.groupby("metric", sort=False):
        table = part.pivot(index="item_id", columns="rater", values="rating").sort_index()
        groups = part.groupby("item_id")["group"].first()
        paired = table[table.notna().sum(axis=1) > 1]
        for statistic, function in wanted.items():
            found = measure(
                function,
                paired.to_numpy(),
                rating_counts(paired),
                groups=groups[paired.index].to_numpy(),
                n_missing=len(table) - len(paired),
                resamples=resamples,
                confidence=confidence,
                rng=np.random.default_rng(seed),
            )
            rows.append(row(PEOPLE, metric, statistic, found))
    return pd.DataFrame(rows, columns=TABLE)


def _left_out(table: np.ndarray) -> float:
    values = table.astype(float)  # (n_items, n_raters)
    rated = ~np.isnan(values)
    n = rated.sum(axis=1, keepdims=True)
    others = (np.nansum(values, axis=1, keepdims=True) - values) / (n - 1)
    return STATISTICS["pearson"](values[rated], others[rated])
