"""The project's copy of the published numbers says what the source file says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from mtrlib.reporting import published

OURS = set(
    "work source notebook setup unit decimals tolerance testable note n headline requires ours "
    "columns".split()
)
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


def test_no_number_is_ours_alone(given):
    known = set(numbers(given))
    for number in published.published_numbers():
        assert number.value in known, (number.block, number.name)


def numbers(found: object) -> Iterator[float]:
    """All numbers of the file, those in its sentences too."""
    if isinstance(found, dict):
        for part in found.values():
            yield from numbers(part)
    elif isinstance(found, list):
        for part in found:
            yield from numbers(part)
    elif isinstance(found, str):
        yield from map(float, re.findall(r"\d+(?:\.\d+)?", found))
        yield from (1.0 for word in found.split() if word == "one")
    elif isinstance(found, int | float):
        yield float(found)


def test_every_block_is_there_and_says_where_it_stands(given):
    for block in given:
        found = published.published(block)
        assert found["source"], block
        assert found["testable"] in ("smoke", "default", "paper", "none"), block
