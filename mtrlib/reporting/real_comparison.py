"""Judges beside people, in one tidy table: the comparisons behind ``make real``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
CORRELATIONS = ("pearson", "spearman")
BRIER = ("brier", "brier_reference", "brier_skill")

Judged = Mapping[str, pd.DataFrame]  # judge -> verdicts, see real_sets.verdicts


def compared(rated: Rated, judged: Judged, profile: Profile) -> list[pd.DataFrame]:
    """Every judge against every question that people answered.

    Yes-or-no questions get an AUC and, where the judge gives probabilities, Brier scores;
    ratings of people get correlations, with the judge's rating and with its probability. Where
    several passages belong to one rated thing, both the mean of them (that of MTR-Eval) and
    the best of them are compared.

    Returns
    -------
    list of DataFrame
        ``pack, part, human, verdict`` (``score`` or ``probability``) and the columns of
        :func:`mtrlib.evaluation.validation.validation_table`.
    """
    tables = []
    several = len(set(rated.keys)) < len(rated.keys)
    for human in rated.people.columns.drop("group"):
        for way in ("mean", "max") if several else ("max",):
            metric = rated.tasks[0].metric + (f", {way} of gold" if several else "")
            for judge, said in judged.items():
                by_thing = said.set_axis(list(rated.keys)).groupby(level=0).agg(way)
                found = rated.people.join(by_thing).rename_axis("item_id").reset_index()
                found = found.rename(columns={human: "human"}).assign(judge=judge, metric=metric)
                table = _statistics(found, profile)
                tables.append(_named(table, rated.pack, rated.part, human))
    return tables


def pool_rows(found: Pools, judged: Judged, profile: Profile) -> list[pd.DataFrame]:
    """:func:`compared` on the pools of INSCIT and on its hard pairs, retrievers beside judges."""
    scores = {
        f"{name}, last turn": pd.DataFrame({"score": found.table[name], "probability": np.nan})
        for name in RETRIEVERS
    }
    everything = {**judged, **scores}
    hard = (found.table["gold"] | found.table["hard"]).to_numpy()
    few = {name: said[hard] for name, said in everything.items()}
    return [
        *compared(found.rated(), everything, profile),
        *compared(found.rated(hard=True), few, profile),
    ]


def people_of_mtrag(folder: Path, profile: Profile) -> pd.DataFrame:
    """How far the raters of mtrag_human agree among themselves, in the same columns."""
    ratings = mtrag_human_ratings(folder)
    table = people_table(ratings, "interval", **_how(profile))
    table.insert(2, "verdict", "score")
    named = _named(table, "mtrag_human", "mtrag_human", "")
    return named.assign(human=named["metric"], metric="rating")


def two_annotators(benchmark: Benchmark, profile: Profile) -> pd.DataFrame:
    """Completeness of gold by capture and recapture, one row per assumption and annotator."""
    found = capture_recapture.annotator_captures(benchmark.turns())
    return capture_recapture.completeness(found, **_how(profile))


def _statistics(found: pd.DataFrame, profile: Profile) -> pd.DataFrame:
    """Of scores, and of probabilities where there are any (their AUC is that of the scores)."""
    yes_no = set(found["human"]) <= {0.0, 1.0}
    asked: dict[str, Sequence[str]] = {"score": ["auc"] if yes_no else CORRELATIONS}
    if found["probability"].notna().any():
        asked["probability"] = BRIER if yes_no else CORRELATIONS
    tables = []
    for verdict, statistics in asked.items():
        judged = found.assign(judged=found[verdict])
        tables.append(validation_table(judged, statistics, **_how(profile)))
        tables[-1].insert(2, "verdict", verdict)
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
