"""Cranfield, on three abstracts made for the purpose."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtrlib.data.formats.cranfield import (
    FORMAT,
    read_conversations,
    read_passages,
    read_qrels,
)
from mtrlib.errors import InputError

DOCUMENTS = (
    ".I 1\n.T\nlift of\na wing .\n.A\nnobody\n.B\nnowhere\n.W\nlift of\na wing .\n"
    "  the wing lifts .\n.W\nit goes on .\n.I 2\n.T\n.A\n.B\n.W\n"
)
QUERIES = ".I 001\r\n.W\r\nwhat lifts\r\na wing .\r\n.I 004\r\n.W\r\nwhat else .\r\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cran.all.1400").write_text(DOCUMENTS)
    (tmp_path / "cran.qry").write_bytes(QUERIES.encode())
    (tmp_path / "cranqrel").write_text("1 1 1\n1 2 -1\n2 1 3 \n2 2 4\n")
    return tmp_path


def test_passages(folder: Path):
    first, second = read_passages(folder)
    assert (first.passage_id, first.title) == ("1", "lift of a wing .")
    assert first.text == "lift of a wing . the wing lifts . it goes on ."
    assert (second.passage_id, second.title, second.text) == ("2", "", "")
    assert second.source == "cran.all.1400:15"


def test_queries_count_by_place_and_grades_are_turned_round(folder: Path):
    qrels = read_qrels(folder)
    assert qrels.grades("1") == {"1": 4, "2": 0}
    assert qrels.grades("2") == {"1": 2, "2": 1}
    first, second = (c.turns[0] for c in read_conversations(folder))
    assert (first.query_id, first.raw_utterance, first.gold) == ("1", "what lifts a wing .", ("1",))
    assert (second.query_id, second.gold) == ("2", ("1", "2"))
    assert second.labels == ("printed_number:004",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1 5\n", r"cranqrel:1: '1 1 5'"),
        ("1 0 1 2\n", "grade of 1 to 4"),
        ("1 1 2\n1 1 3\n", ":2: query 1, document 1 has two grades"),
        ("4 1 2\n", "query 4 is not among the 2"),
    ],
)
def test_judgements_that_are_none(folder: Path, text: str, message: str):
    (folder / "cranqrel").write_text(text)
    with pytest.raises(InputError, match=message):
        list(read_conversations(folder))


@pytest.mark.parametrize(
    ("text", "message"),
    [(".I\n", "without number"), (".I 1\nlost\n", "'lost' outside"), ("\n", "no records")],
)
def test_documents_that_are_none(folder: Path, text: str, message: str):
    (folder / "cran.all.1400").write_text(text)
    with pytest.raises(InputError, match=message):
        list(read_passages(folder))


def test_recognition(folder: Path):
    names = ("", "cran.all.1400", "cran.qry", "cranqrel")
    assert all(FORMAT.recognises(folder / n) for n in names)
    (folder / "other.txt").write_text(".I 1\n")
    assert not FORMAT.recognises(folder / "other.txt")
