"""What notebook 03 saved: complete, in range, and BM25 as a fresh run gives it."""

from __future__ import annotations

import pandas as pd
import pytest

from mtrlib import paths, profiles
from mtrlib.data.authored.records import load_authored
from mtrlib.data.benchmarks import load_benchmark
from mtrlib.errors import FetchError
from mtrlib.reporting import results, retriever_grid

KEY = ["benchmark", "view", "system"]


@pytest.fixture(scope="module")
def recall() -> pd.DataFrame:
    return results.load("t03_recall", paths.results())[0].set_index(KEY).sort_index()


def test_every_retriever_under_every_view(recall: pd.DataFrame):
    default = profiles.PROFILES["default"]
    for benchmark in default.BENCHMARKS:
        for view in default.VIEWS:
            assert set(recall.loc[benchmark, view].index) == set(default.RETRIEVERS)


def test_means_lie_inside_their_intervals(recall: pd.DataFrame):
    assert recall["value"].between(0, 1).all()
    assert (recall["ci_low"] <= recall["value"]).all()
    assert (recall["value"] <= recall["ci_high"]).all()
    assert (recall["ci_low"] < recall["ci_high"]).all()


def test_coverage_stands_beside_every_mean(recall: pd.DataFrame):
    coverage = results.load("t03_coverage", paths.results())[0].set_index(KEY).sort_index()
    assert coverage["n_queries"].equals(recall["n_queries"])
    assert (coverage["n_duplicate_rows"] == 0).all()
    last_turn = coverage.xs("last_turn", level="view")
    assert (last_turn["dropped_utterances"] == 0).all()
    dense = coverage.xs("minilm", level="system").xs("full_history", level="view")
    assert (dense["truncated"] > 0).all()  # 256 tokens do not hold eight turns


def test_corrected_p_values_and_verdicts(recall: pd.DataFrame):
    pairs = results.load("t03_pairs", paths.results())[0]
    assert (pairs["difference"] >= 0).all()
    assert (pairs["p_holm"] >= pairs["p_value"]).all()
    assert set(pairs["verdict"]) <= {"differ", "inconclusive"}
    assert ((pairs["verdict"] == "differ") == (pairs["p_holm"] < 0.05)).all()
    for _, part in pairs.groupby(["benchmark", "view"]):
        assert len(part) == 6
    apart = pairs[(pairs["verdict"] == "differ")]
    assert ((apart["ci_low"] > 0) | (apart["p_holm"] > 0.01)).all()


def test_bm25_is_what_a_fresh_run_gives(recall: pd.DataFrame):
    profile = profiles.load("default", RETRIEVERS=["bm25"], BENCHMARKS=["headings"])
    try:
        benchmark = load_benchmark("headings", profile)
    except FetchError as error:
        pytest.skip(f"the corpus cannot be fetched here: {error}")
    grid = retriever_grid.measure([benchmark], profile)
    fresh = grid.per_query.groupby(KEY)["value"].mean()
    for key, value in fresh.items():
        assert value == pytest.approx(recall.loc[key, "value"], abs=5e-7)


def test_figure_points_are_the_saved_means(recall: pd.DataFrame):
    points = pd.read_csv(paths.figures() / "fig03_recall_by_view.csv")
    points = points.set_index(KEY).sort_index()
    assert points["value"].equals(recall["value"])


def test_manifest_says_what_made_the_numbers():
    _, manifest = results.load("t03_recall", paths.results())
    assert manifest["mode"] == "measured"
    assert manifest["settings"]["PROFILE"] == "default"
    assert set(manifest["models"]) == {"static-256", "splade-tiny", "minilm"}
    assert all(len(sha) == 64 for sha in manifest["models"].values())
    assert {"torch", "sentence-transformers", "bm25s"} <= set(manifest["versions"])


def test_mtr_mini_is_sound():
    """The three things that must hold, as issue 02 asks."""
    gains = results.load("t03_sanity", paths.results())[0]
    assert len(gains) == 8
    assert set(gains["holds"]) == {"yes"}
    coverage = results.load("t03_coverage", paths.results())[0]
    authored = coverage[coverage["benchmark"] == "mtr-mini"]
    assert set(authored["n_without_gold"]) == {17}
    assert set(authored["n_queries"]) == {256 - 17}


def test_slices_come_in_pairs_that_cover_the_turns():
    slices = results.load("t03_slices", paths.results())[0]
    sizes = slices.groupby("slice")["n_queries"].agg(["min", "max"])
    assert (sizes["min"] == sizes["max"]).all()
    assert sizes["max"]["standalone"] + sizes["max"]["context-dependent"] == 256 - 17
    assert sizes["max"]["short"] + sizes["max"]["verbose"] == 256 - 17


def test_a_topic_switch_hurts_the_views_that_carry_the_history():
    slices = results.load("t03_slices", paths.results())[0]
    value = slices.set_index(["view", "slice", "system"]).sort_index()
    for view in ("user_turns", "full_history"):
        before, after = (value.loc[view, s] for s in ("before switch", "from switch on"))
        assert (after["ci_high"] < before["ci_high"]).all()
        assert (after["value"] < before["value"]).all()


def test_global_view_counts_all_gold():
    counts = results.load("t03_global_view", paths.results())[0].groupby("set")["gold"].sum()
    found = load_authored()
    for name in ("mtr-mini", "list-mini"):
        rows = [r for pooled in found.judged[name].values() for r in pooled]
        assert counts[name] == sum(r["decision"] == "gold" for r in rows)


def test_statistics_are_complete_and_in_range():
    load = lambda name: results.load(name, paths.results())[0]  # noqa: E731
    pairs, detectable, needed = load("t03_pairs"), load("t03_detectable"), load("t03_needed")
    assert len(pairs) == len(detectable) == len(needed) == 2 * 3 * 6
    assert (detectable["mdd"] > 0).all()
    assert (detectable["mdd_all"] >= detectable["mdd"]).all()
    power = load("t03_power")
    assert (power["power_holm"] <= power["power"]).all()
    assert load("t03_stability")[["tau", "tau_ap"]].abs().le(1).all(axis=None)


def test_the_naive_cut_never_beats_the_protected_question_beyond_the_noise():
    naive = results.load("t03_naive", paths.results())[0].set_index("system")
    assert (naive["ci_high"] >= 0).all()
    assert naive.loc["bm25", "difference"] == 0  # has no limit, so nothing is cut
    assert naive.loc["minilm", "ci_low"] > 0  # 256 tokens: the cut loses real recall
