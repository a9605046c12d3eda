"""Means, pairs and spread on a table whose answer is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mtrlib.evaluation import discrimination, sanity
from mtrlib.reporting import sentences

PER_QUERY = ["benchmark", "view", "system", "query_id", "conversation_id", "turn_number", "value"]
SURE = {"resamples": 500, "confidence": 0.95}


@pytest.fixture
def per_query() -> pd.DataFrame:
    """30 conversations of two turns; b beats a everywhere, c equals a."""
    rows = []
    rng = np.random.default_rng(1)
    for conversation in range(30):
        for turn in (1, 2):
            base = rng.uniform(0, 0.5)
            for system, value in {"a": base, "b": base + 0.3, "c": base}.items():
                rows.append(
                    ("t", "v", system, f"{conversation}_{turn}", str(conversation), turn, value)
                )
    return pd.DataFrame(rows, columns=PER_QUERY)


def test_means_and_counts(per_query: pd.DataFrame):
    rng = np.random.default_rng(0)
    table = discrimination.mean_intervals(per_query, ["system"], **SURE, rng=rng)
    expected = per_query.groupby("system")["value"].mean()
    assert table.set_index("system")["value"].to_dict() == pytest.approx(expected.to_dict())
    assert table["n_queries"].tolist() == [60, 60, 60]
    assert table["n_conversations"].tolist() == [30, 30, 30]
    assert ((table["ci_low"] < table["value"]) & (table["value"] < table["ci_high"])).all()


def test_pairs_that_differ_and_pairs_that_do_not(per_query: pd.DataFrame):
    rng = np.random.default_rng(0)
    pairs = discrimination.compare_systems(per_query, **SURE, rng=rng)
    found = {frozenset((r.worse, r.better)): r for r in pairs.itertuples()}
    assert found[frozenset("ab")].verdict == "differ"
    assert found[frozenset("ab")].better == "b"
    assert found[frozenset("ab")].difference == pytest.approx(0.3)
    assert found[frozenset("ab")].gained == 1.0
    assert found[frozenset("ac")].verdict == "inconclusive"
    assert found[frozenset("ac")].p_holm == 1.0


def test_spread_and_its_sentence(per_query: pd.DataFrame):
    rng = np.random.default_rng(0)
    by = ["benchmark", "view", "system"]
    means = discrimination.mean_intervals(per_query, by, **SURE, rng=rng)
    pairs = discrimination.compare_systems(per_query, **SURE, rng=rng)
    spreads = discrimination.spread(per_query, pairs, **SURE, rng=rng)
    assert spreads.loc[0, ["best", "pairs_apart", "pairs"]].tolist() == ["b", 2, 3]
    assert spreads.loc[0, "spread"] == pytest.approx(0.3)
    # b is 0.3 above a and c for every query, so no resample can move the spread
    assert spreads.loc[0, ["ci_low", "ci_high"]].tolist() == pytest.approx([0.3, 0.3])
    (sentence,) = sentences.spread_sentences(means, spreads, 20)
    assert sentence.startswith("t, v: Recall@20 from ")
    assert "a spread of 30.0 points; 2 of 3 pairs" in sentence


def test_same_seed_same_table_whatever_the_row_order(per_query: pd.DataFrame):
    def table(frame: pd.DataFrame) -> pd.DataFrame:
        rng = np.random.default_rng(7)
        return discrimination.mean_intervals(frame, ["system"], **SURE, rng=rng)

    ordered = per_query.sort_values(["system", "query_id"])
    shuffled = ordered.groupby("system", group_keys=False)[list(ordered)].apply(
        lambda part: part.sample(frac=1, random_state=3)
    )
    pd.testing.assert_frame_equal(table(ordered), table(shuffled))


def test_the_claim_needs_intervals_that_do_not_overlap():
    def spreads(low: float, value: float, high: float) -> pd.DataFrame:
        rows = [("new", "v", value, low, high), ("old", "v", 0.2, 0.1, 0.3)]
        return pd.DataFrame(rows, columns=["benchmark", "view", "spread", "ci_low", "ci_high"])

    def verdict(*numbers: float) -> str:
        (sentence,) = sentences.claim_sentences(spreads(*numbers), "new", "old")
        return sentence.split(": ")[1].split(";")[0]

    assert verdict(0.35, 0.4, 0.5) == "holds"
    assert verdict(0.25, 0.4, 0.5).startswith("inconclusive")
    assert verdict(0.05, 0.1, 0.15) == "does not hold"


def test_slices_and_their_sentences():
    rows = [
        ("t", "v", "a", f"c_{turn}", "c", turn, value, labels, from_switch)
        for turn, value, labels, from_switch in (
            (1, 0.8, ("standalone",), -2),
            (2, 0.4, ("context_dependent", "verbose"), -1),
            (3, 0.6, ("standalone", "topic_switch"), 0),
            (4, 0.2, ("context_dependent",), 1),
        )
    ]
    columns = [*PER_QUERY, "labels", "from_switch"]
    table = pd.DataFrame(rows, columns=columns)
    sliced = discrimination.sliced(table)
    sizes = sliced.groupby("slice")["query_id"].count()
    assert sizes[list(discrimination.SLICES)].tolist() == [2, 2, 3, 1, 2, 2]
    rng = np.random.default_rng(0)
    by = ["benchmark", "view", "system", "slice"]
    means = discrimination.mean_intervals(sliced, by, **SURE, rng=rng)
    assert "context-dependent less standalone turns: a -40.0" in " ".join(
        sentences.slice_sentences(means, 20)
    )


def test_sanity_says_yes_only_beyond_the_noise(per_query: pd.DataFrame):
    views = {"a": "last_turn", "b": "author_voice", "c": "rewrite"}
    table = per_query.assign(
        view=per_query["system"].map(views), system="s", labels=[()] * len(per_query)
    )
    table["labels"] = [("context_dependent",)] * len(table)
    gains = sanity.sanity(table, **SURE, rng=np.random.default_rng(0))
    assert gains["holds"].tolist() == ["yes", "no"]
    said = sentences.sanity_sentences(gains)
    assert "holds for 1 of 1 retrievers (s +30.0)" in said[0]
    assert "holds for 0 of 1 retrievers (s +0.0)" in said[1]
