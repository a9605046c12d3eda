"""Agreement beyond chance: Krippendorff's alpha, Cohen's and Fleiss' kappa.

All give 1 for full agreement, 0 for as much as chance brings, and NaN where all ratings are
equal: without variation there is nothing to agree about.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import krippendorff
import numpy as np
import pandas as pd
from sklearn.metrics import cohen_kappa_score

from mtrlib.errors import InputError

Level = Literal["nominal", "ordinal", "interval"]


def krippendorff_alpha(ratings: pd.DataFrame | np.ndarray, level: Level) -> float:
    """Krippendorff's alpha of any number of raters.

    Parameters
    ----------
    ratings : (n_items, n_raters); None or NaN = not rated. Items with one rating say nothing
        and drop out.
    level : ``nominal`` (labels, text allowed), ``ordinal`` or ``interval`` (numbers).

    Returns
    -------
    float
        At most 1; NaN without variation or without an item that two raters rated.

    References
    ----------
    Krippendorff, "Content Analysis", 2004, ch. 11.
    """
    table = pd.DataFrame(ratings)
    shape = table.shape
    if level == "nominal":
        codes = pd.factorize(table.to_numpy().ravel(), sort=False)[0].astype(float)
        values = np.where(codes < 0, np.nan, codes).reshape(shape)
    else:
        values = table.to_numpy(dtype=float)
    paired = values[(~np.isnan(values)).sum(axis=1) > 1]
    if len(np.unique(paired[~np.isnan(paired)])) < 2:
        return math.nan
    return float(krippendorff.alpha(reliability_data=paired.T, level_of_measurement=level))


def cohen_kappa(
    first: np.ndarray,
    second: np.ndarray,
    weights: Literal["linear", "quadratic"] | None = None,
    *,
    levels: Sequence[int] | np.ndarray | None = None,
) -> float:
    """Cohen's kappa of two raters, plain or weighted.

    Parameters
    ----------
    first, second : (n_items,) labels, or whole numbers where ``weights`` is given.
    weights : None counts every difference alike; ``quadratic`` by its square.
    levels : the scale, lowest first; a distance is the number of its steps. None = every
        whole number from the lowest to the highest rating, so that 1, 2, 5 do not lie as far
        apart as 1, 2, 3.

    Raises
    ------
    InputError
        Weighted, but the ratings are not whole numbers.

    References
    ----------
    Cohen, "Weighted kappa", 1968.
    """
    seen = np.unique(np.concatenate([first, second]))
    if len(seen) < 2:
        return math.nan
    if weights is None:
        return float(cohen_kappa_score(first, second))
    broken = [value for value in seen if float(value) != round(float(value))]
    if broken:
        raise InputError(
            f"weighted kappa of the rating {broken[0]}. Mend: give whole numbers, or take alpha "
            "at interval level."
        )
    scale = np.arange(int(seen[0]), int(seen[-1]) + 1) if levels is None else levels
    whole = np.asarray(first, dtype=int), np.asarray(second, dtype=int)
    return float(cohen_kappa_score(*whole, weights=weights, labels=scale))


def rating_counts(ratings: pd.DataFrame) -> np.ndarray:
    """Raters per item and category, (n_items, n_categories), from items × raters.

    Categories are sorted; None or NaN = not rated.
    """
    long = ratings.stack().dropna()
    counts = pd.crosstab(long.index.get_level_values(0), long.to_numpy())
    return counts.reindex(ratings.index, fill_value=0).to_numpy()


def fleiss_kappa(counts: np.ndarray) -> float:
    """Fleiss' kappa of several raters, who need not be the same for every item.

    ``(P - P_e) / (1 - P_e)``: P is the mean over items of the share of rater pairs that
    agree, ``P_e`` the sum of squared shares of the categories among all ratings.

    Parameters
    ----------
    counts : (n_items, n_categories) number of raters who chose the category. Items with
        fewer than two ratings drop out; with a varying number of raters every item weighs
        the same in P, every rating in ``P_e``.

    References
    ----------
    Fleiss, "Measuring nominal scale agreement among many raters", 1971 (fixed number);
    Fleiss, "Statistical Methods for Rates and Proportions", 1981, sec. 13.2 (varying).
    """
    counts = np.asarray(counts, dtype=float)
    raters = counts.sum(axis=1)  # (n_items,)
    counts, raters = counts[raters > 1], raters[raters > 1]
    if not len(counts):
        return math.nan
    observed = float(((counts * (counts - 1)).sum(axis=1) / (raters * (raters - 1))).mean())
    expected = float(((counts.sum(axis=0) / counts.sum()) ** 2).sum())
    return math.nan if expected == 1 else (observed - expected) / (1 - expected)
