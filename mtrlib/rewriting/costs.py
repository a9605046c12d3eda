"""What methods cost, and how often and why they keep out."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from mtrlib.rewriting.methods import MethodRun


def cost_table(runs: Mapping[str, MethodRun]) -> pd.DataFrame:
    """Calls, searches and seconds of each method, per query of the whole set.

    Returns
    -------
    DataFrame
        Per label: ``queries, used, fell_back`` (a rewrite failed and the original was
        searched), ``calls`` (of the rewriter, mean), ``searches`` (the original's included,
        mean), ``rewrite_seconds`` (mean over the queries that cost a call; NaN = recorded or
        replayed, so not measured) and ``search_seconds`` (added, mean and 99th percentile).

    Notes
    -----
    Seconds are those of a batch shared out over its texts: throughput, not the latency that
    one user waits, and near 0 where vectors came from the cache.
    """
    rows = []
    for label, run in runs.items():
        cases = run.cases()
        asked = cases[cases["calls"] > 0]
        rows.append(
            {
                "method": label,
                "system": run.system,
                "rewriter": run.rewriter,
                "queries": len(cases),
                "used": len(run.used),
                "fell_back": int((cases["failed"] != "").sum()),
                "calls": float(cases["calls"].mean()),
                "searches": float(cases["searches"].mean()),
                "rewrite_seconds": float(asked["rewrite_seconds"].mean(skipna=False))
                if len(asked)
                else 0.0,
                "search_seconds": float(cases["search_seconds"].mean()),
                "search_seconds_p99": float(np.percentile(cases["search_seconds"], 99))
                if len(cases)
                else math.nan,
            }
        )
    return pd.DataFrame(rows)


def reasons(run: MethodRun) -> pd.DataFrame:
    """How many queries a method was used for, was off for, or failed on: ``what, why, queries``."""
    found = [
        ("failed", p.failed) if p.failed else ("off", p.off) if not p.paths else ("used", "")
        for p in run.plans.values()
    ]
    table = pd.DataFrame(found, columns=["what", "why"])
    counts = table.groupby(["what", "why"], sort=True).size().rename("queries")
    return counts.reset_index()
