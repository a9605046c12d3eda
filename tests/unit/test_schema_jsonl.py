"""Records, ids, JSON Lines; case 02."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtrlib.data.formats.beir import read_beir
from mtrlib.data.formats.conversational import read_conversational
from mtrlib.data.formats.corpus_jsonl import read_corpus
from mtrlib.data.formats.trec import read_qrels, read_run, write_run
from mtrlib.data.jsonl import read_jsonl, text_id, write_jsonl
from mtrlib.data.schema import Benchmark, Conversation, Passage, Qrels, Run, Turn
from mtrlib.errors import InputError
from mtrlib.evaluation.evaluate import evaluate


def test_jsonl_accepts_bom_crlf_and_u2028(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    path.write_bytes('\ufeff{"a": "x\u2028y"}\r\n\r\n{"a": "z\x85"}\n'.encode())
    assert list(read_jsonl(path)) == [(1, {"a": "x\u2028y"}), (3, {"a": "z\x85"})]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": 1}\n{"a": ', r"bad\.jsonl:2: not JSON .*cut last line"),
        (b"[1]\n", r"bad\.jsonl:1: a JSON value, not an object"),
        ('{"a": "发票"}\n'.encode("gbk"), r"bad\.jsonl:1: not UTF-8 .*iconv"),
        (b"version https://git-lfs.github.com/spec/v1\n", r"bad\.jsonl:1: a Git LFS pointer"),
    ],
)
def test_jsonl_errors_name_line_and_mend(tmp_path: Path, data: bytes, message: str):
    path = tmp_path / "bad.jsonl"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message):
        list(read_jsonl(path))


def test_jsonl_round_trip_leaves_no_part_file(tmp_path: Path):
    path = tmp_path / "deep" / "a.jsonl"
    assert write_jsonl(path, [{"t": "故乡\u2028"}]) == 1
    assert [r for _, r in read_jsonl(path)] == [{"t": "故乡\u2028"}]
    assert [p.name for p in path.parent.iterdir()] == ["a.jsonl"]


@pytest.mark.parametrize("value", [1.0, True, None, "", [], 7e2])
def test_ids_that_are_none(value: object):
    with pytest.raises(InputError, match="is no id"):
        text_id(value, "f", 3, "id")


CORPUS = '{"id": "0012", "text": "a"}\n{"id": "12", "text": "b"}\n{"id": "7e2", "text": "c"}\n'


def test_case_02_ids_stay_text_and_dangling_gold_is_named(tmp_path: Path):
    (tmp_path / "corpus.jsonl").write_text(CORPUS)
    (tmp_path / "qrels.tsv").write_text(
        "query_id\tdoc_id\trel\n01\t0012\t1\n02\t7e2\t1\n02\t0999\t1\n"
    )
    (tmp_path / "run.tsv").write_text(
        "01\tQ0\t0012\t1\t9.0\ttoy\n01\tQ0\t12\t2\t8.0\ttoy\n02\tQ0\t7e2\t1\t5.0\ttoy\n"
    )
    passages = read_corpus(tmp_path / "corpus.jsonl")
    qrels, run = read_qrels(tmp_path / "qrels.tsv"), read_run(tmp_path / "run.tsv")
    assert [p.passage_id for p in passages] == ["0012", "12", "7e2"]
    assert list(qrels) == ["01", "02"]
    conversations = tuple(Conversation(q, (Turn(q, q, 1, "?"),)) for q in qrels)
    with pytest.warns(UserWarning, match=r"1 gold ids .*query 02: passage 0999"):
        benchmark = Benchmark("toy", passages, conversations, qrels)
    assert benchmark.dangling == (("02", "0999"),)
    scores = evaluate(benchmark.qrels, run, ["Recall@1", "Recall@20"]).per_query
    assert scores.loc["01", "Recall@1"] == 1.0
    assert scores.loc["02", "Recall@20"] == 0.5


def test_two_texts_under_one_id_stop_the_load(tmp_path: Path):
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"id": "12", "text": "a"}\n{"id": 12, "text": "b"}\n')
    with pytest.raises(InputError, match=r":2: id 12 has two texts \(first in line 1\)"):
        read_corpus(path)


def test_repeated_ids_in_a_benchmark_are_refused():
    passages = (Passage("p", "a"), Passage("p", "b"))
    with pytest.raises(InputError, match="passage id 'p' occurs more than once"):
        Benchmark("b", passages, ())


@pytest.mark.parametrize(
    "text",
    ["q 1\t0\td x\t2\n", "query-id\tcorpus-id\tscore\nq 1\td x\t2\n", "q 1\td x\t2\n"],
)
def test_qrels_layouts_keep_ids_with_spaces(tmp_path: Path, text: str):
    path = tmp_path / "q.tsv"
    path.write_text(text)
    assert read_qrels(path).grades("q 1") == {"d x": 2}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q d 1.5\n", r":1: grade '1\.5'"),
        ("q d\n", r":1: 2 columns"),
        ("q 0 d 1\nq 0 d 2\n", r":2: query q, passage d has two grades"),
    ],
)
def test_bad_qrels(tmp_path: Path, text: str, message: str):
    path = tmp_path / "q.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_qrels(path)


def test_run_round_trip_and_order_by_rank(tmp_path: Path):
    path = tmp_path / "run.txt"
    path.write_text("q Q0 b 2 1.0 s\nq Q0 a 1 2.0 s\n")
    run = read_run(path)
    assert run.ids("q") == ["a", "b"]
    write_run(path, run)
    assert read_run(path) == run


def test_run_counts_repeated_rows():
    run = Run.from_rankings("s", {"q": [("a", 3.0), ("a", 2.0), ("b", 1.0)]})
    assert run.ids("q") == ["a", "b"]
    assert run.n_duplicate_rows == 1
    assert run.to_frame()["rank"].tolist() == [1, 2]


def test_qrels_gold_by_grade():
    qrels = Qrels({"q": {"a": 0, "b": 1, "c": 2}})
    assert qrels.gold("q") == {"b", "c"}
    assert qrels.gold("q", rel=2) == {"c"}
    assert qrels.gold("other") == frozenset()


QUERIES = (
    '{"id": "c#2", "conversation_id": "c", "turn": 2, "history": ["Hi", "Yes"], "query": "And?",'
    ' "gold": ["12"]}\n'
    '{"id": "c#1", "conversation_id": "c", "turn": "1", "history": [], "query": "Hi", "gold": []}\n'
)


def test_conversational_layout(tmp_path: Path):
    (tmp_path / "corpus.jsonl").write_text(CORPUS)
    (tmp_path / "queries.jsonl").write_text(QUERIES)
    benchmark = read_conversational(tmp_path)
    first, second = benchmark.turns()
    assert (first.query_id, first.gold, second.query_id) == ("c#1", (), "c#2")
    assert [(u.role, u.text) for u in second.history] == [("user", "Hi"), ("agent", "Yes")]
    assert benchmark.qrels.gold("c#2") == {"12"}
    assert "c#1" in benchmark.qrels


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ('"history": ["Hi"]', "its last one is a user's without a reply"),
        ('"gold": "12"', "gold is no list"),
        ('"query": " "', "non-empty text"),
        ('"turn": 1.5', "turns are numbered"),
        ('"history": [{"role": "bot", "text": "x"}]', "roles are user and agent"),
    ],
)
def test_conversational_errors(tmp_path: Path, change: str, message: str):
    record = '{"id": "c#1", "conversation_id": "c", "turn": 1, "query": "Hi", "gold": []}'
    field = change.split(":")[0]
    import json

    values = json.loads(record) | json.loads("{" + change + "}")
    assert field.strip('"') in values
    (tmp_path / "corpus.jsonl").write_text(CORPUS)
    (tmp_path / "queries.jsonl").write_text(json.dumps(values) + "\n")
    with pytest.raises(InputError, match=message):
        read_conversational(tmp_path)


def test_beir_folder(tmp_path: Path):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "title": "T", "text": "a"}\n')
    (tmp_path / "queries.jsonl").write_text(
        '{"_id": "q1", "text": "x"}\n{"_id": "q2", "text": "y"}\n'
    )
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    benchmark = read_beir(tmp_path)
    assert [(t.query_id, t.gold) for t in benchmark.turns()] == [("q1", ("d1",))]
    with pytest.raises(InputError, match="splits found here: test"):
        read_beir(tmp_path, "dev")
