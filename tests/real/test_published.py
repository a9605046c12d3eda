"""The project's copy of the published numbers says what the source file says."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from mtrlib.reporting import published

OURS = {"source", "unit", "tolerance", "testable", "note", "columns"}
PLAIN = "mtr_fig2a mtr_validation mtr_cost rvr_out_of_domain rvr_efficiency rewriting_thresholds"


def values(block: dict) -> dict:
    return {k: v for k, v in block.items() if k not in OURS}


@pytest.fixture
def given(shared_cases: Path) -> dict:
    text = (shared_cases.parent / "paper" / "expected.yaml").read_text("utf-8")
    return yaml.safe_load(text)


@pytest.mark.parametrize("block", PLAIN.split())
def test_plain_blocks_are_equal(given, block):
    assert values(published.published(block)) == values(given[block])


@pytest.mark.parametrize("block", ["rvr_main", "rvr_ablation"])
def test_tables_are_equal(given, block):
    assert published.published(block)["rows"] == given[block]["rows"]


def test_every_block_is_there_and_says_where_it_stands(given):
    for block in given:
        found = published.published(block)
        assert found["source"], block
        assert found["testable"] in ("smoke", "default", "paper", "none"), block
