"""Dirty files, ad-hoc sets, decompositions and ratings of the real data, by their readers.

Every file is asked for by name, and each test skips where its pack is absent. No text of the
packs stands here, only counts and ids.
"""

from __future__ import annotations

import gzip
import warnings
from collections import Counter
from pathlib import Path

import pytest
from needed import pack

from mtrlib.data.formats import (
    alce,
    begin,
    break_qdmr,
    cranfield,
    fanoutqa,
    mtrag_ratings,
    ragchecker,
    squad,
    strategyqa,
)
from mtrlib.data.formats.column_map import gold_groups, read_conversations, read_passages
from mtrlib.data.formats.trec import read_qrels
from mtrlib.data.jsonl import read_jsonl
from mtrlib.data.schema import Turn
from mtrlib.errors import InputError


def turns(path: Path, **columns: object) -> list[Turn]:
    return [t for c in read_conversations(path, columns or None) for t in c.turns]


# Files of messy_samples: the right value, or the clear error.


def test_a_corpus_with_bom_and_crlf(real_data: Path):
    found = list(read_passages(pack(real_data, "messy_samples", "corpus_bom_crlf.jsonl")))
    assert [(p.passage_id, p.title) for p in found] == [("d1", ""), ("d2", "")]
    assert found[0].text.endswith("\u200b")
    assert "&amp;" in found[1].text


def test_gbk_bytes(real_data: Path):
    path = pack(real_data, "messy_samples", "queries_gbk.csv")
    with pytest.raises(InputError, match=r"queries_gbk\.csv:1: not UTF-8 .*iconv -f GB18030"):
        turns(path)
    first, second = turns(path, encoding="gb18030")
    assert (first.query_id, first.gold, first.source) == ("q1", ("d1",), "queries_gbk.csv:2")
    assert (second.query_id, second.gold) == ("q2", ())
    assert all(c > "\u4e00" for c in first.raw_utterance + second.raw_utterance)


def test_lists_stored_as_text(real_data: Path):
    path = pack(real_data, "messy_samples", "ragas_stringified_lists.csv")
    with pytest.warns(UserWarning, match="no field of gold was recognised"):
        plain = turns(path)
    assert [t.gold_texts for t in plain] == [(), (), ()]  # retrieved contexts are no gold
    assert [bool(t.answer) for t in plain] == [True, True, False]
    mapped = turns(path, gold_texts="contexts")
    assert [len(t.gold_texts) for t in mapped] == [2, 2, 0]
    assert not any(c in text for t in mapped for text in t.gold_texts for c in "[]'\"")


def test_qrels(real_data: Path):
    folder = pack(real_data, "messy_samples")
    with pytest.warns(UserWarning, match="1 repeated judgements were dropped"):
        qrels = read_qrels(folder / "qrels_no_header.tsv")
    assert {q: qrels.grades(q) for q in qrels} == {"q1": {"d1": 1}, "q2": {"d9": 1}}
    assert qrels.dangling(["d1"]) == [("q2", "d9")]
    qrels = read_qrels(folder / "qrels_trec.txt")
    assert {q: qrels.grades(q) for q in qrels} == {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": -1}}
    assert qrels.gold("q2") == frozenset()
    qrels = read_qrels(folder / "qrels_int_ids.jsonl")
    assert qrels.grades("1") == {"7": 1, "7.0": 1}
    assert qrels.grades("-1218875241352839456") == {"wiki:4": 1}


def test_and_or_gold(real_data: Path):
    a, b, c = turns(pack(real_data, "messy_samples", "autorag_2d_retrieval_gt.jsonl"))
    assert a.gold == ("d1", "d2", "d3")
    assert gold_groups(a) == (("d1", "d2"), ("d3",))
    assert (b.gold, gold_groups(b)) == (("d1",), (("d1",),))
    assert (c.gold, c.answer) == (("d2",), "z")


def test_messages(real_data: Path):
    one, two, three = turns(pack(real_data, "messy_samples", "chat_messages.json"))
    assert [u.role for u in one.history] == ["user"]  # two in a row, the empty answer dropped
    assert one.history[0].text.count("\n") == 1
    assert (one.query_id, one.gold, len(one.gold_texts)) == ("1", (), 1)
    assert [u.role for u in two.history] == ["user", "agent"]
    assert two.gold == ("kb",)
    assert two.labels == ('gold:kb {"page": 30, "clause": "4.4"}',)
    assert (three.query_id, three.answer, three.history) == ("3_1", "ok", ())
    assert three.gold == three.gold_texts == ()


def test_an_lfs_pointer_and_a_cut_line(real_data: Path):
    with pytest.raises(InputError, match=r"lfs_pointer_corpus\.tsv:1: a Git LFS pointer"):
        list(read_passages(pack(real_data, "messy_samples", "lfs_pointer_corpus.tsv")))
    passages = read_passages(pack(real_data, "messy_samples", "truncated_last_line.jsonl"))
    assert next(passages).passage_id == "d1"
    with pytest.raises(InputError, match=r"truncated_last_line\.jsonl:2: not JSON .*cut last line"):
        next(passages)


def test_judge_outputs_are_plain_json_lines(real_data: Path):
    path = pack(real_data, "messy_samples", "judge_outputs.jsonl")
    found = [r for _, r in read_jsonl(path)]
    assert len(found) == 10
    assert [r["want"] for r in found].count(None) == 7


# Files of format_samples that these readers cover.


@pytest.mark.parametrize(
    ("name", "ids", "n_questions"),
    [
        ("allennlp_squad.json", {"University_of_Notre_Dame#0", "University_of_Notre_Dame#1"}, 5),
        ("allennlp_quoref_sample.json", {
            "9821bc1796c741d48f9a50ad2e70a2f136f00338", "d7a264271662fb370d46eeb48d997bd976d7660e",
        }, 4),
    ],
)  # fmt: skip
def test_squad_samples(real_data: Path, name: str, ids: set[str], n_questions: int):
    path = pack(real_data, "format_samples", name)
    assert squad.FORMAT.recognises(path)
    assert {p.passage_id for p in squad.read_passages(path)} == ids
    found = [t for c in squad.read_conversations(path) for t in c.turns]
    assert len(found) == n_questions
    assert {g for t in found for g in t.gold} == ids
    assert all(t.answer for t in found)


def test_drop_sample(real_data: Path):
    path = pack(real_data, "format_samples", "allennlp_drop.json")
    assert squad.FORMAT_DROP.recognises(path)
    ids = {p.passage_id for p in squad.read_drop_passages(path)}
    assert ids == {"history_319", "history_720", "nfl_653"}
    found = [t for c in squad.read_drop_conversations(path) for t in c.turns]
    assert len(found) == 19
    assert all(t.answer for t in found)


def test_samples_of_sets_without_a_reader_go_through_a_map(real_data: Path):
    folder = pack(real_data, "format_samples")
    found = turns(folder / "allennlp_qangaroo.json", gold_texts="supports")
    assert [(t.query_id, len(t.gold_texts)) for t in found] == [("WH_dev_0", 15), ("WH_dev_1", 9)]
    passages = list(read_passages(folder / "hipporag_sample_corpus.json", {"passage_id": "idx"}))
    assert [p.passage_id for p in passages] == ["0", "1", "2"]
    (asked,) = turns(folder / "hipporag_sample.json", gold_texts="paragraphs")
    assert asked.gold_texts == (passages[0].text,)
    rows = turns(folder / "ares_nq_few_shot_prompt_for_judge_scoring.tsv", gold_texts="Document")
    assert {len(t.gold_texts) for t in rows} == {1}
    assert {t.query_id for t in rows} == {f"{n}_1" for n in range(1, len(rows) + 1)}


# Packs.


def test_cranfield(real_data: Path):
    folder = pack(real_data, "cranfield")
    passages = list(cranfield.read_passages(folder))
    assert len(passages) == 1400
    assert [p.passage_id for p in passages if not p.text] == ["471", "995"]
    qrels = cranfield.read_qrels(folder)
    grades = Counter(g for q in qrels for g in qrels.grades(q).values())
    assert grades == {0: 225, 4: 128, 3: 387, 2: 734, 1: 363}
    assert not qrels.dangling(p.passage_id for p in passages)
    found = [t for c in cranfield.read_conversations(folder) for t in c.turns]
    assert [t.query_id for t in found] == [str(n) for n in range(1, 226)]
    assert found[-1].labels == ("printed_number:365",)
    assert round(sum(len(t.gold) for t in found) / 225, 2) == 7.16


@pytest.mark.parametrize(
    ("name", "n_passages", "n_queries"), [("cmrc2018", 848, 3219), ("clapnq", 597, 600)]
)
def test_closed_sets_through_recognised_names(
    real_data: Path, name: str, n_passages: int, n_queries: int
):
    folder = pack(real_data, name)
    passages = {p.passage_id for p in read_passages(folder / "closed_corpus.jsonl")}
    found = turns(folder / "closed_queries.jsonl")
    assert (len(passages), len(found)) == (n_passages, n_queries)
    assert {g for t in found for g in t.gold} <= passages
    if name == "clapnq":
        assert sum(bool(t.gold) for t in found) == 300
        assert sum(t.query_id.startswith("-") for t in found) == 311


def test_sets_without_ids_or_header_go_through_a_map(real_data: Path, tmp_path: Path):
    packed = pack(real_data, "hipporag_2wiki", "2wikimultihopqa_corpus.json.gz")
    path = tmp_path / "corpus.json"
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    passages = list(read_passages(path, {"passage_id": "#"}))
    assert len(passages) == 6119
    assert (passages[0].passage_id, passages[-1].passage_id) == ("0", "6118")
    rewrites = pack(real_data, "zh_utterance_rewriter", "corpus.txt")
    columns = ["first", "_1", "second", "_2", "current", "_3", "human"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the set has no gold passages
        found = turns(rewrites, columns=columns, quotes=False, query="current", rewrite="human")
    assert len(found) == 20_000
    assert all(t.rewrite for t in found)


def test_limit_qrels(real_data: Path):
    qrels = read_qrels(pack(real_data, "limit_small", "qrels.jsonl"))
    assert len(qrels) == 1000
    assert {len(qrels.gold(q)) for q in qrels} == {2}


def test_fanoutqa(real_data: Path):
    path = pack(real_data, "fanoutqa", "fanout-final-dev.json")
    assert fanoutqa.FORMAT.recognises(path)
    found = list(fanoutqa.read_decompositions(path))
    assert len(found) == 310
    assert round(sum(len(d.steps) for d in found) / 310, 1) == 7.2
    assert max(len(d.steps) for d in found) == 46
    assert all(d.answer and len(d.evidence) == len(d.steps) for d in found)
    assert sum(e == () for d in found for e in d.evidence) == 53
    questions = list(fanoutqa.read_questions(path))
    assert all(q.gold and q.answers for q in questions)


def test_strategyqa(real_data: Path):
    path = pack(real_data, "strategyqa", "dev.json")
    assert strategyqa.FORMAT.recognises(path)
    found = list(strategyqa.read_decompositions(path))
    assert len(found) == 229
    assert {d.answer for d in found} == {"yes", "no"}
    assert all(len(d.steps) == len(d.evidence) for d in found)


def test_break(real_data: Path):
    path = pack(real_data, "break", "qdmr_high_level_dev.csv")
    assert break_qdmr.FORMAT.recognises(path)
    found = list(break_qdmr.read_decompositions(path))
    assert len(found) == 3130
    # the README counts 340 by " ;"; one row of two operators parts its steps with ";" alone
    assert sum(len(d.steps) == 1 for d in found) == 339
    assert sum(d.question != d.question.strip() for d in found) == 79


def test_begin(real_data: Path):
    paths = sorted(pack(real_data, "begin").glob("begin_*.tsv"))
    assert all(begin.FORMAT.recognises(p) for p in paths)
    sizes = {p.stem: len(list(begin.read_ratings(p))) for p in paths}
    assert sizes == {"begin_dev_cmu": 416, "begin_dev_wow": 430, "begin_test_wow": 3607}
    ratings = [r for p in paths for r in begin.read_ratings(p)]
    answers = [a for p in paths for a in begin.read_answers(p)]
    assert [(r.item_id, r.system) for r in ratings] == [(a.item_id, a.system) for a in answers]
    assert len({r.item_id for r in ratings}) == len(ratings)


def test_ragchecker(real_data: Path):
    path = pack(real_data, "ragchecker_meta", "human_labeled_data.json")
    assert ragchecker.FORMAT.recognises(path)
    found = list(ragchecker.read_ratings(path))
    overall: dict[str, list[float | str]] = {}
    for rating in found:
        if rating.metric == "overall":
            overall.setdefault(rating.item_id, []).append(rating.value)
    assert len(found) == 560 * 3
    assert {len(v) for v in overall.values()} == {2}
    assert sum(a == b for a, b in overall.values()) == 155
    assert len(list(ragchecker.read_answers(path))) == 280


def test_mtrag_ratings(real_data: Path):
    path = pack(real_data, "mtrag_human", "ratings_clean.jsonl")
    assert mtrag_ratings.FORMAT.recognises(path)
    found = [r for r in mtrag_ratings.read_ratings(path) if r.metric != "win_rate"]
    assert len({(r.item_id, r.system) for r in found}) == 477
    assert len({r.item_id for r in found}) == 159
    assert {r.rater for r in found} == {f"r{n}" for n in range(1, 8)}
    cells = Counter((r.item_id, r.system, r.metric) for r in found)
    assert set(cells.values()) == {2, 3}
    lacking = Counter(metric for (_, _, metric), n in cells.items() if n == 2)
    assert 12 <= min(lacking.values()) <= max(lacking.values()) <= 20


def test_alce(real_data: Path):
    path = pack(real_data, "alce_human", "human_eval_utility_completed.json")
    assert alce.FORMAT.recognises(path)
    found = list(alce.read_ratings(path))
    # 808 entries by the README, of which 8 are the systems' summaries and carry no score
    assert Counter(Counter(r.system for r in found).values()) == {100: 8}
    assert any(r.item_id.startswith("-") for r in found)
    assert len(list(alce.read_answers(path))) == 800
