"""What notebook 04 saved: curves of both recipes, and what the second retriever learnt."""

from __future__ import annotations

import pandas as pd

from mtrlib import paths, profiles
from mtrlib.reporting import results

DEFAULT = profiles.PROFILES["default"]


def test_curves_have_every_step_and_a_look_before_the_first():
    curves, manifest = results.load("t04_curves", paths.results())
    assert set(curves["recipe"]) == set(DEFAULT.RECIPES)
    assert set(manifest["trained"]) == {"minilm", "minilm-initial", "minilm-later"}
    for _, part in curves.groupby("recipe"):
        looks = part[part["series"] == "authored_loss"]["step"].tolist()
        assert looks[0] == 0
        losses = part[part["series"] == "loss"]["step"].tolist()
        assert losses == list(range(1, len(losses) + 1))
        assert len(losses) <= DEFAULT.STEPS
        recall = part[part["series"].str.endswith("recall")]["value"]
        assert recall.between(0, 1).all()


def test_the_kept_state_is_the_best_on_authored_dev():
    curves, _ = results.load("t04_curves", paths.results())
    for _, part in curves[curves["series"] == "authored_loss"].groupby("recipe"):
        kept = part[part["kept"]]
        assert len(kept) == 1
        assert kept["value"].iloc[0] == part["value"].min()


def test_both_later_retrievers_are_seen_on_the_same_questions():
    learnt, _ = results.load("t04_learnt", paths.results())
    assert len(learnt) == 2
    assert learnt["questions"].nunique() == 1
    assert learnt[["same_article", "new"]].stack().between(0, 1).all()
    points = pd.read_csv(paths.figures() / "fig04_similarity.csv")
    assert set(points["rank"]) == set(range(1, 11))


def test_material_keeps_dev_apart():
    material, _ = results.load("t04_material", paths.results())
    counts = material.set_index("part")["questions"]
    assert counts["dev, authored"] == 10
    assert counts["train"] > 1000
