"""What the second retriever learnt: are its results nearer to the context, or further away?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from mtrlib.evaluation.significance import bootstrap_interval
from mtrlib.profiles import Profile
from mtrlib.reporting.rvr_grid import Grid, rules_of, trained_systems
from mtrlib.reporting.rvr_retrievers import Retrievers
from mtrlib.rvr.baselines import VectorSpace
from mtrlib.rvr.trace import RvrResult
from mtrlib.rvr.verifiers import OracleVerifier

RULER = "static-256"  # one space for all, that no training here has touched
RANKS = 10


def same_contexts(grid: Grid, encoder: str) -> dict[str, RvrResult]:
    """Runs that differ in the later retriever alone: the base, and that of ``later``.

    Both start from the base's first list, verified by the oracle.
    """
    oracle = OracleVerifier(by="gold" if "passages" in rules_of(grid.questions) else "answers")
    systems = [s for s in ("base_base", "base_ft_r") if s in trained_systems(grid.profile)]
    found = {}
    for system in systems:
        result = grid.loop(encoder, system, oracle, rounds=2)
        found[f"{encoder}, {'base' if system == 'base_base' else 'trained (later)'}"] = result
    return found


def to_context(retrievers: Retrievers, results: Mapping[str, RvrResult]) -> pd.DataFrame:
    """Second-round results, context passed over, and how close each is to the context.

    Parameters
    ----------
    results : name of the later retriever -> run with the same first round and verifier, so that
        the contexts are equal.

    Returns
    -------
    DataFrame
        ``retriever, question_id, rank, cosine`` (to the nearest context passage, by static
        vectors), ``same_article`` (as a context passage), ``new`` (not in the first list). Only
        questions with a context.
    """
    vectors = VectorSpace(RULER, retrievers.lists.passages).passages
    titles = {p.passage_id: p.title for p in retrievers.lists.passages}
    rows = []
    for name, result in results.items():
        contexts = result.contexts[result.contexts["round"] == 2].groupby("question_id")
        second = result.listed[result.listed["round"] == 2].groupby("question_id")
        first = result.listed[result.listed["round"] == 1].groupby("question_id")
        for question_id, context in contexts["passage_id"]:
            known = set(context)
            held = np.stack([vectors[p] for p in context])  # (m, dimension)
            articles = {titles[p] for p in context}
            before = set(first.get_group(question_id)["passage_id"])
            listed = [p for p in second.get_group(question_id)["passage_id"] if p not in known]
            for rank, passage_id in enumerate(listed, 1):
                cosine = float((held @ vectors[passage_id]).max())
                same, new = titles[passage_id] in articles, passage_id not in before
                rows.append((name, question_id, rank, cosine, float(same), float(new)))
    columns = ["retriever", "question_id", "rank", "cosine", "same_article", "new"]
    return pd.DataFrame(rows, columns=columns)


def by_rank(found: pd.DataFrame, profile: Profile, rng: np.random.Generator) -> pd.DataFrame:
    """Mean cosine at each of the first ``RANKS`` ranks, with intervals over questions."""
    rows = []
    for (name, rank), part in found[found["rank"] <= RANKS].groupby(
        ["retriever", "rank"], sort=False
    ):
        mean = bootstrap_interval(
            part.set_index("question_id")["cosine"],
            resamples=profile.RESAMPLES,
            confidence=profile.CONFIDENCE,
            rng=rng,
        )
        rows.append((name, rank, mean.value, mean.low, mean.high, len(part)))
    return pd.DataFrame(rows, columns=["retriever", "rank", "value", "ci_low", "ci_high", "n"])


def learnt(found: pd.DataFrame) -> pd.DataFrame:
    """Means over the first ``RANKS`` per later retriever: cosine, same article, new passages."""
    first = found[found["rank"] <= RANKS]
    table = first.groupby("retriever", sort=False)[["cosine", "same_article", "new"]].mean()
    return table.assign(questions=first.groupby("retriever")["question_id"].nunique())
