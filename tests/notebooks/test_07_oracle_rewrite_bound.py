"""What notebook 07 saved: complete, in range, tiers that agree, BM25 as a fresh run gives it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mtrlib import paths, profiles
from mtrlib.data.benchmarks import load_benchmark
from mtrlib.errors import FetchError
from mtrlib.reporting import results
from mtrlib.retrieval.search import searcher
from mtrlib.rewriting.bound import oracle_bound
from mtrlib.rewriting.gates import Gates
from mtrlib.rewriting.labels import LABELS, UNATTRIBUTED
from mtrlib.rewriting.tiers import tier_of

DEFAULT = profiles.PROFILES["default"]
GATES = Gates.read()


def table(name: str) -> pd.DataFrame:
    return results.load(name, paths.results())[0]


def test_both_bounds_for_every_retriever_and_view():
    found = table("t07_bounds")
    views = {*DEFAULT.VIEWS, "coreference"}
    for name in ("author_voice", "best_of"):
        own = found[found["bound"] == name]
        pairs = set(zip(own["system"], own["view"], strict=True))
        assert pairs == {(s, v) for s in DEFAULT.RETRIEVERS for v in views}
        assert len(own) == len(pairs)


def test_points_lie_inside_their_intervals_and_are_the_difference_of_the_means():
    found = table("t07_bounds")
    assert found[["before", "after"]].stack().between(0, 1).all()
    assert np.allclose(100 * (found["after"] - found["before"]), found["points"], atol=1e-3)
    assert (found["ci_low"] < found["points"]).all() and (found["points"] < found["ci_high"]).all()
    assert (found["gained"] + found["lost"] + found["same"] == found["n_queries"]).all()
    assert found["n_queries"].nunique() == 1 and found["without_gold"].nunique() == 1


def test_tiers_agree_with_their_values_and_open_ones_say_how_many():
    found = table("t07_bounds")
    for value, tier in (("points", "tier"), ("ci_low", "tier_low"), ("ci_high", "tier_high")):
        assert found[tier].tolist() == [tier_of(v, GATES.oracle) for v in found[value]]
    open_ = (found["tier_low"] != found["tier"]) | (found["tier_high"] != found["tier"])
    assert (found.loc[~open_, "n_needed"].isna()).all()
    assert (found.loc[open_, "n_needed"].dropna() >= found["n_queries"].max()).all()


def test_the_ceiling_is_never_below_the_author_voice():
    found = table("t07_bounds").set_index(["system", "view", "bound"])["after"].unstack()
    assert (found["best_of"] >= found["author_voice"]).all()


def test_labels_count_every_failure_once_and_small_ones_are_marked():
    found = table("t07_labels")
    groups = found.groupby(["system", "text"])
    assert set(groups.groups) == {
        (s, t) for s in DEFAULT.RETRIEVERS for t in ("last_turn", "coreference")
    }
    for _, part in groups:
        assert part["label"].tolist() == [*LABELS, UNATTRIBUTED]
        assert part["primary"].sum() == part["failures"].iloc[0]
        assert (part["any"] >= part["primary"]).all()
    few = found["primary"] < GATES.labels_min_examples
    assert (few == (found["note"] == "too few to decide on")).all()


def test_coreference_leaves_fewer_failures_and_fewer_pronouns():
    found = table("t07_labels").set_index(["system", "text", "label"])
    for system in DEFAULT.RETRIEVERS:
        raw = found.loc[(system, "last_turn", "missing_context")]
        after = found.loc[(system, "coreference", "missing_context")]
        assert after["failures"] < raw["failures"]
        assert after["any"] < raw["any"]


def test_the_matrix_is_symmetric_with_the_counts_on_its_diagonal():
    counts = table("t07_labels").set_index(["system", "text", "label"])["any"]
    for key, part in table("t07_matrix").groupby(["system", "text"]):
        square = part.set_index("label")[list(LABELS)]
        assert (square.to_numpy() == square.to_numpy().T).all()
        assert [counts[(*key, label)] for label in LABELS] == np.diag(square).tolist()


def test_bm25_is_what_a_fresh_run_gives():
    profile = profiles.load("default")
    try:
        mini = load_benchmark(DEFAULT.TURNS, profile)
    except FetchError as error:
        pytest.skip(f"the corpus cannot be fetched here: {error}")
    turns = list(mini.turns())
    fresh = oracle_bound(
        searcher("bm25", mini.passages), turns, mini.qrels,
        {t.query_id: t.author_voice for t in turns}, gate=GATES.oracle, resamples=20,
        confidence=0.95, rng=np.random.default_rng(1),
    )  # fmt: skip
    saved = table("t07_bounds").set_index(["system", "view", "bound"])
    row = saved.loc[("bm25", "last_turn", "author_voice")]
    assert row["points"] == pytest.approx(fresh.points.value, abs=1e-3)
    assert (row["gained"], row["lost"]) == (fresh.points.n_gained, fresh.points.n_lost)
    assert row["tier"] == fresh.tier
