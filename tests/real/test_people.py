"""People on real sets: raters of MTRAG among themselves, the two annotators of INSCIT."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from needed import pack

from mtrlib import profiles
from mtrlib.audit.capture_recapture import COUNTS, annotator_captures, completeness
from mtrlib.data.benchmarks import load_benchmark
from mtrlib.data.formats.mtrag_ratings import METRICS, read_ratings
from mtrlib.evaluation.people import people_table


def test_raters_of_mtrag_agree_as_far_as_the_pack_says(real_data: Path):
    path = pack(real_data, "mtrag_human") / "ratings_clean.jsonl"
    rows = [
        (r.metric, f"{r.item_id} {r.system}", r.item_id, r.rater, r.value)
        for r in read_ratings(path)
        if r.metric in METRICS
    ]
    ratings = pd.DataFrame(rows, columns=["metric", "item_id", "group", "rater", "rating"])
    table = people_table(
        ratings, "interval", resamples=20, confidence=0.95, rng=np.random.default_rng(13)
    )
    found = table.pivot(index="metric", columns="statistic", values="value").round(2)
    assert found["alpha_interval"].to_dict() == {
        "faithfulness": 0.55,
        "completeness": 0.39,
        "naturalness": 0.30,
        "appropriateness": 0.05,
    }
    assert found["pearson_left_out"].to_dict() == {
        "faithfulness": 0.62,
        "completeness": 0.47,
        "naturalness": 0.37,
        "appropriateness": 0.07,
    }
    assert set(table["n"]) == {477}


def test_completeness_of_the_two_annotators_of_inscit(real_data: Path):
    benchmark = load_benchmark(str(pack(real_data, "inscit")), profiles.load("default"))
    found = annotator_captures(benchmark.turns())
    assert len(found) == 333
    assert found[COUNTS].sum().tolist() == [543, 534, 249]
    # on turns where both marked something, as the pack counts
    both = annotator_captures(benchmark.turns(), both_marked=True)
    assert len(both) == 324
    assert (both["both"] / both["second"]).mean() == pytest.approx(0.546, abs=5e-4)
    table = completeness(found, resamples=200, confidence=0.95, rng=np.random.default_rng(13))
    independent = table[table["odds_ratio"] == 1].set_index("of")
    assert independent["value"].round(3).to_dict() == {
        "first": 0.467,
        "second": 0.459,
        "union": 0.712,
    }
    union = independent.loc["union"]
    assert 0.6 < union["ci_low"] < union["value"] < union["ci_high"] < 0.8
