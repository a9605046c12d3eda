"""Does a judge pick by place? Positions of its picks."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

TOO_FEW = 5  # expected picks of a place below which the chi-square p-value is not given


def position_statistics(judgements: pd.DataFrame) -> pd.DataFrame:
    """How often each place was picked, against picks that do not look at the place.

    Parameters
    ----------
    judgements : table of :func:`mtrlib.audit.metrics.judgements`; only picks of
        ``completeness`` count, ``none`` and unread replies do not.

    Returns
    -------
    DataFrame
        Per judge and position (from 1): ``judge, position, n_picked, expected, share,
        expected_share, n_picks, p_value``. The p-value is the same on all rows of a judge.

    Notes
    -----
    Under seeded orders a judge that reads finds what it looks for in every place alike, so
    with n options each place expects 1 / n of the picks; questions with fewer options add
    nothing to the later places. p-value: Pearson's chi-square. Rotations of one item depend on each
    other, which makes it too large for a judge that reads. NaN where a place expects fewer
    than ``TOO_FEW`` picks.
    """
    tables = []
    for judge, group in _picks(judgements).groupby("judge", sort=False):
        sizes = group["n_options"].to_numpy(dtype=int)  # (n_picks,)
        places = np.arange(1, sizes.max() + 1)  # (n_places,)
        picked = np.bincount(group["position"].to_numpy(dtype=int), minlength=len(places) + 1)[1:]
        expected = ((places[:, None] <= sizes) / sizes).sum(axis=1)  # (n_places,)
        enough = len(places) > 1 and expected.min() >= TOO_FEW
        p_value = float(stats.chisquare(picked, expected).pvalue) if enough else np.nan
        table = pd.DataFrame({"position": places, "n_picked": picked, "expected": expected})
        table.insert(0, "judge", judge)
        table["share"] = picked / len(sizes)
        table["expected_share"] = expected / len(sizes)
        table["n_picks"] = len(sizes)
        table["p_value"] = p_value
        tables.append(table)
    columns = "judge position n_picked expected share expected_share n_picks p_value".split()
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=columns)


def _picks(judgements: pd.DataFrame) -> pd.DataFrame:
    return judgements[judgements["metric"].eq("completeness") & judgements["position"].notna()]
