"""The judges that need no LLM against people: committed figures hold, and say what we say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from needed import fetched

from mtrlib import profiles
from mtrlib.audit.simple_judges import LexicalJudge
from mtrlib.data.benchmarks import load_benchmark
from mtrlib.profiles import Profile
from mtrlib.reporting import real_inscit, real_sets
from mtrlib.reporting.real_comparison import (
    CROSS_FITTED,
    compared,
    people_of_mtrag,
    pool_rows,
    two_annotators,
)
from mtrlib.reporting.real_results import ABOUT, real_tables

EXACT = 1e-5  # six decimals are committed
FITTED = 5e-3  # vectors and fits differ a little between processors
KEY = ["part", "human", "judge", "metric", "verdict", "statistic"]


@pytest.fixture(scope="module")
def committed() -> dict[str, pd.DataFrame]:
    found = real_tables()
    assert {"validation", "recovery", "capture_recapture"} <= set(found)
    return found


@pytest.fixture(scope="module")
def quick() -> Profile:
    return profiles.load("default", RESAMPLES=2)


@pytest.fixture
def pack(real_data: Path) -> Callable[[str], Path]:
    def find(name: str) -> Path:
        files = [real_data / name / file for file in real_sets.FILES[name]]
        if not all(file.is_file() for file in files):
            pytest.skip(f"the pack {name} is not in the real data")
        return real_data / name

    return find


def value(committed: dict[str, pd.DataFrame], statistic: str, **where: str) -> float:
    """The one committed value of a statistic."""
    table = committed["validation"]
    rows = table[table["statistic"] == statistic]
    for column, wanted in where.items():
        rows = rows[rows[column] == wanted]
    assert len(rows) == 1, (statistic, where, len(rows))
    return float(rows["value"].iloc[0])


def agree(fresh: pd.DataFrame, committed: pd.DataFrame, tolerance: float) -> None:
    """Every fresh row is committed with the same value and the same counts."""
    both = fresh.merge(committed, on=KEY, suffixes=("", "_committed"), how="left")
    apart = (both["value"] - both["value_committed"]).abs()
    assert not (apart.isna() | (apart > tolerance)).any(), both[[*KEY, "value", "value_committed"]]
    assert (both["n"] == both["n_committed"]).all()
    assert (both["n_missing"] == both["n_missing_committed"]).all()


def test_figures_have_intervals_and_say_what_they_rest_on(committed):
    for name, table in committed.items():
        about = table.attrs
        assert about["mode"] == "measured"
        assert about["skipped"] == []
        assert about["date"]
        assert about["notes"] == ABOUT[name]
        assert set(about["packs"]) <= set(real_sets.FILES)
        assert not table.isna().any(axis=None), name
    table = committed["validation"]
    # with half yes the reference is at its maximum, so that every resample lies below
    table = table[table["statistic"] != "brier_reference"]
    assert ((table["ci_low"] <= table["value"]) & (table["value"] <= table["ci_high"])).all()
    assert not table.duplicated(KEY).any()
    assert (
        "ANSWER" in committed["validation"].attrs["notes"]
    )  # its completeness is not that of the evidence


def test_raters_of_mtrag_as_committed(pack, committed, quick):
    agree(people_of_mtrag(pack("mtrag_human"), quick), committed["validation"], EXACT)


@pytest.mark.parametrize("name", ["mtrag_human", "begin", "clapnq"])
def test_lexical_overlap_against_people_as_committed(name, pack, committed, quick):
    folder = pack(name)
    found = {
        "mtrag_human": lambda: [real_sets.mtrag_human(folder)],
        "begin": lambda: list(real_sets.begin_sets(folder)),
        "clapnq": lambda: [real_sets.clapnq(folder)],
    }[name]()
    assert (
        sum(len(rated.people) for rated in found)
        == {
            "mtrag_human": 477,
            "begin": 4453,
            "clapnq": 600,
        }[name]
    )
    for rated in found:
        said = real_sets.verdicts(LexicalJudge([rated.items]), rated.tasks)
        fresh = pd.concat(compared(rated, {"lexical": said}, quick))
        agree(fresh, committed["validation"], EXACT)


@pytest.mark.models
def test_pools_of_inscit_as_committed(pack, committed, quick):
    benchmark = load_benchmark(str(pack("inscit")), quick)
    with fetched("a retriever"):
        found = real_inscit.pools(benchmark)
        taught = real_inscit.cross_fitted(found, quick)
        alone = real_inscit.cross_fitted(found, quick, gold="first")
    lexical = real_sets.verdicts(LexicalJudge([found.items]), found.tasks)
    rows = pd.concat(pool_rows(found, {"lexical": lexical, CROSS_FITTED: taught}, quick))
    agree(rows, committed["validation"], FITTED)
    fresh = real_inscit.hidden_annotator(found, {CROSS_FITTED: alone}, quick.CONFIDENCE)
    table = committed["recovery"]
    both = fresh.merge(table, on=["judge", "n"], suffixes=("", "_committed"))
    assert len(both) == len(fresh)
    assert np.allclose(both["recall"], both["recall_committed"], atol=0.02)
    assert (both["n_hidden"] == both["n_hidden_committed"]).all()


def test_completeness_of_inscit_as_committed(pack, committed, quick):
    benchmark = load_benchmark(str(pack("inscit")), quick)
    fresh, known = two_annotators(benchmark, quick), committed["capture_recapture"]
    assert np.allclose(fresh["value"], known["value"], atol=EXACT)
    union = known[known["of"] == "union"].set_index("odds_ratio")
    assert union.index.tolist() == [0, 1, 2, 4]
    assert union["value"].is_monotonic_decreasing
    assert union.loc[1, "value"] == pytest.approx(0.712, abs=1e-3)
    assert "upper bound" in union.loc[1, "assumption"]


def test_on_pools_the_feature_judge_passes_the_bar(committed):
    """Above every retriever, also where it never saw INSCIT; taught there it is better yet."""
    pools = {"part": "inscit_pools"}
    auc = {j: value(committed, "auc", judge=j, **pools) for j in ("feature", CROSS_FITTED)}
    others = committed["validation"].query("part == 'inscit_pools' and statistic == 'auc'")
    rivals = others[~others["judge"].isin(list(auc))]
    assert rivals["judge"].size == 6  # two judges, four retrievers
    assert auc["feature"] > rivals["value"].max() + 0.03
    assert auc[CROSS_FITTED] > 0.895  # logistic regression of the first trial
    assert value(committed, "brier", judge=CROSS_FITTED, **pools) < 0.068
    assert value(committed, "brier_skill", judge="feature", **pools) > 0.2


def test_against_the_best_of_bm25_only_teaching_helps(committed):
    hard = {"part": "inscit_hard_pairs"}
    auc = {
        j: value(committed, "auc", judge=j, **hard)
        for j in ("lexical", "minilm", "feature", CROSS_FITTED, "minilm, last turn")
    }
    assert auc["lexical"] < 0.5 < auc["minilm"] < auc["feature"] < auc[CROSS_FITTED]
    # MiniLM asked with the last turn alone is not beaten without teaching
    assert abs(auc["feature"] - auc["minilm, last turn"]) < 0.03
    assert auc[CROSS_FITTED] > auc["minilm, last turn"] + 0.03


def test_off_its_home_ground_the_feature_judge_does_not_lead(committed):
    """What a reader must know before choosing it as the only judge."""
    clapnq = {j: value(committed, "auc", judge=j, part="clapnq") for j in ("minilm", "feature")}
    assert 0.8 < clapnq["feature"] < clapnq["minilm"]
    for part in ("begin_dev_cmu", "begin_dev_wow", "begin_test_wow"):
        lexical, feature = (
            value(committed, "auc", judge=j, part=part) for j in ("lexical", "feature")
        )
        assert 0.75 < feature < lexical
    # and its probabilities do not carry over to sets with another share of yes
    assert value(committed, "brier_skill", judge="feature", part="begin_test_wow") < 0


def test_on_mtrag_local_judges_come_near_people_but_not_beyond(committed):
    people = value(committed, "pearson_left_out", human="faithfulness")
    for judge in ("lexical", "minilm", "feature"):
        how = {"judge": judge, "human": "faithfulness"}
        how["verdict"] = "probability" if judge == "feature" else "score"
        best, mean = (
            value(committed, "pearson", metric=f"faithfulness, {taken} of gold", **how)
            for taken in ("max", "mean")
        )
        assert 0.5 < best < people
        assert mean < best  # an answer needs one passage that holds it, not all


def test_suspects_of_the_feature_judge_hold_hidden_gold(committed):
    found = committed["recovery"].set_index(["judge", "n"])
    for n in (50, 100, 200, 500):
        feature, minilm = found.loc[("feature", n)], found.loc[("minilm", n)]
        assert feature["ci_low"] > 4 * feature["base_rate"]
        assert feature["precision"] > 2 * minilm["precision"]
        assert found.loc[(CROSS_FITTED, n), "precision"] > feature["precision"]
    assert found.loc[("feature", 500), "recall"] > 0.4
    assert (found["recall"] <= found["n_hidden_found"] / found["n_hidden"]).all()
