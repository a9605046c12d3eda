"""What notebook 06 saved: one setting at a time, and the calls that can be saved."""

from __future__ import annotations

import pandas as pd

from mtrlib import paths, profiles
from mtrlib.reporting import results, rvr_sweeps

DEFAULT = profiles.PROFILES["default"]


def table(name: str) -> pd.DataFrame:
    return results.load(name, paths.results())[0]


def test_sweeps_cover_their_settings():
    assert set(table("t06_budget")["budget"]) == set(rvr_sweeps.budgets(DEFAULT))
    assert set(table("t06_rounds")["rounds"]) == set(rvr_sweeps.rounds(DEFAULT))
    assert set(table("t06_context")["context"]) == set(rvr_sweeps.contexts(DEFAULT))


def test_a_budget_of_nothing_asks_nothing():
    budget = table("t06_budget")
    assert (budget.loc[budget["budget"] == 0, "judged"] == 0).all()
    assert (budget["judged"] <= budget["budget"]).all()


def test_one_round_is_the_single_round_whatever_the_verifier():
    rounds = table("t06_rounds")
    once = rounds[rounds["rounds"] == 1]
    assert (once["judged"] == 0).all()
    first = once["system"].str.partition(" ")[0]
    assert (once.groupby([first, "measure"])["value"].nunique() == 1).all()


def test_the_recorded_llm_is_there_with_its_coverage():
    found = table("t06_verifiers")
    assert any(name.startswith("smollm2") for name in found["verifier"])
    assert set(found["verifier"]) >= set(DEFAULT.VERIFIERS)


def test_calls_saved_stand_beside_what_they_cost():
    calls = table("t06_calls")
    assert calls["share"].between(0, 1).all()
    assert ((calls["low"] <= calls["difference"]) & (calls["difference"] <= calls["high"])).all()
    assert {"early", "cascade"} == {way.split()[0] for way in calls["way"]}
