"""Item scores, means with coverage, the panel, and what places a judge picks."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from mtrlib.audit.panel import item_scores, own_data_warnings, panel, scores
from mtrlib.audit.positions import position_statistics


def rows(
    metric: str,
    values: dict[str, list[float | None]],
    judge: str = "j",
    reason: str = "failed",
    **fields: object,
) -> pd.DataFrame:
    """Judgements of items ``<conversation>_<turn>``; None is missing for ``reason``."""
    return pd.DataFrame(
        [
            {
                "set": "s",
                "judge": judge,
                "metric": metric,
                "item_id": item,
                "conversation_id": item.split("_")[0],
                "turn_number": 1,
                "value": math.nan if v is None else float(v),
                "reason": reason if v is None else "",
                "n_options": math.nan,
                "n_gold": math.nan,
            }
            | fields
            for item, listed in values.items()
            for v in listed
        ]
    )


def scored(*tables: pd.DataFrame) -> pd.DataFrame:
    return scores(
        item_scores(pd.concat(tables)),
        resamples=200,
        confidence=0.95,
        rng=np.random.default_rng(1),
    )


def test_item_values_by_metric() -> None:
    verdicts = {"a_1": [5, 1, 3]}
    found = {m: item_scores(rows(m, verdicts)).iloc[0] for m in ("query_evidence", "faithfulness")}
    assert found["query_evidence"][["value", "low", "high"]].tolist() == [3, 1, 5]
    assert found["faithfulness"][["value", "low", "high"]].tolist() == [5, 1, 5]
    rotations = item_scores(rows("completeness", {"a_1": [1, 0, 0, 1]}, n_options=8, n_gold=2))
    assert rotations[["value", "chance", "n_tasks"]].iloc[0].tolist() == [0.5, 0.25, 4]


@pytest.mark.parametrize(
    ("verdicts", "value"),
    [([2, None], math.nan), ([5, None], 5), ([2, 3], 3), ([None, None], math.nan)],
)
def test_an_unread_passage_may_be_the_one_that_supports(verdicts, value) -> None:
    found = item_scores(rows("faithfulness", {"a_1": verdicts}))["value"].item()
    assert found == pytest.approx(value, nan_ok=True)


def test_missing_verdicts_are_left_out_of_an_item_mean_and_counted() -> None:
    found = item_scores(rows("query_evidence", {"a_1": [5, None], "a_2": [None]}))
    assert found["value"].tolist() == pytest.approx([5, math.nan], nan_ok=True)
    assert found["n_judged"].tolist() == [1, 0]
    assert found["n_tasks"].tolist() == [2, 1]


def test_means_weigh_items_alike_and_have_an_interval() -> None:
    found = scored(rows("query_evidence", {"a_1": [5, 5, 5, 5], "b_1": [1], "c_1": [3]})).iloc[0]
    assert found["value"] == 3
    assert 1 <= found["ci_low"] < 3 < found["ci_high"] <= 5
    assert (found["n_items"], found["n_judged"], found["n_tasks"]) == (3, 6, 6)
    assert found["coverage"] == 1
    assert math.isnan(found["rate"])


def test_completeness_shows_the_rate_and_its_place_on_the_scale() -> None:
    table = rows("completeness", {"a_1": [1], "b_1": [0], "c_1": [0], "d_1": [0]}, n_options=4,
                 n_gold=1)  # fmt: skip
    found = scored(table).iloc[0]
    assert found["rate"] == 0.25
    assert found["value"] == 2
    assert found["chance"] == 0.25
    assert found["rate_low"] == pytest.approx((found["ci_low"] - 1) / 4)
    assert found["rate_high"] == pytest.approx((found["ci_high"] - 1) / 4)


def test_low_coverage_hides_the_mean_and_says_so() -> None:
    half = scored(rows("quality", {"a_1": [5], "b_1": [None]})).iloc[0]
    assert (half["value"], half["coverage"], half["note"]) == (5, 0.5, "")
    less = scored(rows("quality", {"a_1": [5], "b_1": [None], "c_1": [None]})).iloc[0]
    assert math.isnan(less["value"])
    assert math.isnan(less["ci_low"])
    assert less["note"] == "judged 1 of 3, below 50%: not shown"


def test_a_judge_without_verdicts_is_none_and_never_zero() -> None:
    dead = scored(rows("completeness", {"a_1": [None], "b_1": [None]}, n_options=4, n_gold=1))
    assert dead["note"].item() == "none"
    assert dead[["value", "rate", "ci_low"]].isna().all(axis=None)
    useless = scored(rows("quality", {"a_1": [None]}, reason="not_applicable"))
    assert useless["note"].item() == "not applicable"


def test_panel_is_the_mean_over_judges_that_have_one() -> None:
    found = panel(
        scored(
            rows("quality", {"a_1": [5], "b_1": [5]}, "kind"),
            rows("quality", {"a_1": [2], "b_1": [None]}, "strict"),
            rows("quality", {"a_1": [None], "b_1": [None]}, "dead"),
            rows("quality", {"a_1": [None], "b_1": [None]}, "local", "not_applicable"),
        )
    ).iloc[0]
    assert found["value"] == 3.5
    assert (found["judges"], found["not_shown"]) == ("kind, strict", "dead")
    assert (found["n_judges"], found["n_judged"], found["n_tasks"]) == (2, 3, 6)
    assert found["coverage"] == 0.5


def test_panel_without_any_mean_is_missing() -> None:
    found = panel(scored(rows("quality", {"a_1": [None]}))).iloc[0]
    assert math.isnan(found["value"])
    assert found["n_judges"] == 0
    alone = panel(scored(rows("quality", {"a_1": [None]}, reason="not_applicable"))).iloc[0]
    assert alone["coverage"] == 0


def test_a_judge_that_wrote_the_set_is_named() -> None:
    judges = [
        SimpleNamespace(name="big", owner="Alpha"),
        SimpleNamespace(name="rule"),
        SimpleNamespace(name="blank", owner=""),
    ]
    found = own_data_warnings(judges, {"mine": "alpha ", "yours": "beta", "people": ""})
    assert len(found) == 1
    assert "big" in found[0]
    assert "mine" in found[0]


def picks(judge: str, places: list[int | None], n_options: list[int]) -> pd.DataFrame:
    table = rows("completeness", {f"c{i}_1": [1] for i in range(len(places))}, judge)
    return table.assign(
        position=pd.array(places, dtype="Int64"),
        outcome=["none" if p is None else "gold" for p in places],
        picked=[f"p{p}" for p in places],
        n_options=n_options,
    )


def test_expected_places_follow_the_number_of_options() -> None:
    found = position_statistics(picks("j", [1, 1, 3, None], [2, 2, 4, 2]))
    assert found["n_picked"].tolist() == [2, 0, 1, 0]
    assert found["expected"].tolist() == pytest.approx([1.25, 1.25, 0.25, 0.25])
    assert found["share"].sum() == pytest.approx(found["expected_share"].sum()) == 1
    assert found["p_value"].isna().all()  # too few picks for the test


def test_a_judge_of_places_is_found_and_an_even_one_is_not() -> None:
    both = pd.concat([picks("first", [1] * 30, [3] * 30), picks("even", [1, 2, 3] * 10, [3] * 30)])
    p_values = position_statistics(both).groupby("judge")["p_value"].first()
    assert p_values["first"] < 1e-6
    assert p_values["even"] == pytest.approx(1)


def test_no_picks_no_statistics() -> None:
    assert position_statistics(picks("j", [None], [3])).empty
