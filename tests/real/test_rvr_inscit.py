"""INSCIT's turns with three or more gold passages as list questions, and what is stored of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from needed import pack

from mtrlib import profiles
from mtrlib.reporting import real_rvr
from mtrlib.reporting.real_results import real_tables
from mtrlib.reporting.rvr_grid import rules_of


@pytest.fixture(scope="module")
def folder(real_data: Path) -> Path:
    return pack(real_data, "inscit")


def test_turns_with_three_or_more_gold_passages(folder: Path):
    lists, turns = real_rvr.inscit_lists(folder, profiles.load("default"))
    questions = lists.questions["test"]
    assert len(questions) == len(turns) == 178
    assert min(len(q.gold) for q in questions) == 3
    assert all(set(q.gold) <= set(lists.by_id) for q in questions)
    assert rules_of(questions) == ["passages", "all_gold"]  # no answers to look for
    assert lists.left_out["test"] == 502 - 178


def test_the_stored_run_has_every_system_and_verifier(folder: Path):
    found = real_tables()["rvr_inscit"]
    assert (found["n"] == 178).all()
    value = found[found["rule"] == "passages"].set_index(["system", "verifier", "measure"])["value"]
    assert {"base_single", "ft_i_single", "base_base", "ft_i_ft_r"} <= set(found["system"])
    for measure in ("recall", "mrecall"):
        assert value["base_base", "oracle", measure] >= value["base_single", "-", measure]


def test_savings_are_over_both_sets(folder: Path):
    found = real_tables()["rvr_savings"]
    assert (found["n"] == 60 + 178).all()
    assert found["share"].between(0, 1).all()
