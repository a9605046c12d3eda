"""Judgements in JSON Lines, repeated judgements, and what the readers take for theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtrlib.data.formats.trec import FORMAT_QRELS, FORMAT_RUN, read_qrels
from mtrlib.errors import InputError


@pytest.mark.parametrize("query", ["query-id", "query_id"])
@pytest.mark.parametrize("passage", ["corpus-id", "doc_id", "passage_id"])
@pytest.mark.parametrize("grade", ["score", "relevance", "rel"])
def test_key_names(tmp_path: Path, query: str, passage: str, grade: str):
    path = tmp_path / "q.jsonl"
    path.write_text(f'{{"{query}": 1, "{passage}": "a b", "{grade}": "2"}}\n')
    assert read_qrels(path).grades("1") == {"a b": 2}
    assert FORMAT_QRELS.recognises(path)


def test_numbers_and_texts_are_one_id(tmp_path: Path):
    path = tmp_path / "q.jsonl"
    path.write_text(
        '{"query-id": 1, "corpus-id": 7, "score": 1}\n'
        '{"query-id": "1", "corpus-id": "7", "score": 1.0}\n'
        '{"query-id": "1", "corpus-id": "7.0", "score": -1}\n'
    )
    with pytest.warns(UserWarning, match="1 repeated judgements were dropped"):
        assert read_qrels(path).grades("1") == {"7": 1, "7.0": -1}
    with path.open("a") as out:
        out.write('{"query-id": 1, "corpus-id": "7", "score": 0}\n')
    with pytest.raises(InputError, match=r":4: query 1, passage 7 has two grades \(1 and 0; ids"):
        read_qrels(path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"query-id": "q", "corpus-id": "d"}', r"none of score, relevance, rel, grade"),
        ('{"query-id": "q", "doc_id": "d", "pid": "e", "rel": 1}', "doc_id and pid of"),
        ('{"query-id": "q", "corpus-id": 7.0, "score": 1}', r"corpus-id is 7\.0"),
        ('{"query-id": "q", "corpus-id": "d", "score": 0.5}', r"grade 0\.5 is no whole number"),
        ('{"query-id": "q", "corpus-id": "d", "score": true}', "grade True is no whole number"),
        ('{"query-id": "q", "corpus-id": "d", "score": "--1"}', "grade '--1' is no whole"),
    ],
)
def test_objects_that_are_none(tmp_path: Path, line: str, message: str):
    path = tmp_path / "q.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(InputError, match=message):
        read_qrels(path)


def test_repeated_rows_of_a_table(tmp_path: Path):
    path = tmp_path / "q.tsv"
    path.write_text("q\td\t1\nq\td\t1\nq\td\t1\n")
    with pytest.warns(UserWarning, match="2 repeated judgements"):
        assert read_qrels(path).grades("q") == {"d": 1}


@pytest.mark.parametrize(
    ("name", "text", "qrels", "run"),
    [
        ("a.txt", "q 0 d 1\n", True, False),
        ("a.txt", "q Q0 d -1\n", True, False),
        ("a.tsv", "query-id\tcorpus-id\tscore\nq 1\td 2\t1\n", True, False),
        ("a.run", "q Q0 d 1 2.5 bm25\n", False, True),
        ("cranqrel", "1 184 2\n", False, False),
        ("a.tsv", "id\ttext\ttitle\n1\tx\ty\n", False, False),
        ("a.txt", "", False, False),
        ("a.jsonl", '{"query": "x", "score": 1}\n', False, False),
    ],
)
def test_recognition(tmp_path: Path, name: str, text: str, qrels: bool, run: bool):
    (tmp_path / name).write_text(text)
    assert FORMAT_QRELS.recognises(tmp_path / name) is qrels
    assert FORMAT_RUN.recognises(tmp_path / name) is run
    assert not FORMAT_QRELS.recognises(tmp_path)
    assert not FORMAT_RUN.recognises(tmp_path)
