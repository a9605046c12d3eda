"""What notebook 10 saved: two examples, gold marked, and no widget in the page."""

from __future__ import annotations

import json

import pandas as pd

from mtrlib import paths, profiles
from mtrlib.data.authored.list_mini import list_questions
from mtrlib.data.authored.records import load_authored
from mtrlib.evaluation.list_answers import gold_passages
from mtrlib.reporting import results

DEFAULT = profiles.PROFILES["default"]


def table(name: str) -> pd.DataFrame:
    return results.load(name, paths.results())[0]


def test_every_path_has_its_list_of_k():
    found = table("t10_example")
    assert {"raw", "coreference", "standalone", "variant 1", "HyDE", "fused"} <= set(found["path"])
    for _, own in found.groupby("path"):
        assert own["rank"].tolist() == list(range(1, len(own) + 1))
        assert own["passage_id"].is_unique and len(own) <= DEFAULT.K
    assert found[["query_id", "system", "view"]].drop_duplicates().shape[0] == 1


def test_the_example_is_a_turn_that_only_its_rewrites_answer():
    hits = table("t10_example").groupby("path")["gold"].sum()
    assert hits["raw"] == 0
    assert hits["fused"] > 0 and (hits.drop(["raw", "fused"]) > 0).any()


def test_the_fused_list_holds_nothing_that_no_path_found():
    found = table("t10_example")
    fused = found["path"] == "fused"
    assert set(found.loc[fused, "passage_id"]) <= set(found.loc[~fused, "passage_id"])


def test_gold_is_that_of_the_authored_sets():
    turns = table("t10_example")
    (query_id,) = turns["query_id"].unique()
    gold = next(turn["gold"] for i, _, turn in load_authored().turns() if i == query_id)
    assert (turns["gold"] == turns["passage_id"].isin(gold)).all()
    rounds = table("t10_rounds")
    (question_id,) = rounds["query_id"].unique()
    question = next(q for q in list_questions() if q.question_id == question_id)
    assert (rounds["gold"] == rounds["passage_id"].isin(gold_passages(question))).all()


def test_rounds_are_those_of_the_profile_and_the_output_is_made_of_them():
    found = table("t10_rounds")
    rounds = [f"round {n}" for n in range(1, DEFAULT.ROUNDS + 1)]
    assert list(dict.fromkeys(found["path"])) == [*rounds, "output"]
    output = found["path"] == "output"
    assert set(found.loc[output, "passage_id"]) <= set(found.loc[~output, "passage_id"])
    gold = found.groupby("path")["gold"].sum()
    assert gold["output"] >= gold["round 1"]


def test_figure_has_its_points():
    points = pd.read_csv(paths.figures() / "fig10_paths.csv")
    assert (paths.figures() / "fig10_paths.png").is_file()
    found = table("t10_example")
    assert len(points) == found["gold"].sum()


def test_the_page_carries_no_widget():
    page = json.loads((paths.notebooks() / "10_playground.ipynb").read_text(encoding="utf-8"))
    assert "widgets" not in page["metadata"]
    kinds = {
        kind
        for cell in page["cells"]
        for output in cell.get("outputs", [])
        for kind in output.get("data", {})
    }
    assert kinds and not any("widget" in kind for kind in kinds)
