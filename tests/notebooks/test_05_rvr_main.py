"""What notebook 05 saved: every row of the main table, with intervals, and what it cost."""

from __future__ import annotations

import pandas as pd
import pytest

from mtrlib import paths, profiles
from mtrlib.errors import FetchError
from mtrlib.reporting import results, rvr_grid, rvr_sentences

DEFAULT = profiles.PROFILES["default"]
SINGLE = {"base_single", "ft_i_single"}
LOOPS = {"base_base", "ft_i_ft_i", "base_ft_r", "ft_i_ft_r"}


@pytest.fixture(scope="module")
def main() -> pd.DataFrame:
    return results.load("t05_main", paths.results())[0]


def test_every_system_with_every_verifier(main: pd.DataFrame):
    rows = main[(main["rule"] == "answers") & (main["measure"] == "mrecall")]
    runs = set(zip(rows["system"], rows["verifier"], strict=True))
    verifiers = {v for s, v in runs if s in LOOPS}
    assert {"none", "oracle"} < verifiers
    assert len(verifiers) == 3
    assert runs == {(s, "-") for s in SINGLE} | {(s, v) for s in LOOPS for v in verifiers}
    assert (rows["n"] == 60).all()


def test_means_lie_inside_their_intervals(main: pd.DataFrame):
    assert main["value"].between(0, 1).all()
    assert ((main["ci_low"] <= main["value"]) & (main["value"] <= main["ci_high"])).all()


def test_an_oracle_never_finds_less_gold_than_no_second_round(main: pd.DataFrame):
    own = main[(main["rule"] == "passages") & (main["measure"] == "recall")]
    value = own.set_index(["system", "verifier"])["value"]
    assert value["base_base", "oracle"] >= value["base_single", "-"]
    assert value["ft_i_ft_r", "oracle"] >= value["ft_i_single", "-"]


def test_all_four_rules_stand_beside_each_other(main: pd.DataFrame):
    assert set(main["rule"]) == {"answers", "clusters", "passages", "all_gold"}
    loose = main[main["measure"] == "mrecall"].pivot_table(
        index=["system", "verifier"], columns="rule", values="value"
    )
    assert (loose["all_gold"] <= loose["passages"]).all()


def test_findings_are_paired_and_corrected():
    table, _ = results.load("t05_differences", paths.results())
    assert len(table) == 2 * len(rvr_sentences.FINDINGS)
    assert (table["p_holm"] >= table["p"]).all()
    assert (
        (table["ci_low"] <= table["difference"]) & (table["difference"] <= table["ci_high"])
    ).all()


def test_two_searches_and_at_most_b_verdicts_a_question():
    costs, _ = results.load("t05_costs", paths.results())
    assert (costs["searches"] == 2).all()
    assert (costs["judged"] <= DEFAULT.BUDGET).all()
    assert (costs["coverage"] == 1).all()


def test_coverage_is_whole():
    coverage, _ = results.load("t05_coverage", paths.results())
    assert (coverage["n_missing_from_run"] == 0).all()
    assert (coverage["n_duplicate_rows"] == 0).all()


@pytest.mark.models
def test_the_untrained_single_round_is_what_a_fresh_run_gives(main: pd.DataFrame):
    from mtrlib.data.list_sets import load_list_set
    from mtrlib.reporting.rvr_retrievers import Retrievers

    try:
        lists = load_list_set(DEFAULT)
        grid = rvr_grid.Grid(
            Retrievers(lists, {"minilm": {}}, {}), DEFAULT, lists.questions["test"]
        )
        grid.single("minilm", "base_single")
    except FetchError as error:
        pytest.skip(f"corpus or model cannot be fetched here: {error}")
    fresh = grid.per_question.groupby("rule")[["recall", "mrecall"]].mean()
    saved = main[main["system"] == "base_single"].set_index(["rule", "measure"])["value"]
    for rule, row in fresh.iterrows():
        for measure, value in row.items():
            assert value == pytest.approx(saved[rule, measure], abs=0.002)
