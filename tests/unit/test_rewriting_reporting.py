"""Small parts behind notebooks 07 and 08: the study, failure files, tables, sentences, figures."""

from __future__ import annotations

import dataclasses
import json
import math
from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest

from mtrlib import profiles
from mtrlib.data.schema import Benchmark, Conversation, Passage, Turn, Utterance
from mtrlib.errors import InputError
from mtrlib.reporting import (
    bound_plots,
    rewriting_alternatives,
    rewriting_plots,
    rewriting_run,
    rewriting_sentences,
    rewriting_study,
    rewriting_tables,
    rewriting_trials,
)
from mtrlib.rewriting.decisions import Decision

matplotlib.use("Agg")
pytestmark = pytest.mark.filterwarnings("ignore:.*share no term with the corpus")

PASSAGES = tuple(
    Passage(f"p{i}", text, title)
    for i, (title, text) in enumerate(
        [
            ("Tides", "The moon raises the tide twice a day along most coasts."),
            ("Ebb", "Low water follows high water after six hours."),
            ("Mill", "A tidal mill grinds grain with water kept behind a gate."),
            ("Bread", "Flour and yeast make bread in a warm oven."),
        ]
        + [(f"Filler {i}", f"Unrelated words number {i} about stones.") for i in range(40)]
    )
)
ASKED = [("c1", "What raises the tide?", ("p0",)), ("c1", "and how does it grind?", ("p2",)),
         ("c2", "How is bread made?", ("p3",)), ("c2", "who baked it?", ())]  # fmt: skip


@pytest.fixture
def study(monkeypatch, tmp_path) -> rewriting_study.Study:
    """Four turns of two conversations, the rules as rewriter, BM25, shared tokens."""
    conversations = {}
    for name, text, gold in ASKED:
        turns = conversations.setdefault(name, [])
        history = tuple(Utterance("user", t.raw_utterance) for t in turns)
        turns.append(Turn(f"{name}_{len(turns) + 1}", name, len(turns) + 1, text, history, gold))
    bench = Benchmark(
        "tiny", PASSAGES, tuple(Conversation(c, tuple(ts)) for c, ts in conversations.items())
    )
    monkeypatch.setattr(rewriting_study, "load_benchmark", lambda *_: bench)
    monkeypatch.setattr(
        rewriting_study, "encoder_vectors", lambda name: rewriting_study.token_vectors
    )
    monkeypatch.setenv("MTR_BUILD", str(tmp_path))
    profile = profiles.load("smoke", REWRITER="rules", RETRIEVERS=["bm25"])
    return rewriting_study.load_study(profile)


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def test_a_study_counts_what_its_rewriter_does_not_offer(study):
    searchers = rewriting_run.open_searchers(study)
    said = rewriting_tables.about(study, searchers)
    assert "4 turns of 2 conversations, 3 with gold, 1 without" in said[0]
    assert "variants: 4 unusable (not offered)" in said
    assert set(searchers.views["bm25"]) == {*profiles.PROFILES["smoke"].VIEWS, "coreference"}
    assert study.texts("last_turn")["c1_2"] == "and how does it grind?"


def test_bounds_fall_back_and_are_counted(study):
    searchers = rewriting_run.open_searchers(study)
    bounds = rewriting_run.measure_bounds(study, searchers, rng(), ["last_turn"])
    table = rewriting_tables.bounds_table(bounds)
    assert table["bound"].tolist() == ["author_voice", "best_of"]
    assert (table["points"] >= 0).all() and (table["fell_back"] == [3, 3]).all()
    assert (
        "3 fell back, 1 without gold"
        in rewriting_sentences.bound_sentences(bounds, ["last_turn"])[0]
    )
    looked = rewriting_run.look_instead(study, searchers, bounds)  # no gain, so the lowest tier
    assert "bound in the lowest tier: bm25 (last_turn)" in rewriting_sentences.look_sentence(
        bounds, looked
    )
    assert {"system", "view", "points"} <= set(looked)
    assert "not needed" in rewriting_sentences.look_sentence([], looked)


def test_labels_of_people_replace_the_rules_and_are_kept(study):
    searchers = rewriting_run.open_searchers(study)
    labels = rewriting_run.attribute_all(study, searchers)
    failures = labels["bm25", "last_turn"].failures
    path, before, after = rewriting_run.failure_files(study, labels)["bm25"]
    assert path.parts[0] == "build" and before.failures["primary"].equals(after.failures["primary"])
    if failures.empty:
        pytest.skip("nothing fails here")
    file = next(study_folder(study).glob("*.jsonl"))
    record = json.loads(file.read_text("utf-8").splitlines()[0])
    record |= {"label": "underspecified", "rater": "ann"}
    file.write_text(json.dumps(record) + "\n", encoding="utf-8")
    _, _, after = rewriting_run.failure_files(study, labels)["bm25"]
    assert after.failures.loc[record["query_id"], "primary"] == "underspecified"
    assert "ann" in file.read_text("utf-8")  # not written over


def study_folder(study):
    from mtrlib import paths

    return paths.build(study.profile.tag) / "failures"


def test_no_retriever_and_no_gold_are_refused(study, monkeypatch):
    nobody = dataclasses.replace(study, profile=dataclasses.replace(study.profile, RETRIEVERS=()))
    with pytest.raises(InputError, match="no retriever can be had"):
        rewriting_run.open_searchers(nobody)
    empty = Benchmark("none", PASSAGES, (Conversation("c", (Turn("c_1", "c", 1, "?"),)),))
    monkeypatch.setattr(rewriting_study, "load_benchmark", lambda *_: empty)
    with pytest.raises(InputError, match="no turn has gold"):
        rewriting_study.load_study(study.profile)


def test_trials_and_their_tables_have_a_row_per_key(study):
    searchers = rewriting_run.open_searchers(study)
    bounds = rewriting_run.measure_bounds(study, searchers, rng())
    labels = rewriting_run.attribute_all(study, searchers)
    trials = rewriting_trials.run_methods(study, searchers)
    assert len(trials) == 7  # four on the raw turn, three after coreference
    decided = rewriting_trials.decide_all(trials, study, bounds, labels, rng())
    table = rewriting_tables.decisions(decided)
    assert len(table) == 7 and set(table["verdict"]) <= {"undecided", "not applicable"}
    assert len(rewriting_sentences.decision_lines(decided)) == 7
    assert len(rewriting_tables.noise(trials)) == 7
    assert len(rewriting_sentences.launch_lines(decided)) == 1
    counts, seconds = rewriting_tables.costs(trials)
    assert not [c for c in counts if "seconds" in c] and len(seconds) == 7


def test_the_cheap_reranker_likes_shared_rare_words(study, monkeypatch):
    monkeypatch.setattr(
        rewriting_alternatives,
        "encoder_vectors",
        lambda name: rewriting_alternatives.token_vectors,
    )
    score = rewriting_alternatives.cheap_scorer(study)
    near, far = score([("what does yeast do", "Flour and yeast"), ("what does yeast do", "a gate")])
    assert near > far == 0
    assert score([]) == []


def decision(verdict="hold", net=1.0):
    parts = SimpleNamespace(value=net, low=net - 1, high=net + 1, n=3)
    nets = {"points": parts} if not math.isnan(net) else {}
    return Decision("hyde", "bm25", verdict, (), nets, 3, 1, 9, 1.0, 0.1, "because", "more", None)


def test_decisions_say_what_decided_and_what_would_change_it():
    found = {("bm25", "coreference", "hyde"): decision()}
    (line,) = rewriting_sentences.decision_lines(found)
    assert line == ("bm25, after coreference hyde: HOLD, used for 3 of 9, fell back for 1. "
                    "Decided by: because. Would change it: more")  # fmt: skip
    found["bm25", "last_turn", "hyde"] = decision("not applicable", math.nan)
    assert rewriting_sentences.keeping_lines(found) == [
        "hyde: net bm25 +1.0 [+0.0, +2.0] (n = 3, hold), bm25 –"
    ]


def test_the_label_a_method_is_for_is_named_even_where_it_is_absent():
    rows = [("multi_query", "vocabulary_mismatch", 40.0, 12, 9, "too few to decide on"),
            ("multi_query", "found before", -1.5, 80, 80, "")]  # fmt: skip
    columns = ["method", "label", "points", "n", "used", "note"]
    effects = pd.DataFrame(rows, columns=columns).assign(system="bm25", before="coreference")
    (one,) = rewriting_sentences.label_lines(effects)
    assert "multi_query on vocabulary_mismatch: +40.0 points, used for 9 of n = 12" in one
    assert "too few" in one and "found before -1.5" in one
    (none,) = rewriting_sentences.label_lines(effects[effects["label"] == "found before"])
    assert none.startswith("bm25: no failure is labelled vocabulary_mismatch")


def test_the_noise_story_is_told_where_it_occurs_or_said_to_be_absent():
    row = {"system": "bm25", "before_it": "last_turn", "method": "hyde", "recall_points": 2.0,
           "ndcg_points": -3.0, "occurs": True, "queries": 4, "n": 50}  # fmt: skip
    head, line = rewriting_sentences.noise_lines(pd.DataFrame([row]))
    assert "the means of 1 of 1 trials, in 4 single queries" in head
    assert "Recall@20 +2.0, nDCG@5 -3.0 points over 50 queries" in line
    (head,) = rewriting_sentences.noise_lines(pd.DataFrame([{**row, "occurs": False}]))
    assert "0 of 1 trials" in head


def test_real_lines_say_when_nothing_was_measured():
    (said,) = rewriting_sentences.real_lines({})
    assert "make real" in said
    table = pd.DataFrame([{"system": "bm25", "what": "gain", "value": 9.0, "ci_low": 5.0,
                           "ci_high": 12.0, "n": 179, "reading": "tier above"}])  # fmt: skip
    table.attrs["date"] = "2026-01-01"
    head, line = rewriting_sentences.real_lines({"rewriting_mtrag": table})
    assert "2026-01-01" in head and line == "bm25, gain: 9.0 [5.0, 12.0], n = 179: tier above"


def test_figures_show_the_points_they_return(study):
    searchers = rewriting_run.open_searchers(study)
    table = rewriting_tables.bounds_table(rewriting_run.measure_bounds(study, searchers, rng()))
    figure, points = bound_plots.bound_figure(table, study.gates.oracle, 20, 0.95)
    assert len(figure.axes) == 2 * table["view"].nunique() and points.equals(table)
    rows = {"before_it": ["last_turn", "coreference"], "system": ["a", "a"], "method": ["m", "m"],
            "net": [1.0, math.nan], "ci_low": [0.0, math.nan], "ci_high": [2.0, math.nan],
            "verdict": ["launch", "not applicable"], "used": [30, 0]}  # fmt: skip
    _, points = rewriting_plots.net_figure(pd.DataFrame(rows), 0.95)
    assert points["verdict"].tolist() == ["launch"]
