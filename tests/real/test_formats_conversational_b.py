"""INSCIT, CAsT, MTRAG and MTRAG-UN, plain and BEIR packs: counts as their READMEs say."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from needed import pack

from mtrlib.data.formats import beir, cast, conversational, inscit, mtrag, mtrag_retrieval
from mtrlib.data.formats.base import Format
from mtrlib.data.formats.cast_rewrites import rewritten_turns, sampled_rewrites
from mtrlib.data.formats.conversational import read_conversational
from mtrlib.data.schema import Turn
from mtrlib.errors import InputError

FORMATS: tuple[Format, ...] = (
    *inscit.FORMATS,
    *cast.FORMATS,
    *mtrag.FORMATS,
    *conversational.FORMATS,
    *beir.FORMATS,
)


def turns_of(conversations) -> list[Turn]:
    return [t for c in conversations for t in c.turns]


@pytest.mark.parametrize(
    ("name", "format_"),
    [
        ("inscit", "plain"),
        ("inscit/dev.json", "inscit"),
        ("mtrag_un", "plain"),
        ("mtrag_un/reference_60.jsonl", "mtrag-tasks"),
        ("mtrag_human", "mtrag-retrieval"),
        ("mtrag_human/tasks_clean.jsonl", "plain-queries"),
        ("format_samples/mtrag_taskac_input.jsonl", "mtrag-tasks"),
        ("format_samples/mtrag_taskb_input.jsonl", "mtrag-tasks"),
        ("format_samples/mtrag_responses-10.jsonl", "mtrag-tasks"),
        ("cast/cast2019_topics.json", "cast-2019"),
        ("cast/cast2019_resolved.tsv", "cast-2019-resolved"),
        ("cast/cast2020_manual_topics.json", "cast-2020"),
        ("cast/cast2022_flattened.json", "cast-2022"),
        ("cast/rewrites_all.jsonl", "cast-rewrites"),
        ("cast/llm4cs_cast19_REW_rewrites.jsonl", "llm4cs"),
        ("limit_small", "beir"),
        ("clapnq/closed_queries.jsonl", "plain-queries"),
        ("cmrc2018/closed_corpus.jsonl", "plain-corpus"),
    ],
)
def test_files_are_recognised_by_one_reader(real_data: Path, name: str, format_: str):
    assert [f.name for f in FORMATS if f.recognises(pack(real_data, name))] == [format_]


def test_inscit_original_agrees_with_the_derived_pack(real_data: Path):
    path = pack(real_data, "inscit/dev.json")
    conversations = list(inscit.conversations(path))
    turns = turns_of(conversations)
    passages = {p.passage_id: p for p in inscit.passages(path)}
    assert (len(conversations), len(turns), len(passages)) == (86, 502, 996)
    assert Counter(len(t.gold_by_annotator) for t in turns) == {1: 169, 2: 333}
    without = [t for t in turns if not t.gold]
    assert len(without) == 17
    assert all(t.labels == ("noAnswerNoRelevantInfo",) for t in without)
    both = [t for t in turns if len(t.gold_by_annotator) == 2 and all(t.gold_by_annotator)]
    pairs = [tuple(map(set, t.gold_by_annotator)) for t in both]
    assert len(pairs) == 324
    assert sum(a == b for a, b in pairs) == 114
    assert sum(not a & b for a, b in pairs) == 118
    assert sum("&amp;" in p.text for p in passages.values()) > 0  # texts stay as they are
    derived = read_conversational(path.parent)
    same = {t.query_id.replace("#", "_"): t for t in derived.turns()}
    for turn in turns:
        other = same[turn.query_id]
        assert turn.gold == other.gold
        assert turn.gold_by_annotator == other.gold_by_annotator
        assert turn.history == other.history
    assert {i: p.text for i, p in passages.items()} == {
        p.passage_id: p.text for p in derived.passages
    }


@pytest.mark.parametrize(
    ("name", "topics", "turns", "unchanged"),
    [
        ("cast2019_topics.json", 50, 479, 136),
        ("cast2020_manual_topics.json", 25, 216, 29),
        ("cast2022_flattened.json", 50, 284, 44),
    ],
)
def test_cast_years(real_data: Path, name: str, topics: int, turns: int, unchanged: int):
    conversations = list(cast.conversations(pack(real_data, f"cast/{name}")))
    found = turns_of(conversations)
    assert (len(conversations), len(found)) == (topics, turns)
    assert len({t.query_id for t in found}) == turns
    assert len({c.conversation_id for c in conversations}) == topics
    assert all(t.rewrite for t in found)
    same = sum(t.rewrite.strip() == t.raw_utterance.strip() for t in found if t.rewrite)
    assert same == unchanged


def test_cast_2022_paths(real_data: Path):
    found = turns_of(cast.conversations(pack(real_data, "cast/cast2022_flattened.json")))
    assert sum("repeated_turn" not in t.labels for t in found) == 205
    assert sum(t.answer is None for t in found) == 6
    assert sum(t.query_id.startswith("142_1-1") for t in found) == 8
    assert "142_1-1@8" in {t.query_id for t in found}


def test_cast_rewrites_of_all_years(real_data: Path):
    found = turns_of(rewritten_turns(pack(real_data, "cast/rewrites_all.jsonl")))
    years = Counter(t.labels[0] for t in found)
    assert years == {"2019": 479, "2020": 216, "2021": 239, "2022": 284}
    assert len({t.query_id for t in found}) == 1218
    assert all(t.gold for t in found if t.labels[0] == "2021")


def test_llm4cs_samples(real_data: Path):
    path = pack(real_data, "cast/llm4cs_cast19_REW_rewrites.jsonl")
    distinct = Counter(len(set(sampled)) for _, sampled in sampled_rewrites(path))
    assert (distinct.total(), distinct[1], distinct[5]) == (479, 247, 13)


def test_mtrag_un_pack(real_data: Path):
    folder = pack(real_data, "mtrag_un")
    benchmark = read_conversational(folder)
    turns = list(benchmark.turns())
    assert (len(benchmark.passages), len(turns)) == (1152, 507)
    assert sum(bool(t.gold) for t in turns) == 377
    assert not benchmark.dangling
    assert all(len(t.history) == 2 * (t.turn_number - 1) for t in turns)
    texts = Counter(p.text for p in benchmark.passages)
    assert sum(n > 1 for n in texts.values()) == 12
    empty = Counter(t.labels[0] for t in turns if not t.gold)
    assert empty == {"UNANSWERABLE": 97, "UNDERSPECIFIED": 33}
    large = [t for t in turns if len(t.gold) >= 23]
    assert len(large) == 5
    assert all("UNDERSPECIFIED" in t.labels for t in large)


def test_mtrag_un_tasks_agree_with_the_pack(real_data: Path):
    path = pack(real_data, "mtrag_un/reference_60.jsonl")
    shipped = {t.query_id: t for t in read_conversational(path.parent).turns()}
    found = turns_of(mtrag.task_conversations(path))
    assert len(found) == 64
    for turn in found:
        other = shipped[turn.query_id]
        assert (turn.raw_utterance, turn.gold, turn.answer, turn.turn_number) == (
            other.raw_utterance,
            other.gold,
            other.answer,
            other.turn_number,
        )
        assert [u.role for u in turn.history] == [u.role for u in other.history]
        assert set(turn.labels) == set(other.labels)
    assert {p for t in found for p in t.gold} == {p.passage_id for p in mtrag.task_passages(path)}


def test_mtrag_retrieval_tasks(real_data: Path):
    folder = pack(real_data, "mtrag_human")
    found = turns_of(mtrag_retrieval.conversations(folder))
    domains = Counter(t.labels[0] for t in found)
    assert domains == {"clapnq": 208, "cloud": 188, "fiqa": 180, "govt": 201}
    assert all(t.gold and t.rewrite for t in found)
    assert all(t.query_id.endswith(f"<::>{t.turn_number}") for t in found)
    assert sum(t.rewrite == t.raw_utterance for t in found) == 205
    assert len(mtrag_retrieval.qrels(folder)) == 777
    held = {p.passage_id for p in mtrag_retrieval.passages(folder)}
    assert len(held) == 350
    held |= {p.passage_id for p in conversational.passages(pack(real_data, "mtrag_un"))}
    assert len(held) == 1488
    assert sum(set(t.gold) <= held for t in found) == 179


def test_mtrag_human_tasks(real_data: Path):
    found = turns_of(conversational.conversations(pack(real_data, "mtrag_human/tasks_clean.jsonl")))
    assert len(found) == 159
    corpus = {p.passage_id for p in conversational.passages(real_data / "mtrag_human")}
    assert {p for t in found for p in t.gold} == corpus
    assert all(t.answer is not None for t in found)


@pytest.mark.parametrize(
    ("name", "with_gold", "with_answer"),
    [("taskac_input", 0, 0), ("taskb_input", 9, 0), ("responses-10", 9, 10)],
)
def test_mtrag_evaluator_samples(real_data: Path, name: str, with_gold: int, with_answer: int):
    path = pack(real_data, f"format_samples/mtrag_{name}.jsonl")
    found = turns_of(mtrag.task_conversations(path))
    assert len(found) == 10
    assert sum(bool(t.gold) for t in found) == with_gold
    assert sum(t.answer is not None for t in found) == with_answer
    assert {p for t in found for p in t.gold} == {p.passage_id for p in mtrag.task_passages(path)}


@pytest.mark.parametrize(
    ("name", "queries", "with_gold", "passages"),
    [("clapnq", 600, 300, 597), ("cmrc2018", 3219, 3219, 848)],
)
def test_packs_of_single_questions(
    real_data: Path, name: str, queries: int, with_gold: int, passages: int
):
    folder = pack(real_data, name)
    found = turns_of(conversational.conversations(folder / "closed_queries.jsonl"))
    held = {p.passage_id for p in conversational.passages(folder / "closed_corpus.jsonl")}
    assert (len(found), sum(bool(t.gold) for t in found), len(held)) == (
        queries,
        with_gold,
        passages,
    )
    assert {p for t in found for p in t.gold} <= held


def test_clapnq_negative_ids_keep_their_digits(real_data: Path):
    found = turns_of(conversational.conversations(pack(real_data, "clapnq/closed_queries.jsonl")))
    assert "-1218875241352839456" in {t.query_id for t in found}
    assert sum(t.query_id.startswith("-") for t in found) == 311


def test_limit_small(real_data: Path):
    benchmark = beir.read_beir(pack(real_data, "limit_small"))
    assert (len(benchmark.passages), len(benchmark.conversations)) == (46, 1000)
    assert all(len(t.gold) == 2 for t in benchmark.turns())
    assert not any(p.title for p in benchmark.passages)
    assert not benchmark.dangling


def test_messy_corpus_with_bom_and_crlf(real_data: Path):
    path = pack(real_data, "messy_samples/corpus_bom_crlf.jsonl")
    one, two = conversational.passages(path)
    assert (one.passage_id, two.passage_id, two.title) == ("d1", "d2", "")
    assert "\u200b" in one.text
    assert "&amp;" in two.text


def test_messy_truncated_last_line(real_data: Path):
    path = pack(real_data, "messy_samples/truncated_last_line.jsonl")
    with pytest.raises(InputError, match=r"truncated_last_line\.jsonl:2: not JSON .*cut last line"):
        list(conversational.passages(path))
