"""Features of pairs: what they are made of, and that nothing but the pair decides them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from needed import fetched

from mtrlib.audit import pair_scores
from mtrlib.audit.items import AuditItem
from mtrlib.audit.overlap import MEASURES, Overlap, terms
from mtrlib.audit.pair_features import PairFeatures, shared_features
from mtrlib.audit.pair_scores import CorpusScorer
from mtrlib.data.schema import Passage, Utterance
from mtrlib.errors import InputError
from mtrlib.retrieval.search import searcher

PASSAGES = tuple(
    Passage(f"p{i}", text, title)
    for i, (title, text) in enumerate(
        [
            ("Caesium", "It melts at 28 degrees and was found by Robert Bunsen."),
            ("Caesium", "It burns in moist air with a violet flame."),
            ("Iron", "It rusts slowly and melts at 1538 degrees."),
            ("Lakes", "The lake is forty metres deep and cold."),
            ("Bunsen", "Robert Bunsen taught in Heidelberg."),
        ]
    )
)
HISTORY = (Utterance("user", "Who found caesium?"), Utterance("agent", "Robert Bunsen did."))
FIRST = AuditItem("c_1", "b", "c", 1, "Who found caesium?", answer="Robert Bunsen.")
SECOND = AuditItem("c_2", "b", "c", 2, "When does it melt?", HISTORY, answer="At 28 degrees.")
PAIRS = [(item, p) for item in (FIRST, SECOND) for p in PASSAGES]


def features() -> PairFeatures:
    return PairFeatures(PASSAGES, retrievers=("bm25",))


def test_one_row_per_pair_with_stable_names():
    frame = features().frame(PAIRS)
    assert list(frame.index) == [(i.item_id, p.passage_id) for i, p in PAIRS]
    assert list(frame.columns[:4]) == [
        "bm25.turn.raw", "bm25.turn.standard", "bm25.turn.log_rank", "bm25.history.raw",
    ]  # fmt: skip
    assert {"question.in_passage", "last.of_title", "history.of_text", "passage.length"} <= set(
        frame
    )
    assert set(frame.dtypes) == {np.dtype(float)}
    assert np.isfinite(frame.to_numpy()).all()
    answers = features().frame(PAIRS, query="answer")
    assert next(c for c in answers if c.startswith("bm25")) == "bm25.answer.raw"
    assert not {c for c in answers if c.startswith(("question", "turn", "history"))}


def test_raw_scores_are_those_of_the_search():
    found = features().frame(PAIRS)["bm25.turn.raw"]
    run = searcher("bm25", PASSAGES).search({"c_2": SECOND.question}, 10)
    hits = dict(run.rankings["c_2"])
    assert hits
    for p in PASSAGES:
        assert found["c_2", p.passage_id] == pytest.approx(hits.get(p.passage_id, 0.0))


def test_standard_scores_and_ranks_are_over_the_corpus():
    found = features().frame(PAIRS)
    scores = found.loc["c_2", "bm25.turn.raw"].to_numpy()
    expected = (scores - scores.mean()) / scores.std()
    assert found.loc["c_2", "bm25.turn.standard"].to_numpy() == pytest.approx(expected)
    ranks = [math.log1p((scores > s).sum()) for s in scores]
    assert found.loc["c_2", "bm25.turn.log_rank"].to_numpy() == pytest.approx(ranks)


def test_a_pair_does_not_feel_its_company():
    whole = features().frame(PAIRS)
    assert features().frame(PAIRS[::-1]).iloc[::-1].equals(whole)
    assert features().frame(PAIRS[3:4]).equals(whole.iloc[3:4])


def test_a_query_without_any_hit_has_no_rank_to_speak_of():
    frame = features().frame([(replace(FIRST, question="Zzz?"), PASSAGES[0])])
    turn = [c for c in frame if c.startswith("bm25.turn")]
    assert frame.iloc[0][turn].tolist() == [0.0, 0.0, 0.0]


def test_without_leaves_the_columns_out():
    frame = features().frame(PAIRS, without=("bm25",))
    assert not [c for c in frame if "bm25" in c]
    assert "question.in_passage" in frame


def test_items_of_one_id_and_other_answers_are_kept_apart():
    other = replace(SECOND, answer="In moist air, with a violet flame.")
    frame = features().frame([(SECOND, PASSAGES[1]), (other, PASSAGES[1])], query="answer")
    assert frame["bm25.answer.raw"].iloc[0] < frame["bm25.answer.raw"].iloc[1]


def test_a_passage_outside_the_corpus_and_a_missing_answer_are_refused():
    with pytest.raises(InputError, match=r"'px' .* is not in the corpus"):
        features().frame([(FIRST, Passage("px", "x"))])
    with pytest.raises(InputError, match="'c_1' has no answer"):
        features().frame([(replace(FIRST, answer=None), PASSAGES[0])], query="answer")
    with pytest.raises(InputError, match="Known: question, answer"):
        features().frame(PAIRS, query="title")
    with pytest.raises(InputError, match="hybrid"):
        CorpusScorer("hybrid", PASSAGES)


def test_overlap_of_words_names_and_numbers():
    text = terms("Did Robert find it at 28 degrees, or 30?")
    assert text.names == {"robert"}
    assert text.numbers == {"28", "30"}
    found = dict(zip(MEASURES, Overlap(PASSAGES).measures(text, "p0"), strict=True))
    assert found["names"] == 1.0
    assert found["name_count"] == 1
    # the unseen 30 is the rarer of the two
    assert 0.3 < found["numbers"] < 0.5
    assert found["of_title"] == 0.0
    assert found["of_section"] == 0.0  # nothing to find
    assert 0 < found["of_text"] < 1
    assert Overlap(PASSAGES).measures(terms("caesium"), "p1")[1] == 1.0


def test_equal_corpora_share_their_features():
    shared = shared_features({"a": PASSAGES, "b": tuple(PASSAGES), "c": PASSAGES[:2]})
    assert shared["a"] is shared["b"]
    assert shared["a"] is not shared["c"]


@pytest.mark.models
def test_vector_retrievers_score_as_their_search_does(fresh_cache):
    with fetched("static-256"):
        found = PairFeatures(PASSAGES, retrievers=("static-256",))
        frame = found.frame(PAIRS)
        run = searcher("static-256", PASSAGES).search({"c_1": FIRST.question}, 10)
    for passage_id, score in run.rankings["c_1"]:
        assert frame["static-256.turn.raw"]["c_1", passage_id] == pytest.approx(score, abs=1e-6)
    again = found.frame(PAIRS[::-1])
    assert again.iloc[::-1].equals(frame)


@pytest.mark.models
def test_vectors_do_not_depend_on_who_asks_first(fresh_cache, monkeypatch):
    encoded: list[list[str]] = []
    true = pair_scores.embeddings

    def noting(spec, ids, texts, prompt, label):
        encoded.append(list(ids))
        return true(spec, ids, texts, prompt, label)

    monkeypatch.setattr(pair_scores, "embeddings", noting)
    found = PairFeatures(PASSAGES, retrievers=("static-256",))
    found.begin_with([FIRST, SECOND, replace(FIRST, item_id="c_3", question="Why?")])
    with fetched("static-256"):
        alone = found.scores("static-256", "turn", PAIRS[-1:])
    assert encoded[1:] == [["c_1", "c_2", "c_3"]]
    found.scores("static-256", "turn", [*PAIRS, (replace(FIRST, question="New?"), PASSAGES[0])])
    assert encoded[2:] == [["c_1"]]  # only the new text
    plain = PairFeatures(PASSAGES, retrievers=("static-256",))
    assert np.array_equal(plain.scores("static-256", "turn", PAIRS)[-1:], alone)
