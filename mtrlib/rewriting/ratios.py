"""Pooled rates and paired changes of a table of queries, with intervals over conversations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mtrlib.evaluation.resampling import percentile_interval

AT_ONCE = 2**22  # random numbers held at a time; part of "same seed, same bytes"


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums per conversation of the queries in which everything needed is defined.

    Attributes
    ----------
    columns : name -> sums, shape (n_groups,); "" counts the queries.
    top, bottom, minus : the statistic is ``(sum top - sum minus) / sum bottom``; ``minus`` may
        be "" for none.
    n : queries.
    """

    columns: Mapping[str, np.ndarray]
    top: str
    bottom: str
    minus: str
    n: int

    @classmethod
    def of(
        cls,
        table: pd.DataFrame,
        groups: Mapping[str, str],
        top: str,
        bottom: str = "",
        minus: str = "",
    ) -> Sums:
        """Sum the columns of a table of queries by conversation, in sorted order."""
        names = [name for name in dict.fromkeys((top, bottom, minus)) if name]
        defined = table[names].astype(float).dropna().sort_index()
        codes, found = pd.factorize(
            np.array([groups[str(q)] for q in defined.index], dtype=object), sort=True
        )
        sums = {name: np.bincount(codes, defined[name].to_numpy(), len(found)) for name in names}
        return cls(
            {**sums, "": np.bincount(codes, minlength=len(found)).astype(float)},
            top,
            bottom,
            minus,
            len(defined),
        )

    @property
    def n_groups(self) -> int:
        """Conversations."""
        return len(self.columns[""])

    def share(self, name: str) -> float:
        """Sum of one column over the sum of ``bottom``; NaN where that is 0."""
        below = math.fsum(self.columns[self.bottom])
        return math.fsum(self.columns[name]) / below if below else math.nan

    @property
    def value(self) -> float:
        """The statistic of all queries; NaN where it is 0 / 0."""
        return self.share(self.top) - (self.share(self.minus) if self.minus else 0.0)

    def drawn(self, draws: np.ndarray) -> np.ndarray:
        """The statistic of each resample: draws (r, n_groups) of group numbers -> (r,)."""
        above = self.columns[self.top][draws].sum(axis=1)
        if self.minus:
            above = above - self.columns[self.minus][draws].sum(axis=1)
        below = self.columns[self.bottom][draws].sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(below > 0, above / np.where(below > 0, below, 1), np.nan)


def group_draws(n_groups: int, resamples: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Blocks of resamples, each (rows, n_groups) of group numbers; none for a single group."""
    if n_groups < 2:
        return []
    step = max(1, AT_ONCE // n_groups)
    sizes = [min(step, resamples - start) for start in range(0, resamples, step)]
    return [rng.integers(n_groups, size=(rows, n_groups)) for rows in sizes]


def ratio_interval(
    sums: Sums, *, resamples: int, confidence: float, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Value and percentile bootstrap interval, whole conversations drawn.

    NaN ends where nothing can be resampled, or the value is not defined.
    """
    value = sums.value
    if math.isnan(value):
        return math.nan, math.nan, math.nan
    samples = [sums.drawn(draws) for draws in group_draws(sums.n_groups, resamples, rng)]
    if not samples:
        return value, math.nan, math.nan
    low, high = percentile_interval(np.concatenate(samples), confidence)
    return value, low, high
