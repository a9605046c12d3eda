"""Notebook 11: what rewriting could gain on one's own benchmark, and why its queries fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mtrlib.reporting.own_benchmark import Own
from mtrlib.reporting.rewriting_run import Searchers, attribute_all, open_searchers
from mtrlib.reporting.rewriting_study import DEPTH, RAW, RESOLVED, Study, cost_lines, load_study
from mtrlib.reporting.rewriting_tables import bounds_table, label_counts
from mtrlib.rewriting.bound import best_of, oracle_bound
from mtrlib.rewriting.given_rewriter import FIELDS
from mtrlib.rewriting.labels import Attribution
from mtrlib.rewriting.tiers import Bound

DEEP = 2.5  # times K: how far down "ranked low" reaches, as 50 to 20 in the article


def rewriter_cost(own: Own) -> list[str]:
    """Dry run of an endpoint as REWRITER; the rewrites of the file and rules cost nothing."""
    return cost_lines(own.profile, own.benchmark)


def open_study(own: Own) -> tuple[Study, Searchers]:
    """The turns with their rewrites, and the retrievers, as notebook 07 has them."""
    study = load_study(own.profile, own.benchmark)
    return study, open_searchers(study, [RAW, RESOLVED])


def measure(
    study: Study, searchers: Searchers, rng: np.random.Generator
) -> list[tuple[str, Bound]]:
    """``(view, bound)`` of each kind of rewrite that exists, and of the best of all of them.

    The original is the raw turn. No rewrites at all give no bound.
    """
    how: dict[str, Any] = {"gate": study.gates.oracle, "k": study.profile.K, **study.sure}
    kinds = {name: study.rewrites[kind] for kind, name in FIELDS.items() if study.rewrites[kind]}
    found: list[tuple[str, Bound]] = []
    for retriever in searchers.by_name.values():
        args = retriever, study.turns, study.benchmark.qrels
        for name, texts in kinds.items():
            first = {query_id: own[0] for query_id, own in texts.items()}
            found.append((RAW, oracle_bound(*args, first, name=name, **how, rng=rng)))
        if kinds:
            found.append((RAW, best_of(*args, study.candidates(), **how, rng=rng)))
    return found


def bound_rows(bounds: Sequence[tuple[str, Bound]]) -> pd.DataFrame:
    """One row per retriever and bound; empty without any."""
    return bounds_table(bounds) if bounds else pd.DataFrame()


def _deep_of(k: int) -> int:
    """Rank down to which gold counts as found but ranked low.

    >>> _deep_of(5), _deep_of(20), _deep_of(40)
    (12, 50, 50)
    """
    return min(DEPTH, int(DEEP * k))


def failures(study: Study, searchers: Searchers) -> tuple[dict[str, Attribution], pd.DataFrame]:
    """Labels of the raw turn's failures by retriever, and the counts of those that occur.

    The counts are there for the raw turn and for what coreference makes of it. A small corpus has
    a small K, so how deep is looked goes with K: 50 passages may be all there are.
    """
    labels = attribute_all(study, searchers, deep=_deep_of(study.profile.K))
    counts = label_counts(labels)
    raw = {system: found for (system, base), found in labels.items() if base == RAW}
    return raw, counts[counts["any"] > 0].reset_index(drop=True)


def best_known(bounds: Sequence[tuple[str, Bound]]) -> Mapping[str, Bound]:
    """Per retriever the bound that advice rests on: the author's voice, else the rewrite."""
    order = [FIELDS["standalone"], FIELDS["author_voice"]]
    return {b.system: b for name in order for _, b in bounds if b.name == name}
