"""Judges beside people, in one tidy table: the comparisons behind ``make real``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mtrlib.audit import capture_recapture
from mtrlib.data.schema import Benchmark
from mtrlib.evaluation.people import people_table
from mtrlib.evaluation.validation import validation_table
from mtrlib.profiles import Profile
from mtrlib.reporting.real_inscit import Pools
from mtrlib.reporting.real_sets import Rated, mtrag_human_ratings
from mtrlib.retrieval.pool import RETRIEVERS

CROSS_FITTED = "feature cross-fitted"
CALIBRATED = ("feature", CROSS_FITTED)  # they estimate a probability
CORRELATIONS = ("pearson", "spearman")
BRIER = ("brier", "brier_reference", "brier_skill")

Judged = Mapping[str, np.ndarray]  # judge -> support of each task


def compared(rated: Rated, judged: Judged, profile: Profile) -> list[pd.DataFrame]:
    """Every judge against every question that people answered.

    Yes-or-no questions get an AUC and, where the judge gives probabilities, Brier scores;
    ratings get correlations. Where several passages belong to one rated thing, both the mean
    of their support and the best of it are compared.

    Returns
    -------
    list of DataFrame
        ``pack, part, human, metric`` and the columns of
        :func:`mtrlib.evaluation.validation.validation_table`.
    """
    values = pd.DataFrame(judged, index=list(rated.keys))
    several = not values.index.is_unique
    ways = ("mean", "max") if several else ("max",)
    metric = rated.tasks[0].metric
    tables = []
    for human in rated.people.columns.drop("group"):
        yes_no = set(rated.people[human]) <= {0.0, 1.0}
        for way in ways:
            name = f"{metric}, {way} of gold" if several else metric
            wide = values.groupby(level=0).agg(way).reindex(rated.people.index)
            for judge in wide:
                pairs = pd.DataFrame(
                    {
                        "judge": judge,
                        "metric": name,
                        "item_id": rated.people.index,
                        "group": rated.people["group"],
                        "judged": wide[judge],
                        "human": rated.people[human],
                    }
                )
                statistics = ("auc",) if yes_no else CORRELATIONS
                extra = BRIER if yes_no and judge in CALIBRATED else ()
                table = validation_table(pairs, [*statistics, *extra], **_how(profile))
                tables.append(_named(table, rated.pack, rated.part, human))
    return tables


def pool_rows(found: Pools, judged: Judged, profile: Profile) -> list[pd.DataFrame]:
    """:func:`compared` on the pools of INSCIT and on its hard pairs, retrievers beside judges."""
    everything = {**judged, **{name: found.table[name].to_numpy() for name in RETRIEVERS}}
    hard = (found.table["gold"] | found.table["hard"]).to_numpy()
    few = {name: values[hard] for name, values in everything.items()}
    return [
        *compared(found.rated(), everything, profile),
        *compared(found.rated(hard=True), few, profile),
    ]


def people_of_mtrag(folder: Path, profile: Profile) -> pd.DataFrame:
    """How far the raters of mtrag_human agree among themselves, in the same columns."""
    ratings = mtrag_human_ratings(folder)
    table = people_table(ratings, "interval", **_how(profile))
    named = _named(table, "mtrag_human", "mtrag_human", "")
    return named.assign(human=named["metric"], metric="rating")


def two_annotators(benchmark: Benchmark, profile: Profile) -> pd.DataFrame:
    """Completeness of gold by capture and recapture, over all assumptions, in two readings.

    ``turns``: ``all`` with two annotators, or only those where ``both marked`` something.
    """
    tables = []
    for turns, both_marked in (("all", False), ("both marked", True)):
        found = capture_recapture.annotator_captures(benchmark.turns(), both_marked=both_marked)
        table = capture_recapture.completeness(found, **_how(profile))
        table.insert(0, "turns", turns)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _how(profile: Profile) -> dict[str, Any]:
    return {
        "resamples": profile.RESAMPLES,
        "confidence": profile.CONFIDENCE,
        "rng": np.random.default_rng(profile.SEED),
    }


def _named(table: pd.DataFrame, pack: str, part: str, human: str) -> pd.DataFrame:
    for at, (column, value) in enumerate((("pack", pack), ("part", part), ("human", human))):
        table.insert(at, column, value)
    return table
