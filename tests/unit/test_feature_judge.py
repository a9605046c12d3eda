"""The feature judge: nothing leaks, nothing but the data decides, and it learns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mtrlib import profiles
from mtrlib.audit.cross_fit import ALL, CrossFitted
from mtrlib.audit.feature_judge import POOL_SHARE, FeatureJudge
from mtrlib.audit.items import AuditItem, ItemSet
from mtrlib.audit.judged_pairs import (
    JudgedPair,
    answer_pairs,
    conversation_folds,
    evidence_pairs,
)
from mtrlib.audit.judges import MAKERS, build_judges
from mtrlib.audit.judging import NONE, Task
from mtrlib.audit.pair_features import PairFeatures
from mtrlib.data.schema import Benchmark, Conversation, Passage, Turn
from mtrlib.errors import InputError

METALS = ("iron", "gold", "tin", "lead", "zinc", "copper", "silver", "nickel", "cobalt", "radium")
ASKED = {"melts": "When does {} melt, at what heat?", "colour": "What colour has {} when polished?"}
TEXTS = {"melts": "{} melts at great heat.", "colour": "{} has a colour of its own when polished."}
PASSAGES = tuple(
    Passage(f"{metal}-{kind}", text.format(metal.title()), metal.title())
    for metal in METALS
    for kind, text in TEXTS.items()
)
BY_ID = {p.passage_id: p for p in PASSAGES}


def _conversation(metal: str) -> Conversation:
    turns = [
        Turn(
            f"{metal}_{n}",
            metal,
            n,
            ASKED[kind].format(metal),
            gold=(f"{metal}-{kind}",),
            answer=TEXTS[kind].format(metal),
        )
        for n, kind in enumerate(TEXTS, start=1)
    ]
    return Conversation(metal, tuple(turns))


BENCHMARK = Benchmark("metals", PASSAGES, tuple(_conversation(m) for m in METALS))
JUDGED = {
    t.query_id: [
        {"passage_id": p.passage_id, "decision": "gold" if p.passage_id in t.gold else "reject"}
        for p in PASSAGES[::-1]
    ]
    for t in BENCHMARK.turns()
}


def item_set(name: str = "metals", negatives_from: str = "") -> ItemSet:
    items = tuple(replace(i, benchmark=name) for i in dict.fromkeys(p.item for p in question()))
    return ItemSet(name, items, PASSAGES, negatives_from=negatives_from)


def question() -> list[JudgedPair]:
    return evidence_pairs(BENCHMARK, JUDGED)


def feature_judge(*sets: ItemSet, pairs: list[JudgedPair] | None = None, seed: int = 1):
    features = PairFeatures(PASSAGES, retrievers=("bm25",))
    training = {"question": pairs or question(), "answer": answer_pairs(BENCHMARK, JUDGED)}
    return FeatureJudge(sets, {s.name: features for s in sets}, training, features, seed=seed)


def every_task(items: ItemSet) -> list[Task]:
    return [Task("query_evidence", item, p) for item in items.items for p in PASSAGES]


def test_folds_depend_on_the_set_of_conversations_alone():
    folds = conversation_folds(METALS, 7)
    assert folds == conversation_folds([*METALS[::-1], *METALS], 7)
    assert folds != conversation_folds(METALS, 8)
    assert sorted(folds.values()) == sorted([0, 1, 2, 3, 4] * 2)
    with pytest.raises(InputError, match="needs two"):
        conversation_folds(["c", "c"], 7)


@pytest.mark.parametrize("query", ["question", "answer"])
def test_no_conversation_is_judged_by_a_model_that_saw_it(query):
    model = feature_judge(item_set()).model(query)
    for metal in METALS:
        assert model.fold(metal) != ALL
        assert metal not in model.trained_on[model.fold(metal)]
    assert model.fold("another set's") == ALL
    assert model.trained_on[ALL] == set(METALS)


def test_labels_of_a_conversation_do_not_reach_its_own_verdicts():
    flipped = [replace(p, label=not p.label) if p.item.conversation_id == "tin" else p
               for p in question()]  # fmt: skip
    tasks = [t for t in every_task(item_set()) if t.item.conversation_id == "tin"]
    honest = feature_judge(item_set()).judge(tasks)
    assert feature_judge(item_set(), pairs=flipped).judge(tasks) == honest
    # while everybody else's do
    others = [t for t in every_task(item_set()) if t.item.conversation_id != "tin"]
    assert feature_judge(item_set(), pairs=flipped).judge(others) != feature_judge(
        item_set()
    ).judge(others)


def test_the_model_that_judges_is_the_one_that_is_said_to():
    """Each model predicts the share of its own training labels, so predictions tell them apart."""

    class Share:
        def __init__(self, frame, labels):
            self.p = labels.mean()

        def predict_proba(self, frame):
            return np.column_stack([np.full(len(frame), 1 - self.p), np.full(len(frame), self.p)])

    names = np.array(["a", "b", "c", "d"])
    index = pd.MultiIndex.from_product([names, ["p"]])
    labels = np.array([1, 0, 0, 0])
    model = CrossFitted(pd.DataFrame({"x": range(4)}, index), labels, names, Share, seed=3)
    told = model.predict(pd.DataFrame({"x": range(5)}), ["a", "b", "c", "d", "new"])
    assert told == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3, 1 / 4])


def test_order_of_pairs_and_of_tasks_is_irrelevant_and_the_seed_is_not():
    tasks = every_task(item_set())
    first = feature_judge(item_set()).judge(tasks)
    assert feature_judge(item_set(), pairs=question()[::-1]).judge(tasks) == first
    assert feature_judge(item_set()).judge(tasks[::-1]) == first[::-1]
    assert feature_judge(item_set(), seed=2).judge(tasks) != first


def test_it_learns_and_gives_probabilities():
    items = item_set()
    told = feature_judge(items).judge(every_task(items))
    ratings = np.array([v.value for v in told]).reshape(len(items.items), len(PASSAGES))
    gold = [next(iter(BENCHMARK.qrels.gold(i.item_id))) for i in items.items]
    right = [PASSAGES[row.argmax()].passage_id == g for row, g in zip(ratings, gold, strict=True)]
    assert np.mean(right) > 0.9
    p = np.array([v.probabilities["yes"] for v in told])
    assert (np.diff(ratings.ravel()[np.argsort(p)]) >= -1e-9).all()
    assert (1 + 4 * p <= [v.value + 1e-9 for v in told]).all()  # gold is the rarer


def test_answers_are_judged_by_their_own_model():
    items = item_set()
    tasks = [Task("faithfulness", i, BY_ID[f"{i.conversation_id}-{k}"])
             for i in items.items for k in TEXTS]  # fmt: skip
    told = np.array([v.value for v in feature_judge(items).judge(tasks)]).reshape(-1, 2, 2)
    # turn 1 answers what "melts" says, turn 2 what "colour" says
    assert (told[:, 0, 0] > told[:, 0, 1]).mean() > 0.9
    assert (told[:, 1, 1] > told[:, 1, 0]).mean() > 0.9


def test_completeness_is_judged_without_the_retriever_of_the_negatives():
    items = item_set(negatives_from="bm25")
    judge = feature_judge(items)
    frame = judge._frame("question")
    # scores that give gold away must not help
    gold = np.array([p.label for p in question()], dtype=float)
    judge._frames["question"] = frame.assign(**{c: gold for c in frame if c.startswith("bm25")})
    honest = feature_judge(items)
    tasks = [Task("completeness", i, options=PASSAGES) for i in items.items]
    assert judge.judge(tasks) == honest.judge(tasks)
    assert ("question", ("bm25",)) in judge._models
    assert ("question", ()) not in judge._models


def test_the_pick_is_a_passage_and_not_a_place():
    items = item_set()
    judge = feature_judge(items)
    item = items.items[0]
    shown = [PASSAGES[:4], PASSAGES[1:4] + PASSAGES[:1]]
    picks = [
        verdict.value if verdict.value == NONE else order[int(str(verdict.value)) - 1].passage_id
        for order in shown
        for verdict in judge.judge([Task("completeness", item, options=order)])
    ]
    assert picks == ["iron-melts"] * 2


def test_ratings_give_even_odds_beforehand():
    judge = feature_judge(item_set())
    # what is known before looking becomes the middle of the scale
    assert judge.rating("query_evidence", np.array([POOL_SHARE])) == pytest.approx([0.5])
    told = judge.rating("query_evidence", np.array([0.0, 0.5, 1.0]))
    assert told == pytest.approx([0, 1 - POOL_SHARE, 1])
    assert judge.rating("faithfulness", np.array([0.3])) == pytest.approx([0.3])


def test_pairs_of_answers_hold_the_gold_of_the_neighbours():
    bare = {q: [] for q in JUDGED}
    pairs = answer_pairs(BENCHMARK, bare)
    labels = {(p.item.item_id, p.passage.passage_id): p.label for p in pairs}
    assert labels["tin_1", "tin-melts"] is True
    assert labels["tin_1", "tin-colour"] is False
    assert len(labels) == 4 * len(METALS)


def test_what_it_cannot_judge_is_not_applicable():
    items = item_set()
    item = items.items[0]
    tasks = [
        Task("quality", item, PASSAGES[0]),
        Task("query_evidence", item),
        Task("completeness", item),
        Task("faithfulness", replace(item, answer=None), PASSAGES[0]),
    ]
    assert {v.reason for v in feature_judge(items).judge(tasks)} == {"not_applicable"}
    stranger = AuditItem("x_1", "unknown", "x", 1, "?")
    with pytest.raises(InputError, match="'unknown' of item 'x_1'"):
        feature_judge(items).judge([Task("query_evidence", stranger, PASSAGES[0])])


def test_judges_by_name():
    profile = profiles.load("smoke")
    judges = build_judges(["feature", "lexical"], [item_set()], profile)
    assert [j.name for j in judges] == ["feature", "lexical"]
    assert [j.name for j in build_judges(MAKERS, [item_set()], profile)] == list(MAKERS)
    with pytest.raises(InputError, match=r"'gpt' is unknown.*reference, lexical"):
        build_judges(["gpt"], [], profile)
    with pytest.raises(InputError, match="one name"):
        build_judges(["lexical"], [item_set(), item_set()], profile)
