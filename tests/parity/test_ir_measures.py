"""Per query our numbers are those of ir-measures and trec_eval; means differ by a stated rule.

trec_eval (through pytrec_eval) breaks ties by float32 score, then id descending, and so do
we. ir-measures hands ``RR@k`` and ``Judged@k`` to other providers, which break ties by id
*ascending*; these two are compared on runs without ties, and one test pins the reason.
"""

from __future__ import annotations

import random

import pytest

from mtrlib.data.ranking import rank_by_score
from mtrlib.data.schema import Qrels, Run
from mtrlib.evaluation.evaluate import evaluate

ir_measures = pytest.importorskip("ir_measures")
pytestmark = pytest.mark.parity

Judged = dict[str, dict[str, int]]
Scored = dict[str, dict[str, float]]

CUTOFFS = (1, 3, 10)
# byte order and code point order agree; neither is alphabetical
PASSAGES = [*(f"d{i}" for i in range(20)), "D3", "é", "中", "\uffee", "😀", "00", "0"]


def example(seed: int, ties: bool) -> tuple[Judged, Scored]:
    """Graded qrels (some queries without gold) and scores (some queries missing)."""
    draw = random.Random(seed)
    judged: Judged = {}
    scored: Scored = {}
    for q in range(30):
        judged[f"q{q}"] = {p: draw.choice((0, 0, 1, 2, 3)) for p in draw.sample(PASSAGES, 6)}
        if q % 7 == 0:
            judged[f"q{q}"] = dict.fromkeys(judged[f"q{q}"], 0)
        if q % 5 == 4:
            continue
        found = draw.sample(PASSAGES, draw.randint(1, len(PASSAGES)))
        if ties:
            # 1 and 1 + 1e-9 are one float32 and two float64
            scored[f"q{q}"] = {p: draw.choice((0.5, 1.0, 1 + 1e-9, 2.0)) for p in found}
        else:
            scored[f"q{q}"] = {p: float(s) for s, p in enumerate(found)}
    return judged, scored


def ours(judged: Judged, scored: Scored, names: list[str], rel: int = 1):
    run = Run.from_rankings("t", {q: rank_by_score(scores) for q, scores in scored.items()})
    return evaluate(Qrels(judged), run, names, rel=rel)


def theirs(judged: Judged, scored: Scored, names: list[str]) -> dict[str, dict[str, float]]:
    values: dict[str, dict[str, float]] = {name: {} for name in names}
    measures = [ir_measures.parse_measure(name) for name in names]
    for metric in ir_measures.iter_calc(measures, judged, scored):
        values[str(metric.measure)][metric.query_id] = metric.value
    return values


def assert_same(mine, reference: dict[str, float], answered: set[str]) -> None:
    """Equal on all answered queries with gold; the reference has no other value for the rest."""
    assert len(answered) > 10
    for query_id, value in mine.items():
        if query_id in answered:
            assert value == pytest.approx(reference[query_id], abs=1e-12), query_id
        else:
            assert value == 0
            assert reference.get(query_id, 0) == 0


@pytest.mark.parametrize("rel", [1, 2])
@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_recall_ndcg_and_success_per_query(seed: int, ties: bool, rel: int) -> None:
    judged, scored = example(seed, ties)
    level = "" if rel == 1 else f"(rel={rel})"
    names = {
        **{f"Recall@{k}": f"R{level}@{k}" for k in CUTOFFS},
        **{f"nDCG@{k}": f"nDCG@{k}" for k in CUTOFFS},
        **{f"Success@{k}": f"Success{level}@{k}" for k in CUTOFFS},
    }
    mine = ours(judged, scored, list(names), rel)
    reference = theirs(judged, scored, list(names.values()))
    assert mine.n_missing_from_run > 0
    assert mine.n_without_gold > 0
    answered = set(mine.per_query.index) & set(scored)
    for our_name, their_name in names.items():
        assert_same(mine.per_query[our_name], reference[their_name], answered)


@pytest.mark.parametrize("seed", range(4))
def test_reciprocal_rank_and_holes_per_query_without_ties(seed: int) -> None:
    judged, scored = example(seed, ties=False)
    mine = ours(judged, scored, [f"{name}@{k}" for name in ("MRR", "Hole") for k in CUTOFFS])
    reference = theirs(judged, scored, [f"{n}@{k}" for n in ("RR", "Judged") for k in CUTOFFS])
    answered = set(mine.per_query.index) & set(scored)
    for k in CUTOFFS:
        assert_same(mine.per_query[f"MRR@{k}"], reference[f"RR@{k}"], answered)
        holes = mine.per_query[f"Hole@{k}"].dropna()
        assert set(holes.index) == answered
        for query_id, value in holes.items():
            assert value == pytest.approx(1 - reference[f"Judged@{k}"][query_id], abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_all_measures_with_ties_against_pytrec_eval(seed: int) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    judged, scored = example(seed, ties=True)
    evaluator = pytrec_eval.RelevanceEvaluator(
        judged, {"recall.1,3,10", "ndcg_cut.1,3,10", "success.1,3,10", "recip_rank"}
    )
    reference = evaluator.evaluate(scored)
    names = {f"{ours}@{k}": f"{trec}_{k}" for k in CUTOFFS for ours, trec in TREC_NAMES.items()}
    depth = len(PASSAGES)  # recip_rank has no cutoff
    mine = ours(judged, scored, [*names, f"MRR@{depth}"])
    answered = set(mine.per_query.index) & set(scored)
    for our_name, their_name in {**names, f"MRR@{depth}": "recip_rank"}.items():
        values = {query_id: row[their_name] for query_id, row in reference.items()}
        assert_same(mine.per_query[our_name], values, answered)


TREC_NAMES = {"Recall": "recall", "nDCG": "ndcg_cut", "Success": "success"}


def test_ties_of_rr_at_k_differ_in_ir_measures_and_only_there() -> None:
    judged, scored = {"q": {"b": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    assert ours(judged, scored, ["MRR@1"]).means["MRR@1"] == 1
    reference = theirs(judged, scored, ["RR@1", "RR", "Success@1"])
    assert reference["RR"]["q"] == reference["Success@1"]["q"] == 1
    assert reference["RR@1"]["q"] == 0


def test_the_mean_rule_is_ours() -> None:
    """One answered query, one missing from the run, one judged without gold."""
    judged = {"q1": {"a": 1}, "missing": {"b": 1}, "no_gold": {"c": 0}}
    scored = {"q1": {"a": 1.0}, "no_gold": {"c": 1.0}}
    mine = ours(judged, scored, ["Recall@1"])
    assert mine.means["Recall@1"] == 1 / 2  # over the queries with gold
    aggregate = ir_measures.calc_aggregate([ir_measures.parse_measure("R@1")], judged, scored)
    assert list(aggregate.values()) == [pytest.approx(1 / 3)]  # over all queries of the qrels
    pytrec_eval = pytest.importorskip("pytrec_eval")
    answered = pytrec_eval.RelevanceEvaluator(judged, {"recall.1"}).evaluate(scored)
    assert set(answered) == {"q1", "no_gold"}  # the query that was missed is gone


def test_the_means_agree_where_every_query_has_gold() -> None:
    judged, scored = example(0, ties=True)
    judged = {q: grades for q, grades in judged.items() if max(grades.values()) > 0}
    mine = ours(judged, scored, ["Recall@3", "nDCG@10"])
    measures = [ir_measures.parse_measure(name) for name in ("R@3", "nDCG@10")]
    aggregate = ir_measures.calc_aggregate(measures, judged, scored)
    assert mine.n_missing_from_run > 0
    assert list(mine.means) == pytest.approx([aggregate[m] for m in measures], abs=1e-12)
