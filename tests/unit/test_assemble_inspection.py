"""Folders of any layout become a benchmark; their faults are named with what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mtrlib import profiles
from mtrlib.data.__main__ import main
from mtrlib.data.assemble import as_benchmark, read_parts
from mtrlib.data.benchmarks import load_benchmark
from mtrlib.data.cards import card_path, dataset_card, datasets
from mtrlib.data.formats import formats, recognise
from mtrlib.data.inspection import inspect_dataset
from mtrlib.errors import InputError

CORPUS = [
    {"id": "p1", "title": "Mill", "text": "The old mill turns no more since the flood of 1911."},
    {"id": "p2", "title": "Heron", "text": "A heron waits in the reeds until the evening is gone."},
    {"id": "p3", "title": "Mole", "text": "A mole digs through the lawn in front of the house."},
]
QUERIES = [
    {"id": "c#1", "conversation_id": "c", "turn": 1, "history": [],
     "query": "What stopped?", "gold": ["p1"]},
    {"id": "c#2", "conversation_id": "c", "turn": 2, "history": ["What stopped?", "The mill."],
     "query": "And since when?", "gold": ["p1"]},
]  # fmt: skip


def _write(path: Path, records: list[dict]) -> None:
    path.write_text(
        "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), encoding="utf-8"
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "own"
    found.mkdir()
    _write(found / "corpus.jsonl", CORPUS)
    _write(found / "queries.jsonl", QUERIES)
    return found


def test_a_users_folder_becomes_a_benchmark(folder: Path):
    benchmark = load_benchmark(str(folder), profiles.load("default"))
    assert benchmark.name == "own"
    assert len(benchmark.passages) == 3
    assert [t.gold for t in benchmark.turns()] == [("p1",), ("p1",)]


def test_a_sound_folder_is_usable(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["check", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "turns with gold" in out
    assert "2 (100.0%)" in out
    assert "latin 100%" in out
    assert "verdict: usable\n" in out


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (
            lambda c, q: q[0].update(gold=["p9"]),
            "1 gold ids are not in the corpus, first query c#1: p9",
        ),
        (lambda c, q: c.append({**c[0], "id": "p4"}), "1 passages repeat the text of another id"),
        (lambda c, q: c[2].update(text=" "), "1 passages are empty"),
        (lambda c, q: c[2].update(text="Fish &amp; chips, twice a week"), "hold a HTML entity"),
        (
            lambda c, q: c[2].update(text="a zero\u200bwidth space"),
            "zero-width or control character",
        ),
    ],
)
def test_faults_are_named(folder: Path, change, finding: str):
    corpus, queries = ([dict(r) for r in records] for records in (CORPUS, QUERIES))
    change(corpus, queries)
    _write(folder / "corpus.jsonl", corpus)
    _write(folder / "queries.jsonl", queries)
    found = inspect_dataset(folder)
    assert any(finding in line for line in found.findings), found.findings
    assert found.verdict == "usable with care"


def test_no_gold_at_all_is_not_usable(folder: Path):
    _write(folder / "queries.jsonl", [{**q, "gold": []} for q in QUERIES])
    assert main(["check", str(folder)]) == 2


def test_a_folder_of_nothing_known(tmp_path: Path):
    (tmp_path / "picture.bin").write_bytes(b"\x00\x01")
    with pytest.raises(InputError, match="no file here is of a known format"):
        read_parts(tmp_path)
    with pytest.raises(InputError, match="no such file or folder"):
        read_parts(tmp_path / "absent")
    with pytest.raises(InputError, match="neither a benchmark"):
        load_benchmark("nothing-like-this", profiles.load("default"))


def test_list_questions_become_one_turn_conversations(tmp_path: Path):
    _write(
        tmp_path / "corpus.jsonl",
        [{"_id": c["id"], "title": "", "text": c["text"]} for c in CORPUS],
    )
    _write(tmp_path / "queries.jsonl", [{"_id": "q1", "text": "Which animals wait or dig?"}])
    pairs = [{"query-id": "q1", "corpus-id": p, "score": 1} for p in ("p2", "p3")]
    _write(tmp_path / "qrels.jsonl", pairs)
    benchmark, _ = as_benchmark("lists", read_parts(tmp_path))
    (turn,) = benchmark.turns()
    assert set(benchmark.qrels.gold(turn.query_id)) == {"p2", "p3"}


def test_every_dataset_has_its_card_and_known_readers():
    known = formats()
    assert len(datasets()) >= 25
    for entry in datasets():
        assert entry.reader, entry.name
        assert set(entry.reader.split()) <= set(known), entry.name
        assert card_path(entry).read_text(encoding="utf-8") == dataset_card(entry), entry.name


def test_formats_are_well_declared():
    for name, each in formats().items():
        assert name == each.name
        assert each.seen in ("real record", "description only")
        readers = (each.passages, each.conversations, each.questions, each.decompositions,
                   each.ratings, each.rewrites, each.qrels, each.run)  # fmt: skip
        assert any(readers), name


def test_recognising_never_raises(tmp_path: Path):
    for name, data in {
        "a": b"",
        "b.json": b"\xff\xfe",
        "c.tsv": b"\t\t\n",
        "d.jsonl": b"{",
    }.items():
        (tmp_path / name).write_bytes(data)
        for each in formats().values():
            assert each.recognises(tmp_path / name) in (True, False), each.name
    with pytest.raises(InputError):
        recognise(tmp_path / "absent")
