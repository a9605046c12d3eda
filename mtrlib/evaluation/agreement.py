"""Agreement of two sets of ratings: Krippendorff's alpha and kappa, with intervals over items.

``python -m mtrlib.evaluation.agreement`` prints the table of judgements-mini's data card.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import krippendorff
import numpy as np
import pandas as pd
from sklearn.metrics import cohen_kappa_score

from mtrlib.data.authored.records import load_authored

RESAMPLES, CONFIDENCE, SEED = 2000, 0.95, 13


def agreement(
    ratings: pd.DataFrame,
    metric: str,
    *,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    rng: np.random.Generator,
) -> dict[str, float | int | str]:
    """Agreement of two raters on one metric.

    Parameters
    ----------
    ratings : columns ``item_id, rater, metric, rating``; exactly two raters.
    metric : ``completeness`` is nominal (which passage), the others are ordinal (1 to 5).

    Returns
    -------
    dict
        ``metric``, ``n`` items rated by both, ``exact`` (share of equal ratings), ``alpha``
        (Krippendorff; ordinal or nominal) and ``kappa`` (Cohen; quadratic weights for
        ordinal ratings), each with ``_low`` and ``_high`` of a percentile bootstrap over
        items. NaN where a resample or the data show no variation to agree about.

    References
    ----------
    Krippendorff, "Content Analysis", 2004, ch. 11; Cohen, "Weighted kappa", 1968.
    """
    own = ratings[ratings["metric"] == metric]
    table = own.pivot(index="item_id", columns="rater", values="rating").dropna().sort_index()
    nominal = metric == "completeness"
    if nominal:
        codes = {value: code for code, value in enumerate(sorted(set(table.to_numpy().ravel())))}
        values = table.map(codes.__getitem__).to_numpy(dtype=int)
    else:
        values = table.to_numpy(dtype=int)  # (n_items, 2)
    found: dict[str, float | int | str] = {
        "metric": metric,
        "n": len(values),
        "exact": float((values[:, 0] == values[:, 1]).mean()),
    }
    measures: dict[str, Callable[[np.ndarray], float]] = {
        "alpha": lambda v: _alpha(v, nominal),
        "kappa": lambda v: _kappa(v, nominal),
    }
    draws = rng.integers(len(values), size=(resamples, len(values)))
    edges = 100 * np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    for name, measure in measures.items():
        samples = [measure(values[draw]) for draw in draws]
        varied = [s for s in samples if not np.isnan(s)] or [np.nan]
        low, high = np.percentile(varied, edges)
        found |= {name: measure(values), f"{name}_low": float(low), f"{name}_high": float(high)}
    return found


def _alpha(values: np.ndarray, nominal: bool) -> float:
    if len(np.unique(values)) < 2:
        return float("nan")
    level: Literal["nominal", "ordinal"] = "nominal" if nominal else "ordinal"
    return float(krippendorff.alpha(reliability_data=values.T, level_of_measurement=level))


def _kappa(values: np.ndarray, nominal: bool) -> float:
    if len(np.unique(values)) < 2:
        return float("nan")
    weights = None if nominal else "quadratic"
    return float(cohen_kappa_score(values[:, 0], values[:, 1], weights=weights))


def agreement_table(ratings: pd.DataFrame, *, resamples: int = RESAMPLES) -> pd.DataFrame:
    """:func:`agreement` for every metric, in order of appearance, from one seed."""
    rng = np.random.default_rng(SEED)
    metrics = list(dict.fromkeys(ratings["metric"]))
    return pd.DataFrame([agreement(ratings, m, resamples=resamples, rng=rng) for m in metrics])


def card_lines(table: pd.DataFrame) -> list[str]:
    """The table as Markdown, values to two decimals, for the data card."""
    lines = ["| metric | n | equal | alpha | kappa |", "|---|---|---|---|---|"]
    for row in table.to_dict("records"):
        cells = [
            f"{row[name]:.2f} [{row[f'{name}_low']:.2f}, {row[f'{name}_high']:.2f}]"
            for name in ("alpha", "kappa")
        ]
        shown = [row["metric"], str(row["n"]), f"{row['exact']:.2f}", *cells]
        lines.append(f"| {' | '.join(shown)} |")
    return lines


if __name__ == "__main__":
    print("\n".join(card_lines(agreement_table(pd.DataFrame(load_authored().ratings)))))
