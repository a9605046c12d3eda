"""Small parts behind notebooks 01 and 02: thresholds, marks, sentences, word support."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from mtrlib.audit.items import AuditItem, ItemSet
from mtrlib.data.schema import Passage
from mtrlib.errors import InputError
from mtrlib.llm.questions import Verdict
from mtrlib.reporting import audit_estimates, audit_sentences, pipeline_tables, published
from mtrlib.reporting.audit_truth import probability
from mtrlib.reporting.pipeline_run import word_support


def test_youden_takes_the_cut_that_tells_most_apart():
    p = np.array([0.1, 0.2, 0.6, 0.7])
    assert audit_estimates.youden(p, np.array([False, False, True, True])) == 0.6
    # of equals the lowest: at 0.2 and at 0.7 half of the true ones more than of the false ones
    assert audit_estimates.youden(p, np.array([False, True, False, True])) == 0.2


def test_the_lead_threshold_counts_only_leads():
    columns = ["best_gold", "weakest_gold", "best_unmarked"]
    clean = pd.DataFrame([(0.9, 0.9, 0.8), (0.3, 0.3, 0.4)], columns=columns)
    holes = pd.DataFrame([(0.2, 0.2, 0.7), (0.1, 0.1, 0.6)], columns=columns)
    assert audit_estimates.lead_threshold(clean, holes) == 0.6


def test_pairs_are_marked_anew_for_a_copy():
    item = AuditItem("q", "copy", "c", 1, "?", gold=(Passage("b", ""),))
    pairs = pd.DataFrame({"item_id": ["q", "q"], "passage_id": ["a", "b"], "marked": [True, True]})
    found = audit_estimates.marked(pairs, ItemSet("copy", (item,), ()))
    assert found["marked"].tolist() == [False, True]
    assert set(found["set"]) == {"copy"}


def test_a_rating_without_probability_is_brought_to_the_unit():
    assert probability(Verdict(3.0)) == 0.5
    assert probability(Verdict(3.0, probabilities={"yes": 0.9})) == 0.9
    assert math.isnan(probability(Verdict.missing("refusal")))


def test_sentences_say_valid_not_valid_and_why():
    matrix = pd.DataFrame(
        {"judge": ["a", "b"], "metric": ["m", "m"], "own": [True, True], "monotone": [True, False]}
    )
    verdicts = pd.DataFrame(
        {
            "judge": ["a", "b", "c"],
            "metric": ["m", "m", "m"],
            "own_damage": ["noise"] * 3,
            "change": [-0.5, -0.1, math.nan],
            "other_damage": ["language"] * 3,
            "other_change": [-0.1, -0.2, math.nan],
            "valid": ["yes", "no", "n/a"],
            "why": ["", "falls as far with language", "no score"],
        }
    )
    one, two = audit_sentences.validity_sentences(verdicts, matrix)
    assert one.startswith("a, m: falls with every dose of noise (-0.50") and one.endswith("valid")
    assert "does not fall with every dose" in two and "not valid (falls as far" in two


def test_what_cannot_be_told_is_said():
    rows = [("s", "noise", math.nan, math.nan, math.nan, math.nan), ("s", "x", 0.5, 0.4, 0.6, 0.3)]
    columns = ["set", "quantity", "value", "ci_low", "ci_high", "planted"]
    said = audit_sentences.estimate_sentences(pd.DataFrame(rows, columns=columns))
    assert said == ["s: noise cannot be told, x 50% [40, 60] (30% planted)"]


@pytest.mark.parametrize(
    ("made", "verdict"),
    [((1.0, 0.9, 1.1), "worse"), ((3.0, 2.9, 3.1), "better"), ((2.0, 1.5, 2.5), "overlap")],
)
def test_the_synthesised_set_beside_a_written_one(made, verdict):
    rows = [("j", "m", "made", *made), ("j", "m", "written", 2.0, 1.8, 2.2)]
    columns = ["judge", "metric", "set", "value", "ci_low", "ci_high"]
    scores = pd.DataFrame(rows, columns=columns)
    (said,) = pipeline_tables.audit_sentences(scores, "made", "written")
    assert verdict in said


def test_word_support_counts_content_terms():
    passages = [Passage("a", "The mill burnt down."), Passage("b", "Bread.")]
    assert word_support().score("when did the mill burn?", passages) == [0.5, 0.0]
    assert word_support().score("of the", passages) == [0.0, 0.0]


def test_unknown_blocks_and_blocks_that_are_no_table():
    with pytest.raises(InputError, match="'mtr_fig3' is not in"):
        published.published("mtr_fig3")
    with pytest.raises(InputError, match="no plain table"):
        published.published_table("mtr_cost")
    assert published.published_table("mtr_fig2a").loc["MTR-Bench", "quality"] == 4.9
