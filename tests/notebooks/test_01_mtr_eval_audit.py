"""What notebook 01 saved: in range, with coverage, and what the sentences claim."""

from __future__ import annotations

import pandas as pd
import pytest

from mtrlib import paths, profiles
from mtrlib.audit.damage import KINDS
from mtrlib.audit.dose_response import OWN_DAMAGE
from mtrlib.audit.judging import EVIDENCE_METRICS, METRICS
from mtrlib.audit.panel import LEAST_COVERAGE
from mtrlib.reporting import results


def table(name: str) -> pd.DataFrame:
    return results.load(name, paths.results())[0]


def test_scores_lie_on_the_scale_and_stand_beside_their_coverage():
    scores = table("t01_scores")
    shown = scores["value"].notna()
    assert scores.loc[shown, "value"].between(1, 5).all()
    assert (scores.loc[shown, "coverage"] >= LEAST_COVERAGE).all()
    assert scores.loc[~shown, "note"].ne("").all()
    assert (scores["n_judged"] <= scores["n_tasks"]).all()


def test_every_judge_of_the_profile_is_there_for_every_set():
    scores = table("t01_scores")
    default = profiles.PROFILES["default"]
    assert set(scores["judge"]) == set(default.JUDGES)
    copies = {f"mtr-mini+{kind}40" for kind in KINDS}
    assert {*default.BENCHMARKS, "judgements-mini", *copies} == set(scores["set"])
    assert set(scores["metric"]) == set(METRICS)


def test_local_judges_do_not_judge_the_quality_of_answers():
    scores = table("t01_scores")
    quality = scores[scores["metric"].eq("quality")].set_index("judge")["note"]
    for judge in ("lexical", "minilm", "feature"):
        assert set(quality[judge]) == {"not applicable"}


def test_the_recorded_judge_answers_for_the_rated_items_and_little_else():
    scores = table("t01_scores")
    own = scores[scores["judge"].eq("smollm2")].set_index("set")["coverage"]
    assert own["judgements-mini"].min() > 0.9
    assert own["headings"].max() == 0


@pytest.mark.parametrize("metric", EVIDENCE_METRICS)
def test_the_best_local_judge_falls_with_every_dose_or_is_said_not_to(metric):
    matrix = table("t01_matrix")
    own = matrix[matrix["judge"].eq("feature") & matrix["metric"].eq(metric) & matrix["own"]]
    assert own["kind"].tolist() == [OWN_DAMAGE[metric]]
    doses = table("t01_doses")
    course = doses[
        doses["judge"].eq("feature") & doses["metric"].eq(metric)
        & doses["kind"].eq(OWN_DAMAGE[metric])
    ].sort_values("rate")["value"]  # fmt: skip
    falls = bool((course.diff().dropna() < 0).all())
    assert own["monotone"].tolist() == [falls]


def test_estimates_are_shares_with_what_was_planted():
    found = table("t01_estimates").set_index(["set", "quantity"])
    shown = found[found["value"].notna()]
    assert shown[["value", "ci_low", "ci_high"]].stack().between(0, 1).all()
    assert (shown["ci_low"] <= shown["ci_high"]).all()
    assert found.loc[("mtr-mini+noise40", "noise"), "planted"] == pytest.approx(0.4, abs=0.01)
    # more was planted, more is found
    doses = [found.loc[(f"mtr-mini+noise{r}", "noise"), "value"] for r in (10, 20, 40)]
    assert doses == sorted(doses)


def test_a_default_judge_separates_better_than_minilm():
    found = table("t01_separation")
    auc = found[found["statistic"].eq("auc")].set_index("judge")["value"]
    assert auc["feature"] > auc["minilm"]
