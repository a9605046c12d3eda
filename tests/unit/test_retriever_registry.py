"""The retriever registry and the user's own entries."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtrlib import profiles
from mtrlib.data.schema import Passage
from mtrlib.errors import InputError
from mtrlib.retrieval.registry import parse_specs, retriever_spec, retriever_specs
from mtrlib.retrieval.search import searcher
from mtrlib.retrieval.text import encoded_text


def test_built_in_retrievers():
    ours = ["bm25", "static-256", "splade-tiny", "minilm", "hybrid"]
    assert list(retriever_specs()) == [*ours, *profiles.PROFILES["paper"].ENCODERS]
    splade = retriever_spec("splade-tiny")
    assert (splade.batch_size, splade.max_length) == (8, 256)


def test_own_entries_by_a_few_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "own.yaml"
    path.write_text("short-bm25:\n  kind: lexical\n  b: 0.1\n")
    monkeypatch.setenv("MTR_RETRIEVERS", str(path))
    run = searcher("short-bm25", [Passage("a", "word")]).search({"q": "word"}, 5)
    assert (run.system, run.ids("q")) == ("short-bm25", ["a"])
    assert retriever_spec("bm25").b == 0.4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x: {kind: dense, model: m, passage_prompt: ''}", "x: no query_prompt"),
        ("x: {kind: telepathy}", "kind 'telepathy' is unknown"),
        ("x: {kind: lexical, k2: 1}", "unknown field 'k2'"),
    ],
)
def test_bad_entries(text: str, message: str):
    with pytest.raises(InputError, match=message):
        parse_specs(text, "own.yaml")


def test_unknown_retriever_lists_the_known():
    with pytest.raises(InputError, match="Known: bm25"):
        retriever_spec("bm52")


def test_encoded_text():
    passage = Passage("a", "Body.", "Title", ("Part", "Sub"))
    assert encoded_text(passage) == "Title > Part > Sub\nBody."
    assert encoded_text(Passage("a", "Body.")) == "Body."
