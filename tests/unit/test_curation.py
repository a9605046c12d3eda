"""Curation end to end: stages in order, every loss with its reason, files and plug-ins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from mtrlib.data.jsonl import write_jsonl
from mtrlib.data.schema import Benchmark, Conversation, Passage, Turn
from mtrlib.errors import InputError
from mtrlib.synthesis.curation import curate
from mtrlib.synthesis.deduplication import moved_gold
from mtrlib.synthesis.quality import Decision

MILL = (
    "The mill stands where the river bends, and its wheel has turned since the harbour was "
    "built. Farmers brought their grain by boat. The miller kept a tenth of it as his fee."
)
LOCK = (
    "Twelve locks lift the barges from the estuary to the hills. Each takes a quarter of an "
    "hour. In dry summers the upper ones are closed, and cargo is moved by road instead."
)


@dataclass(frozen=True)
class Without:
    """Removes passages that hold a word; a plug-in as a user would write it."""

    word: str
    answers: int | None = None

    @property
    def name(self) -> str:
        return f"without {self.word}"

    def keep(self, passages: Sequence[Passage]) -> list[Decision]:
        found = [self.word in p.text for p in passages]
        decisions = [Decision(not f, float(not f), "word found" if f else "") for f in found]
        return decisions[: self.answers]


PASSAGES = [
    Passage("a", MILL),
    Passage("b", "Too short."),
    Passage("c", MILL.replace("boat", "cart")),
    Passage("d", LOCK),
    Passage("e", MILL.upper()),
]


def test_stages_and_reasons():
    kept, report = curate(PASSAGES)
    assert [p.passage_id for p in kept] == ["a", "d"]
    assert report.table().to_dict("list") == {
        "stage": ["read", "quality: heuristics", "deduplicate"],
        "n_in": [5, 5, 4],
        "removed": [0, 1, 2],
        "n_out": [5, 4, 2],
        "reasons": ["", "width 1", "near copy 1, copy 1"],
    }
    assert report.removed()["id"].tolist() == ["b", "c", "e"]
    reasons = report.removed()["reason"].tolist()
    assert reasons[0] == "width 10 < 100"
    assert reasons[1].startswith("near copy of a (0.9")
    assert reasons[2] == "copy of a (1.000)"
    assert report.chunks is None


def test_filters_run_in_order_on_what_is_left():
    kept, report = curate(PASSAGES, filters=[Without("short"), Without("locks")])
    assert [p.passage_id for p in kept] == ["a"]
    assert report.table()["stage"].tolist() == [
        "read", "quality: without short", "quality: without locks", "deduplicate",
    ]  # fmt: skip
    assert report.table()["n_in"].tolist() == [5, 5, 4, 3]
    assert report.table()["reasons"].tolist()[1] == "word found 1"


def test_without_filters_and_at_another_threshold():
    kept, report = curate(PASSAGES, filters=(), threshold=1.0)
    assert [p.passage_id for p in kept] == ["a", "b", "c", "d"]
    assert len(report.stages) == 2


def test_documents_of_a_file_are_chunked(tmp_path):
    path = tmp_path / "documents.jsonl"
    long = "\n\n".join(f"{LOCK} Lock {n} was built in {1800 + n}." for n in range(12))
    write_jsonl(path, [{"id": 1, "title": "Locks", "text": long}, {"id": "2", "text": MILL}])
    kept, report = curate(path, chunking=True, filters=(), threshold=1.0)
    assert [p.passage_id for p in kept] == ["1__0", "1__1"]
    assert {p.title for p in kept} == {"Locks"}
    chunk_row = report.table().loc[1].to_dict()
    assert chunk_row == {
        "stage": "chunk",
        "n_in": 2,
        "removed": 1,
        "n_out": 2,
        "reasons": "short 1",
    }
    assert report.removed().values.tolist() == [["chunk", "2", "short"]]
    assert report.chunks is not None
    assert report.chunks.without_chunk == ("2",)


def test_a_filter_that_loses_count_is_refused():
    with pytest.raises(InputError, match=r"'without x' gave 3 decisions for 5 passages"):
        curate(PASSAGES, filters=[Without("x", answers=3)])


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.jsonl"):
        curate(tmp_path / "none.jsonl")


def test_the_report_moves_gold():
    turn = Turn("c_1", "c", 1, "?", gold=("e",))
    before = Benchmark("toy", tuple(PASSAGES), (Conversation("c", (turn,)),))
    _, report = curate(PASSAGES)
    after = moved_gold(before, report.duplicates)
    assert next(after.turns()).gold == ("a",)
