"""Judges that are honest, blind, fixed on the first option or half dead, under damage."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pytest

from mtrlib.audit.damage import KINDS, damaged
from mtrlib.audit.dose_response import OWN_DAMAGE, cross_sensitivity, dose_table, validity
from mtrlib.audit.items import audit_items
from mtrlib.audit.judging import EVIDENCE_METRICS, METRICS, Task
from mtrlib.audit.metrics import judgements
from mtrlib.audit.panel import item_scores
from mtrlib.data.schema import Benchmark, Conversation, Passage, Run, Turn
from mtrlib.llm.questions import Verdict

RATES = (0.1, 0.2, 0.4)
HOW = {"resamples": 200, "confidence": 0.95}


def turn(c: int, t: int) -> Turn:
    gold = tuple(f"{c}_{t}_{i}" for i in range(3))
    return Turn(f"q{c}_{t}", f"c{c}", t, "为什么？", gold=gold, answer=f"the answer {c} {t}, 答")


SOUND = Benchmark(
    "toy",
    tuple(
        Passage(f"{c}_{t}_{i}", f"passage {c} {t} {i} 段", title=f"article {c}")
        for c in range(12)
        for t in range(1, 5)
        for i in range(8)
    ),
    tuple(Conversation(f"c{c}", tuple(turn(c, t) for t in range(1, 5))) for c in range(12)),
)
SUPPORTS = {t.query_id: frozenset(t.gold) for t in SOUND.turns()}
ANSWERS = {t.query_id: t.answer for t in SOUND.turns()}
NEGATIVES = Run(
    "r",
    {
        t.query_id: tuple((f"{t.query_id[1:]}_{i}", 8.0 - i) for i in range(8))
        for t in SOUND.turns()
    },
)


class Fake:
    def __init__(self, name: str, say: Callable[[Task], Verdict], metrics=METRICS) -> None:
        self.name = name
        self.metrics = frozenset(metrics)
        self.say = say

    def judge(self, tasks: Sequence[Task]) -> list[Verdict]:
        return [self.say(t) for t in tasks]


def honest(task: Task) -> Verdict:
    """Knows the truth; of several supporting options it takes the one with the least id."""
    query_id, answer = task.item.item_id, task.item.answer
    if task.metric == "completeness":
        right = min(p.passage_id for p in task.options if p.passage_id in SUPPORTS[query_id])
        return Verdict(str(1 + [p.passage_id for p in task.options].index(right)))
    supports = task.passage.passage_id in SUPPORTS[query_id]
    if task.metric == "query_evidence":
        return Verdict(5 if supports else 1)
    if task.metric == "faithfulness":
        return Verdict(5 if supports and sorted(answer) == sorted(ANSWERS[query_id]) else 2)
    return Verdict(4 if answer in ANSWERS.values() else 2)


def faithful_to_words(task: Task) -> Verdict:
    """As ``honest``, but bad wording of a sound answer does not lower its faithfulness."""
    if task.metric != "faithfulness":
        return honest(task)
    own = any(part in task.item.answer for part in task.item.item_id[1:].split("_"))
    return Verdict(5 if own and _numbers(task.item.answer) == _own(task) else 2)


def _numbers(text: str) -> set[str]:
    return set(text.replace(",", " ").split()) & {str(n) for n in range(20)}


def _own(task: Task) -> set[str]:
    return set(task.item.item_id[1:].split("_"))


def blind(seed: int) -> Callable[[Task], Verdict]:
    rng = np.random.default_rng(seed)

    def say(task: Task) -> Verdict:
        n = len(task.options)
        return Verdict(str(rng.integers(n) + 1) if n else int(rng.integers(1, 6)))

    return say


def fails_on_some(task: Task) -> Verdict:
    return honest(task) if int(task.item.item_id[-1]) > 1 else Verdict.missing("failed")


COPIES = [(SOUND, None, 0.0)] + [
    (damaged(SOUND, kind, rate, seed=1).benchmark, kind, rate) for kind in KINDS for rate in RATES
]


def audited(judge: Fake) -> tuple[pd.DataFrame, dict[tuple[str, float], pd.DataFrame]]:
    tables = {
        (kind, rate): item_scores(judgements(audit_items(copy, NEGATIVES), judge, seed=1))
        for copy, kind, rate in COPIES
    }
    return tables.pop((None, 0.0)), tables


def courses(judge: Fake) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    sound, doses = audited(judge)
    rng = np.random.default_rng(1)
    table = dose_table(sound, doses, **HOW, rng=rng)
    matrix = cross_sensitivity(sound, doses, table, **HOW, rng=rng)
    return table, matrix, validity(matrix)


@pytest.fixture(scope="module")
def truthful() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    return courses(Fake("truthful", faithful_to_words))


def cell(matrix: pd.DataFrame, metric: str, kind: str) -> pd.Series:
    return matrix.set_index(["metric", "kind"]).loc[(metric, kind)]


def test_the_table_starts_every_kind_at_the_sound_set(truthful) -> None:
    table, _, _ = truthful
    assert len(table) == 4 * 4 * 4
    starts = table[table["rate"].eq(0)].groupby("metric")["value"].nunique()
    assert (starts == 1).all()
    noise = table[table["kind"].eq("noise") & table["metric"].eq("query_evidence")]
    assert noise["rate"].tolist() == [0, *RATES]
    assert noise["value"].iloc[0] == 5
    # three supporting of five marked: 2/5 of the gold is noise
    assert noise["value"].iloc[-1] == pytest.approx(5 - 4 * 0.4, abs=0.05)


def test_a_truthful_judge_is_valid_on_all_metrics(truthful) -> None:
    _, matrix, verdicts = truthful
    assert verdicts.set_index("metric")["valid"].to_dict() == dict.fromkeys(METRICS, "yes")
    assert (verdicts["why"] == "").all()
    assert set(zip(verdicts["metric"], verdicts["own_damage"], strict=True)) == set(
        OWN_DAMAGE.items()
    )
    assert matrix["own"].sum() == 4
    assert (matrix["n_items"] == 48).all()


def test_changes_are_paired_and_in_points_of_the_scale(truthful) -> None:
    _, matrix, _ = truthful
    own = cell(matrix, "faithfulness", "unfaithful")
    assert own["change"] == pytest.approx(-3 * 19 / 48)  # 40% of 48 answers, from 5 to 2
    assert own["ci_low"] < own["change"] < own["ci_high"] < 0
    assert own["monotone"]
    still = cell(matrix, "query_evidence", "language")
    assert (still["change"], still["monotone"]) == (0, False)


def test_correction_for_guessing_leaves_a_judge_that_finds_gold_alone(truthful) -> None:
    _, matrix, _ = truthful
    under_noise = cell(matrix, "completeness", "noise")
    assert under_noise["change"] == under_noise["beyond_chance"] == 0
    under_sparsity = cell(matrix, "completeness", "sparsity")
    assert under_sparsity["beyond_chance"] < under_sparsity["change"] < 0


def test_noise_makes_blind_picks_look_complete_and_the_correction_sees_it() -> None:
    first = Fake("always_first", lambda task: Verdict("1"), ["completeness"])
    under_noise = cell(courses(first)[1], "completeness", "noise")
    assert under_noise["ci_low"] > 0
    assert under_noise["beyond_low"] < 0 < under_noise["beyond_high"]


@pytest.mark.parametrize("seed", range(3))
def test_a_blind_judge_is_valid_on_nothing(seed) -> None:
    _, _, verdicts = courses(Fake("blind", blind(seed)))
    assert set(verdicts["valid"]) == {"no"}


def test_a_judge_of_places_is_not_saved_by_the_gold_that_gets_rarer() -> None:
    _, matrix, verdicts = courses(Fake("always_first", lambda task: Verdict("1"), ["completeness"]))
    assert cell(matrix, "completeness", "sparsity")["change"] < 0
    found = verdicts.set_index("metric")
    assert found.loc["completeness", "valid"] == "no"
    assert "chance" in found.loc["completeness", "why"]


def test_a_metric_that_feels_other_damage_as_much_is_not_valid() -> None:
    _, _, verdicts = courses(Fake("words", lambda t: Verdict(5 if t.item.answer in
                                                            ANSWERS.values() and
                                                            t.item.answer == ANSWERS[t.item.item_id]
                                                            else 1), ["faithfulness"]))  # fmt: skip
    found = verdicts.set_index("metric").loc["faithfulness"]
    assert (found["valid"], found["why"]) == ("no", "falls as far with language")


def test_a_judge_without_a_metric_is_not_called_wrong_on_it() -> None:
    table, matrix, verdicts = courses(Fake("local", faithful_to_words, EVIDENCE_METRICS))
    found = verdicts.set_index("metric")["valid"].to_dict()
    assert found == {**dict.fromkeys(EVIDENCE_METRICS, "yes"), "quality": "n/a"}
    assert table.loc[table["metric"].eq("quality"), "value"].isna().all()
    assert matrix.loc[matrix["metric"].eq("quality"), "n_items"].eq(0).all()


def test_failures_shrink_the_pairs_and_hide_no_fall() -> None:
    table, matrix, _ = courses(Fake("shaky", fails_on_some))
    assert table["coverage"].between(0.7, 0.8).all()
    own = cell(matrix, "query_evidence", "noise")
    assert own["n_items"] == 36
    assert own["change"] < 0


def test_one_conversation_proves_nothing() -> None:
    one = dataclasses.replace(SOUND, conversations=SOUND.conversations[:1])
    judge = Fake("truthful", honest, ["query_evidence"])
    tables = {
        rate: item_scores(
            judgements(audit_items(copy), judge, ["query_evidence"], seed=1)
        )
        for rate in (0.0, *RATES)
        for copy in [damaged(one, "noise", rate, seed=1).benchmark]
    }  # fmt: skip
    sound = tables.pop(0.0)
    doses = {("noise", rate): table for rate, table in tables.items()}
    rng = np.random.default_rng(1)
    table = dose_table(sound, doses, **HOW, rng=rng)
    matrix = cross_sensitivity(sound, doses, table, **HOW, rng=rng)
    assert matrix["monotone"].item()
    assert math.isnan(matrix["ci_low"].item())
    assert validity(matrix)["valid"].item() == "no"


def test_no_doses_no_verdict() -> None:
    sound, _ = audited(Fake("truthful", honest, ["quality"]))
    rng = np.random.default_rng(1)
    table = dose_table(sound, {}, **HOW, rng=rng)
    matrix = cross_sensitivity(sound, {}, table, **HOW, rng=rng)
    assert table.empty
    assert validity(matrix).empty
