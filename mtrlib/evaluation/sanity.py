"""What must hold on a conversational benchmark with rewrites, if data and code are right."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mtrlib.evaluation.discrimination import compare_views

CLAIMS = {
    "author voice beats the raw last turn": ("last_turn", "author_voice", None),
    "standalone query beats the raw one on context-dependent turns": (
        "last_turn",
        "rewrite",
        "context_dependent",
    ),
}


def sanity(
    per_query: pd.DataFrame, *, resamples: int, confidence: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Gain of each rewrite over the raw last turn, per claim and retriever.

    Parameters
    ----------
    per_query : with the views ``last_turn``, ``rewrite`` and ``author_voice``.

    Returns
    -------
    DataFrame
        ``claim``, the columns of :func:`mtrlib.evaluation.discrimination.compare_views`, and
        ``holds``: "yes" where the gain is beyond the noise, "inconclusive" where it is
        positive within it, else "no".
    """
    tables = []
    for claim, (before, after, label) in CLAIMS.items():
        rows = per_query[per_query["view"].isin([before, after])]
        if label is not None:
            rows = rows[rows["labels"].map(lambda labels, wanted=label: wanted in labels)]
        found = compare_views(
            rows, before, after, resamples=resamples, confidence=confidence, rng=rng
        )
        found.insert(0, "claim", claim)
        beyond = (found["ci_low"] > 0) & (found["p_holm"] < 1 - confidence)
        positive = np.where(found["difference"] > 0, "inconclusive", "no")
        found["holds"] = np.where(beyond, "yes", positive)
        tables.append(found)
    return pd.concat(tables, ignore_index=True)
