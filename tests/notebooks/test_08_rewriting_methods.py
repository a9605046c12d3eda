"""What notebook 08 saved: every method judged, verdicts that follow from their conditions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mtrlib import paths, profiles
from mtrlib.errors import FetchError
from mtrlib.reporting import results
from mtrlib.reporting.rewriting_study import RAW, RESOLVED, load_study
from mtrlib.retrieval.search import searcher
from mtrlib.rewriting.decisions import decide
from mtrlib.rewriting.gates import Gates
from mtrlib.rewriting.harness import measured
from mtrlib.rewriting.methods import apply_method
from mtrlib.rewriting.standard import standard_fusion

DEFAULT = profiles.PROFILES["default"]
GATES = Gates.read()
KEY = ["system", "before_it", "method"]
METHODS = ("coreference", "decomposition", "multi_query", "hyde")


def table(name: str) -> pd.DataFrame:
    return results.load(name, paths.results())[0]


def test_every_method_is_judged_for_every_retriever():
    found = table("t08_decisions")
    assert len(found) == 7 * len(DEFAULT.RETRIEVERS) and not found.duplicated(KEY).any()
    for method in METHODS:
        own = found[found["method"] == method]
        assert set(own["system"]) == set(DEFAULT.RETRIEVERS)
        bases = {RAW} if method == "coreference" else {RAW, RESOLVED}
        assert set(own["before_it"]) == bases
    assert set(found["verdict"]) <= {"launch", "hold", "undecided", "not applicable"}


def test_verdicts_follow_from_their_conditions():
    states = table("t08_conditions").groupby(KEY)["state"].agg(set).to_dict()
    for row in table("t08_decisions").to_dict("records"):
        found = states.get(tuple(row[k] for k in KEY), set())
        if row["used"] == 0:
            assert row["verdict"] == "not applicable" and not found
        elif row["used"] < GATES.labels_min_examples:
            assert row["verdict"] == "undecided" and row["n_needed"] > row["queries"]
        elif "failed" in found:
            assert row["verdict"] == "hold"
        elif "undecided" in found:
            assert row["verdict"] == "undecided"
        else:
            assert row["verdict"] == "launch" and row["ci_low"] > 0


def test_conditions_say_where_their_interval_lies():
    found = table("t08_conditions")
    above = found[(found["wanted"] == "above") & found["low"].notna()]
    met, failed = above[above["state"] == "met"], above[above["state"] == "failed"]
    assert (met["low"] > met["threshold"]).all() and (failed["high"] <= failed["threshold"]).all()
    inside = found[(found["state"] == "undecided") & found["low"].notna()]
    assert (inside["low"] <= inside["threshold"]).all()
    assert (inside["threshold"] <= inside["high"]).all()


def test_net_is_its_parts_in_both_readings():
    found = table("t08_net")
    noise = pd.to_numeric(found["noise_rate"], errors="coerce").fillna(0)
    net = found["recall_gain"] - 0.6 * noise - 0.3 * found["ndcg_loss"]
    assert np.allclose(net, found["net"], atol=1e-3)
    assert set(found["reading"]) == {"points", "fractions"}
    counted = found.dropna(subset=["ci_low"])
    assert (counted["ci_low"] <= counted["net"] + 1e-6).all()
    assert (counted["net"] <= counted["ci_high"] + 1e-6).all()


def test_rates_are_fractions_inside_their_intervals():
    for name in ("t08_measures", "t08_hyde_measures"):
        found = table(name).dropna(subset=["value"])
        rates = found[~found["measure"].isin(["recall@20", "ndcg@5", "answer in prompt",
                                              "coverage"])]  # fmt: skip
        assert rates["value"].between(0, 1).all()
        with_ends = found.dropna(subset=["ci_low"])
        assert (with_ends["ci_low"] <= with_ends["value"] + 1e-6).all()
        assert (with_ends["value"] <= with_ends["ci_high"] + 1e-6).all()


def test_pairs_are_the_sum_of_their_parts_and_what_is_beyond():
    found = table("t08_pairs")
    assert len(found) == 6 * 2 * len(DEFAULT.RETRIEVERS)
    beyond = found["together"] - found["alone_first"] - found["alone_second"]
    assert np.allclose(beyond, found["interaction"], atol=1e-3)
    apart = (found["ci_low"] > 0) | (found["ci_high"] < 0)
    assert (apart == (found["reading"] != "within noise")).all()


def test_the_noise_story_says_what_the_means_say():
    found = table("t08_noise")
    told = (found["recall_points"] > 0) & (found["ndcg_points"] < 0)
    assert (told == found["occurs"]).all()
    assert (found["queries"] <= found["n"]).all()


def test_a_label_can_only_gain_and_what_was_found_can_be_lost():
    found = table("t08_labels")
    failing = found[found["label"] != "found before"]
    assert (failing["points"] >= 0).all()
    assert (found["used"] <= found["n"]).all()
    few = found["n"] < GATES.labels_min_examples
    assert (few == (found["note"] == "too few to decide on")).all()


def test_hyde_is_shown_with_its_gate_open_and_with_the_careful_text():
    found = table("t08_hyde").set_index(["system", "method"])["used"]
    gated = table("t08_decisions").set_index(KEY)["used"]
    for system in DEFAULT.RETRIEVERS:
        assert gated[system, RESOLVED, "hyde"] <= found[system, "hyde, any length"]
        assert found[system, "hyde, any length"] <= found[system, "hyde, any length or word"]
        assert found[system, "hyde, careful"] == gated[system, RESOLVED, "hyde"]


def test_three_ways_to_keep_the_original_and_the_rules():
    found = table("t08_original")
    for _, part in found.groupby("system"):
        assert len(part) == 4
        recorded = part[part["method"] != "coreference, rules"]
        assert recorded["used"].nunique() == 1
    saved = table("t08_decisions").set_index(KEY)["net"]
    always = found[found["method"] == "coreference, original always"].set_index("system")["net"]
    for system, value in always.items():
        assert value == pytest.approx(saved[system, RAW, "coreference"], abs=1e-6)


def test_rows_that_are_no_rewriting_stand_beside():
    found = table("t08_comparison")
    assert set(found["what"]) == {"reranker", "hybrid"}
    assert set(found["queries"]) <= {"all", "ranking"}
    assert (found["p_holm"] >= found["p_value"]).all()


def test_bm25_is_what_a_fresh_run_gives():
    profile = profiles.load("default", RETRIEVERS=["bm25"], RESAMPLES=200)
    try:
        study = load_study(profile)
    except FetchError as error:
        pytest.skip(f"the corpus cannot be fetched here: {error}")
    bm25 = searcher("bm25", study.benchmark.passages)
    run = apply_method(
        study.methods()["coreference"], bm25, study.turns, fusion=standard_fusion(GATES)
    )
    fresh = decide(
        "coreference", measured(run, study.truth), study.truth.groups, GATES, **study.sure,
        rng=np.random.default_rng(1),
    )  # fmt: skip
    row = table("t08_decisions").set_index(KEY).loc[("bm25", RAW, "coreference")]
    assert row["net"] == pytest.approx(fresh.net["points"].value, abs=1e-3)
    assert (row["used"], row["verdict"]) == (fresh.n_used, fresh.verdict)
