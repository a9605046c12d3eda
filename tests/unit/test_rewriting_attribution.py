"""Labels of failures: signs, precedence, near copies, the matrix, the file for people."""

from __future__ import annotations

import json

import pytest

from mtrlib.data.jsonl import read_jsonl, write_jsonl
from mtrlib.data.schema import Passage, Qrels, Turn, Utterance
from mtrlib.errors import InputError
from mtrlib.retrieval.search import searcher
from mtrlib.rewriting.attribution import attribute
from mtrlib.rewriting.failure_set import read_failures, write_failures
from mtrlib.rewriting.labels import LABELS
from mtrlib.rewriting.near_gold import NearGold

# queries in other words than the corpus are the point here
pytestmark = pytest.mark.filterwarnings("ignore:.*share no term with the corpus")

FILLER = [
    Passage(f"f{i}", f"weather report number {i} with rain and wind", "Weather") for i in range(60)
]
GOLD = [
    Passage("limit", "网关的流量控制阈值在策略页面设置，默认每秒一百次。", "网关手册"),
    Passage("bridge", "The stone viaduct of Arlen carries the railway across the gorge.", "Arlen"),
    Passage("mill", "The mill of Arlen ground rye until the flood.", "Arlen mill"),
]
CORPUS = [*FILLER, *GOLD]
BY_ID = {p.passage_id: p for p in CORPUS}
HISTORY = (Utterance("user", "Tell me about Arlen."), Utterance("agent", "A town."))


def turn(query_id, text, *, history=()):
    return Turn(query_id, query_id, 1, text, history)


def labels(turns, qrels, **more):
    return attribute(searcher("bm25", CORPUS), CORPUS, turns, Qrels(qrels), **more)


def test_each_label_and_the_precedence():
    turns = [
        turn("vocabulary", "train overpass masonry over a deep canyon somewhere up north"),
        turn("context", "and what about it then", history=HISTORY),
        turn("gap", "限流咋弄"),
        turn("found", "stone viaduct of Arlen"),
        turn("several", "masonry overpass and grinding house, respectively"),
        turn("no_gold", "anything"),
    ]
    gold = {
        "vocabulary": {"bridge": 1}, "context": {"bridge": 1}, "gap": {"limit": 1},
        "found": {"bridge": 1}, "several": {"bridge": 1, "mill": 1}, "no_gold": {},
    }  # fmt: skip
    found = labels(turns, gold)
    assert found.failures["primary"].to_dict() == {
        "vocabulary": "vocabulary_mismatch",
        "context": "missing_context",
        "gap": "expression_gap",
        "several": "underspecified",
    }
    assert (found.n_queries, found.n_without_gold) == (5, 1)
    both = found.failures.loc["context"]
    assert both["missing_context"] and both["vocabulary_mismatch"]
    assert found.matrix().loc["missing_context", "vocabulary_mismatch"] == 1
    assert found.matrix().to_numpy().trace() == found.counts().loc[list(LABELS), "any"].sum()
    assert found.counts().loc["missing_context", "remedy"] == "coreference resolution"


def test_gold_below_20_is_ranking_whatever_else_the_text_says():
    words = "weather report number with rain and wind and it"
    turns = [turn("low", words, history=HISTORY)]
    low = [*FILLER[:30], Passage("late", "rain " + "and so on and so forth " * 40, "Late")]
    found = attribute(searcher("bm25", low), low, turns, Qrels({"low": {"late": 1}}), k=20, deep=50)
    row = found.failures.loc["low"]
    assert row["primary"] == "ranking" and 20 < row["gold_rank"] <= 50
    assert row["missing_context"] and not row["vocabulary_mismatch"]


def test_a_pronoun_without_history_is_no_missing_context():
    found = labels([turn("q", "does it carry trains over canyons perhaps")], {"q": {"bridge": 1}})
    assert not found.failures.loc["q", "missing_context"]


def test_labels_after_coreference_are_read_from_the_new_text():
    turns = [turn("q", "and what about it now", history=HISTORY)]
    gold = {"q": {"bridge": 1}}
    assert labels(turns, gold).failures.loc["q", "primary"] == "missing_context"
    after = labels(turns, gold, texts={"q": "masonry used near some northern canyon overpass"})
    assert after.failures.loc["q", "primary"] == "vocabulary_mismatch"


def test_evidence_decides_over_connectives():
    turns = [turn("q", "overpass and grinding house, how old")]
    gold = {"q": {"bridge": 1, "mill": 1}}
    one = labels(turns, gold, evidence={"q": (("bridge", "mill"), ("mill",))})
    assert not one.failures.loc["q", "underspecified"]  # one passage covers both pieces
    two = labels(turns, gold, evidence={"q": (("bridge",), ("mill",))})
    assert two.failures.loc["q", "underspecified"]
    none = labels(turns, gold, evidence={"q": ()})
    assert not none.failures.loc["q", "underspecified"]


def test_pitfall_26_a_near_copy_of_the_gold_counts_as_gold():
    text = "The reservoir above Arlen supplies the paper works and the lower town with water."
    corpus = [
        *FILLER,
        Passage("copy", text + " Since 1911."),
        Passage("gold", text),
        Passage("other", "The lower town has a market."),
    ]
    by_id = {p.passage_id: p for p in corpus}
    near = NearGold(by_id)
    assert near.copies(["copy", "other", "gold"], {"gold"}) == {"copy"}
    hidden = [p for p in corpus if p.passage_id != "gold"]  # the index lacks the gold itself
    found = attribute(
        searcher("bm25", hidden), corpus, [turn("q", "reservoir of Arlen water")],
        Qrels({"q": {"gold": 1}}),
    )  # fmt: skip
    assert found.n_near_copy == 1 and found.failures.empty


def test_near_copies_in_chinese():
    text = "网关的流量控制阈值在策略页面设置，默认每秒一百次，超出的请求会被拒绝。"
    by_id = {
        "a": Passage("a", text),
        "b": Passage("b", text.replace("一百", "两百")),
        "c": Passage("c", "退款会在七天内到账，节假日顺延。"),
    }
    assert NearGold(by_id).copies(["b", "c"], {"a"}) == {"b"}


def test_exactly_the_threshold_is_near():
    by_id = {"a": Passage("a", "abcdefgh"), "b": Passage("b", "abcdefgh")}
    assert NearGold(by_id, 1.0).copies(["b"], {"a"}) == {"b"}


def test_small_labels_are_flagged():
    turns = [turn(f"q{i}", f"canyon overpass masonry {i} somewhere north") for i in range(30)]
    gold = {t.query_id: {"bridge": 1} for t in turns}
    counts = labels(turns, gold).counts()
    assert counts.loc["vocabulary_mismatch", "primary"] == 30
    assert counts.loc["vocabulary_mismatch", "note"] == ""
    assert labels(turns[:29], gold).counts().loc["vocabulary_mismatch", "note"] == (
        "too few to decide on"
    )


def test_no_failures_at_all():
    found = labels([turn("q", "stone viaduct of Arlen")], {"q": {"bridge": 1}})
    assert found.failures.empty and found.counts()["primary"].sum() == 0
    assert found.matrix().to_numpy().sum() == 0


@pytest.fixture
def failing():
    turns = [
        turn("q1", "and what about it then", history=HISTORY),
        turn("q2", "限流咋弄"),
    ]
    qrels = Qrels({"q1": {"bridge": 1}, "q2": {"limit": 1}})
    return turns, qrels, labels(turns, {q: qrels.grades(q) for q in qrels})


def test_failures_go_to_people_and_come_back(tmp_path, failing):
    turns, qrels, found = failing
    path = tmp_path / "failures.jsonl"
    assert write_failures(path, found, turns, qrels, BY_ID) == 2
    rows = [r for _, r in read_jsonl(path)]
    assert rows[1]["gold"] == [{"passage_id": "limit", "title": "网关手册", "section": []}]
    assert "流量控制" not in path.read_text("utf-8")  # texts stay in the corpus
    rows[0] |= {"label": "Missing context", "rater": "a"}
    rows[1] |= {"label": "vocabulary_mismatch", "rater": "a"}
    write_jsonl(path, rows)
    people = read_failures(path)
    assert people.labels == {"q1": "missing_context", "q2": "vocabulary_mismatch"}
    assert people.agreement == 0.5
    assert people.table().loc["expression_gap", "vocabulary_mismatch"] == 1
    corrected = found.relabelled(people.labels)
    assert corrected.failures.loc["q2", "primary"] == "vocabulary_mismatch"
    assert found.failures.loc["q2", "primary"] == "expression_gap"


def test_open_and_disputed_lines(tmp_path, failing):
    turns, qrels, found = failing
    path = tmp_path / "failures.jsonl"
    write_failures(path, found, turns, qrels, BY_ID)
    rows = [r for _, r in read_jsonl(path)]
    a = [r | {"label": "ranking", "rater": "a"} for r in rows[:1]]
    b = [r | {"label": "expression_gap", "rater": "b"} for r in rows[:1]]
    write_jsonl(path, [*a, *b, rows[1]])
    people = read_failures(path)
    assert (people.n_open, people.disputed, dict(people.labels)) == (1, ("q1",), {})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": "typo", "rater": "a"}, r"failures.jsonl:1: label 'typo'.*use one of ranking"),
        ({"label": "ranking", "rater": ""}, r":1: a label without rater.*name who"),
        ({"query_id": None}, r":1: query_id is None"),
        ({"suggested": "luck"}, r":1: suggested 'luck'.*keep it"),
    ],
)
def test_wrong_lines_name_file_line_and_mend(tmp_path, failing, change, message):
    turns, qrels, found = failing
    path = tmp_path / "failures.jsonl"
    write_failures(path, found, turns, qrels, BY_ID)
    rows = [r for _, r in read_jsonl(path)]
    write_jsonl(path, [rows[0] | change, rows[1]])
    with pytest.raises(InputError, match=message):
        read_failures(path)


def test_missing_fields_and_repeats_are_named(tmp_path, failing):
    turns, qrels, found = failing
    path = tmp_path / "failures.jsonl"
    write_failures(path, found, turns, qrels, BY_ID)
    rows = [r for _, r in read_jsonl(path)]
    path.write_text(json.dumps({"query_id": "q1"}) + "\n", "utf-8")
    with pytest.raises(InputError, match=r":1: no field 'suggested'"):
        read_failures(path)
    twice = rows[0] | {"label": "ranking", "rater": "a"}
    write_jsonl(path, [twice, twice])
    with pytest.raises(InputError, match=r":2: 'a' has labelled 'q1' before \(line 1\)"):
        read_failures(path)
    with pytest.raises(InputError, match="no failing query"):
        found.relabelled({"q9": "ranking"})
