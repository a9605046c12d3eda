"""Agreement of two sets of ratings: Krippendorff's alpha and kappa, with intervals over items.

``python -m mtrlib.evaluation.agreement`` prints the table of judgements-mini's data card.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from mtrlib.data.authored.records import load_authored
from mtrlib.evaluation.reliability import cohen_kappa, krippendorff_alpha
from mtrlib.evaluation.resampling import percentile_interval, row_draws

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
    values = table.to_numpy(dtype=object if nominal else int)  # (n_items, 2)
    found: dict[str, float | int | str] = {
        "metric": metric,
        "n": len(values),
        "exact": float((values[:, 0] == values[:, 1]).mean()),
    }
    measures: dict[str, Callable[[np.ndarray], float]] = {
        "alpha": lambda v: krippendorff_alpha(v, "nominal" if nominal else "ordinal"),
        "kappa": lambda v: _kappa(v, nominal),
    }
    draws = list(row_draws(len(values), None, resamples, rng))
    for name, statistic in measures.items():
        samples = [statistic(values[rows]) for rows in draws]
        low, high = percentile_interval(samples, confidence)
        found |= {name: statistic(values), f"{name}_low": low, f"{name}_high": high}
    return found


def _kappa(values: np.ndarray, nominal: bool) -> float:
    if nominal:
        return cohen_kappa(values[:, 0], values[:, 1])
    # steps among the levels drawn: the rule behind the numbers of the data card
    return cohen_kappa(values[:, 0], values[:, 1], "quadratic", levels=np.unique(values))


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
