"""The layer behind notebooks 04 to 06: systems, verifiers, tables, sentences, tolerances."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest

from mtrlib import profiles
from mtrlib.data.list_sets import ListSet
from mtrlib.data.schema import Passage, Run
from mtrlib.data.tasks import Answer, ListQuestion
from mtrlib.errors import InputError
from mtrlib.reporting import (
    canonical,
    results,
    rvr_grid,
    rvr_retrievers,
    rvr_runs,
    rvr_sentences,
    rvr_sweeps,
    rvr_tables,
    rvr_training_tables,
)
from mtrlib.reporting.rvr_verifiers import Verifiers
from mtrlib.retrieval.registry import RetrieverSpec
from mtrlib.rvr.backbones import PUBLISHED, SMALL, backbone
from mtrlib.rvr.verifiers import ScoreVerifier

PROFILE = dataclasses.replace(
    profiles.PROFILES["default"], LIST_K=3, BUDGET=3, CONTEXT=1, RESAMPLES=100
)
PASSAGES = tuple(
    Passage(f"p{i}", f"text {'gold' if i < 3 else 'plain'} n{i}", f"t{i}") for i in range(12)
)


def questions(split: str, n: int) -> tuple[ListQuestion, ...]:
    answers = tuple(Answer(f"n{i}", passages=(f"p{i}",)) for i in range(3))
    return tuple(
        ListQuestion(f"{split}{i}", f"Which {split} {i}?", answers, ("p0", "p1", "p2"), split)
        for i in range(n)
    )


LISTS = ListSet(
    "toy",
    PASSAGES,
    {"train": questions("train", 2), "dev": questions("dev", 2), "test": questions("test", 8)},
    {},
)


class Toy:
    """Ranks passages by a fixed order; a context in the query brings the gold to the top."""

    def __init__(self, name: str = "toy") -> None:
        self.spec = RetrieverSpec(name, "dense", model="none")

    def search(self, queries, depth):
        first, second = ("p0", "p4", "p5", "p6", "p1", "p2"), ("p0", "p1", "p2", "p7")
        return Run.from_rankings(
            self.spec.name,
            {
                q: [(p, 1.0 - i / 10) for i, p in enumerate(second if "\n" in t else first)][:depth]
                for q, t in queries.items()
            },
        )

    def budget(self):
        return None, None


@pytest.fixture
def retrievers() -> rvr_retrievers.Retrievers:
    found = rvr_retrievers.Retrievers(LISTS, {"minilm": {}}, {})
    found._open["minilm"] = Toy("minilm")
    return found


class Words(Verifiers):
    """A local judge without models: the share of gold words."""

    def score(self, name: str):
        return lambda pairs: np.array([0.9 if "gold" in p.text else 0.1 for _, p in pairs])


@pytest.fixture
def verifiers(retrievers) -> Words:
    return Words(LISTS, Toy(), PROFILE)


def test_rows_of_the_main_table_follow_the_recipes():
    assert rvr_grid.trained_systems(PROFILE) == [
        "base_single", "ft_i_single", "base_base", "ft_i_ft_i", "base_ft_r", "ft_i_ft_r",
    ]  # fmt: skip
    joint = dataclasses.replace(PROFILE, RECIPES=("joint",))
    assert rvr_grid.trained_systems(joint) == [
        "base_single", "joint_single", "base_base", "joint_joint",
    ]  # fmt: skip
    with pytest.raises(InputError, match="RECIPES: 'later2' is unknown"):
        rvr_retrievers.recipes(["later2"])


def test_the_encoders_of_the_paper_have_its_context_sizes():
    assert [PUBLISHED[e].context for e in profiles.PROFILES["paper"].ENCODERS] == [3, 6, 6]
    paper = dataclasses.replace(PROFILE, CONTEXT=0)
    assert rvr_grid.rvr_settings(paper, "qwen3-embedding-0.6b").context == 6
    assert rvr_grid.rvr_settings(PROFILE, "qwen3-embedding-0.6b").context == 1
    assert backbone("minilm") is SMALL
    settings = SMALL.training("later", steps=5, context=0, seed=1)
    assert (settings.check_every, settings.context, settings.temperature) == (5, 3, 0.05)


def test_calibration_uses_no_reported_question(verifiers):
    asked = {q.question_id for q, _ in verifiers.calibration.pairs}
    assert asked == {"train0", "train1", "dev0", "dev1"}
    assert verifiers.calibration.truth.tolist() == [True, False, False] * 4  # B = 3
    reported_dev = Words(LISTS, Toy(), dataclasses.replace(PROFILE, LIST_SPLIT="dev"))
    assert {q.split for q, _ in reported_dev.calibration.pairs} == {"train"}


def test_quality_of_a_judge_that_knows(verifiers):
    table = verifiers.quality(["lexical"])
    row = table.loc["lexical"]
    assert (row["auc"], row["precision"], row["recall"], row["n"]) == (1.0, 1.0, 1.0, 12)
    assert 0.1 < row["threshold"] <= 0.9
    verifier = verifiers.make("lexical", accept=1)
    assert isinstance(verifier, ScoreVerifier)
    assert verifiers.make("none", accept=2).accept == 2
    assert verifiers.make("oracle", accept=1).by == "gold"
    with pytest.raises(InputError, match="'no-such' is unknown"):
        verifiers.make("no-such", accept=1)


def test_bands_hold_their_share_of_the_calibration_pairs(verifiers):
    probability = verifiers.probability("lexical")(verifiers.calibration.pairs)
    for share, (low, high) in verifiers.bands("lexical", [0.25, 0.5, 1.0]).items():
        assert low <= high
        inside = ((probability >= low) & (probability <= high)).mean()
        assert inside >= share
    low, high = verifiers.bands("lexical", [1.0])[1.0]
    assert (low, high) == (probability.min(), 1.0)


def test_the_verifier_of_the_findings(verifiers):
    quality = verifiers.quality(["lexical"])
    assert rvr_runs.chosen_verifier(quality, PROFILE) == "lexical"
    paper = profiles.PROFILES["paper"]
    assert rvr_runs.chosen_verifier(pd.DataFrame(), paper) == "qwen3-30b"
    with pytest.raises(InputError, match="neither an endpoint nor a local judge"):
        rvr_runs.chosen_verifier(
            pd.DataFrame(), dataclasses.replace(PROFILE, VERIFIERS=("none", "oracle"))
        )


@pytest.fixture
def grid(retrievers, verifiers) -> rvr_grid.Grid:
    found = rvr_runs.new_grid(retrievers, PROFILE)
    systems = ["base_single", "base_base"]
    rvr_runs.run_systems(found, verifiers, ["lexical", "oracle"], systems)
    return found


def test_grid_scores_every_rule_and_keeps_every_run(grid):
    values = grid.per_question.set_index(["system", "verifier", "rule"]).sort_index()
    assert set(values.index.get_level_values("rule")) == {
        "answers", "clusters", "passages", "all_gold",
    }  # fmt: skip
    single = values.loc[("base_single", "-", "answers"), "recall"]
    assert single.tolist() == pytest.approx([1 / 3] * 8)
    assert values.loc[("base_base", "lexical", "answers"), "mrecall"].tolist() == [1.0] * 8
    counts, seconds = rvr_grid.efficiency(grid)
    assert counts["searches"].tolist() == [2.0, 2.0]
    assert counts["judged"].tolist() == [3.0, 3.0]
    assert (seconds[["retrieval", "verification"]] >= 0).all().all()
    assert (grid.coverage["n_missing_from_run"] == 0).all()


def test_means_differences_and_sentences(grid):
    rng = np.random.default_rng(1)
    found = rvr_tables.means(grid.per_question, PROFILE, rng)
    assert ((found["ci_low"] <= found["value"]) & (found["value"] <= found["ci_high"])).all()
    table = rvr_tables.main_table(found, PROFILE)
    assert table.loc[("minilm", "base_single", "-", 8), "Recall@3"] == "33.3 [33.3, 33.3]"
    pairs = rvr_sentences.compared_pairs("lexical")
    differences = rvr_tables.differences(grid.per_question, pairs, PROFILE, rng)
    assert set(differences["to"]) == {"base_base, lexical"}  # the only pair that was run
    said = rvr_sentences.finding_sentences(differences, "lexical")
    assert len(said) == len(rvr_sentences.FINDINGS)
    assert sum(line.endswith("NOT RUN") for line in said) == 5
    assert "+66.7" in said[2]
    assert "reproduces" in said[2]
    rules = rvr_tables.rules_table(found, "minilm", PROFILE)
    assert rules.loc[("base_base", "oracle"), "all_gold"] == 100.0


def test_sweeps_change_one_setting(retrievers, verifiers, grid):
    table = rvr_sweeps.sweep(
        retrievers,
        grid.questions,
        PROFILE,
        np.random.default_rng(1),
        systems=["base_base"],
        verifiers=rvr_runs.makers(verifiers, ["lexical"], PROFILE, "minilm"),
        setting="budget",
        values=[0, 3],
    )
    recall = table[table["measure"] == "recall"].set_index("budget")
    assert recall["judged"].to_dict() == {0: 0.0, 3: 3.0}
    assert recall["value"].round(3).to_dict() == {0: 0.333, 3: 1.0}
    said = rvr_sentences.budget_sentences(table)
    assert said == ["base_base, lexical: 100.0 at B = 3, 0.0 at B = 0; it never rises"]
    assert rvr_sweeps.budgets(profiles.PROFILES["default"]) == [0, 2, 4, 8, 12, 16, 20]
    assert rvr_sweeps.contexts(profiles.PROFILES["paper"])[-1] == 12


def test_savings_say_within_or_not():
    table = pd.DataFrame(
        {
            "way": ["a", "a", "b"],
            "share": [0.3, 0.6, 0.9],
            "difference": [-0.01, 0.0, -0.05],
            "low": [-0.03, -0.01, -0.09],
            "high": [0.0, 0.01, -0.01],
        }
    )
    said = rvr_sentences.saving_sentences(table, 0.4, 0.02)
    assert "not within 2 points" in said[0]
    assert "30% of the calls" in said[0]
    assert "no point with so few calls" in said[1]
    table.loc[0, "low"] = -0.02
    assert "within 2 points with 30% of the calls" in rvr_sentences.saving_sentences(
        table, 0.4, 0.02
    )[0]  # fmt: skip


def test_the_papers_rows_stand_as_published():
    table = rvr_tables.paper_table()
    assert table.loc["ft_i_ft_r", "Contriever-MSMARCO"] == "31.60 / 66.83"
    assert table.loc["verifier_oracle", "INF-Retriever-v1-1.5B"] == "36.30 / –"
    counts = pd.DataFrame(
        [{"encoder": "minilm", "system": "s", "verifier": "v", "searches": 2.0, "judged": 20.0}]
    )
    beside = rvr_tables.efficiency_beside_paper(counts, ("s", "v"))
    assert beside["status"].value_counts().to_dict() == {
        "DIFFERENT SETUP": 3, "NOT RUN": 2, "measured": 1,
    }  # fmt: skip


def test_tables_of_trained_models_carry_their_tolerance(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("MTR_BUILD", str(tmp_path))
    table = pd.DataFrame({"system": ["a"], "value": [0.5]})
    tolerance = rvr_training_tables.TRAINED
    results.save("toy", table, PROFILE, trained={"m": "0f"}, tolerance=tolerance)
    folder = next(tmp_path.rglob("toy.csv")).parent
    _, manifest = results.load("toy", folder)
    assert manifest["trained"] == {"m": "0f"}
    assert manifest["tolerance"]["value"] == 0.06


def test_outputs_of_trained_and_timed_cells_are_not_compared():
    cell = nbformat.v4.new_code_cell("x", metadata={"tags": ["timing"]})
    cell.outputs = [nbformat.v4.new_output("stream", text="1.0")]
    notebook = nbformat.v4.new_notebook(cells=[cell])
    assert canonical.strip_env(notebook).cells[0].outputs == []
    assert not canonical.is_trained(notebook)
    cell.metadata["tags"] = ["trained"]
    assert canonical.is_trained(notebook)
    assert canonical.without_outputs(notebook).cells[0].outputs == []
