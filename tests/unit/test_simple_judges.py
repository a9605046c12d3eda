"""Shared words, MiniLM cosine, and the cross-encoder: what they rate, pick and leave."""

from __future__ import annotations

from dataclasses import replace

import pytest
from needed import fetched

from mtrlib.audit.cross_encoder import CrossEncoderJudge
from mtrlib.audit.items import AuditItem, ItemSet
from mtrlib.audit.judged_pairs import JudgedPair
from mtrlib.audit.judging import NONE, Task
from mtrlib.audit.pair_features import shared_features
from mtrlib.audit.pair_judge import retrievers_behind
from mtrlib.audit.simple_judges import LexicalJudge, MiniLmJudge, content_terms
from mtrlib.data.schema import Passage, Utterance

PASSAGES = (
    Passage("p1", "The mill burned down in March.", "Old Mill"),
    Passage("p2", "Ferries carry cars and lorries.", "Harbour"),
    Passage("p3", "The ferry sank in March.", "Harbour"),
)
HISTORY = (Utterance("user", "Who owned the lake?"), Utterance("agent", "It had a mill."))
ITEM = AuditItem("c_2", "b", "c", 2, "When did it burn?", HISTORY, answer="The mill burned in May.")
SET = ItemSet("b", (ITEM,), PASSAGES, negatives_from="minilm")


def ratings(judge, metric: str) -> list[float]:
    return [v.value for v in judge.judge([Task(metric, ITEM, p) for p in PASSAGES])]


def test_lexical_counts_terms_of_the_question_and_the_utterance_before():
    # terms: mill, burn; "lake" is further back
    assert content_terms("It had a mill. When did it burn?") == {"mill", "burn"}
    assert ratings(LexicalJudge([SET]), "query_evidence") == [3.0, 1.0, 1.0]


def test_lexical_counts_terms_of_the_answer_for_faithfulness():
    # mill, burned, may
    assert "may" in content_terms("It burned in May")
    assert ratings(LexicalJudge([SET]), "faithfulness") == pytest.approx([1 + 8 / 3, 1.0, 1.0])


def test_lexical_claims_no_probability_and_picks_none_without_a_common_term():
    judge = LexicalJudge([SET])
    (rated,) = judge.judge([Task("query_evidence", ITEM, PASSAGES[0])])
    assert not rated.probabilities
    picks = judge.judge(
        [
            Task("completeness", ITEM, options=PASSAGES),
            Task("completeness", ITEM, options=PASSAGES[::-1]),
            Task("completeness", ITEM, options=PASSAGES[1:]),
        ]
    )
    assert [v.value for v in picks] == ["1", "3", NONE]


def test_ties_go_by_passage_id_and_not_by_place():
    twins = (replace(PASSAGES[0], passage_id="a"), replace(PASSAGES[0], passage_id="z"))
    judge = LexicalJudge([SET])
    tasks = [Task("completeness", ITEM, options=order) for order in (twins, twins[::-1])]
    assert [v.value for v in judge.judge(tasks)] == ["2", "1"]


def test_an_item_without_terms_supports_nothing():
    judge = LexicalJudge([SET])
    empty = replace(ITEM, question="And then?", history=(), answer="")
    evidence = Task("query_evidence", empty, PASSAGES[0])
    told = judge.judge([evidence, Task("faithfulness", empty, PASSAGES[0])])
    assert told[0].value == 1.0
    assert told[1].reason == "not_applicable"


def test_what_is_behind_hard_negatives():
    assert retrievers_behind("hybrid") == ("bm25", "minilm")
    assert retrievers_behind("minilm") == ("minilm",)
    assert retrievers_behind("somebody's run") == ("somebody's run",)
    assert retrievers_behind("") == ()


@pytest.mark.models
def test_minilm_rates_by_meaning_and_does_not_rank_its_own_negatives(fresh_cache):
    other = replace(SET, name="other", negatives_from="bm25")
    sets = [SET, other]
    judge = MiniLmJudge(sets, shared_features({s.name: s.passages for s in sets}))
    with fetched("minilm"):
        evidence = ratings(judge, "query_evidence")
    assert evidence[0] == max(evidence)
    assert all(1 <= r <= 5 for r in evidence)
    assert ratings(judge, "faithfulness")[0] == max(ratings(judge, "faithfulness"))
    own = Task("completeness", ITEM, options=PASSAGES)
    (left,) = judge.judge([own])
    assert left.reason == "not_applicable"
    (picked,) = judge.judge([replace(own, item=replace(ITEM, benchmark="other"))])
    assert picked.value == "1"


@pytest.mark.models
@pytest.mark.slow
def test_cross_encoder_trains_caches_and_repeats_itself(fresh_cache):
    pairs = [
        JudgedPair(replace(ITEM, item_id=f"{c}_2", conversation_id=c), p, p is PASSAGES[0])
        for c in ("c", "d")
        for p in PASSAGES
    ]
    training = {"question": pairs, "answer": pairs}

    def judge() -> CrossEncoderJudge:
        return CrossEncoderJudge([SET], training, seed=1, steps=2)

    tasks = [Task("query_evidence", ITEM, p) for p in PASSAGES]
    with fetched("minilm"):
        first = judge().judge(tasks)
    cached = sorted((fresh_cache / "judges" / "cross-encoder").iterdir())
    assert len(cached) == 1  # only the model that did not see conversation c
    at = cached[0].stat().st_mtime_ns
    again = judge().judge(tasks)
    assert cached[0].stat().st_mtime_ns == at
    assert again == first
    cached[0].unlink()
    fresh = [v.value for v in judge().judge(tasks)]
    assert fresh == pytest.approx([v.value for v in first], abs=1e-4)
    (left,) = judge().judge([Task("completeness", ITEM, options=PASSAGES)])
    assert left.reason == "not_applicable"  # the negatives are MiniLM's
