"""Shared case 11, point 3, read from its own files."""

from __future__ import annotations

import json
import re
from pathlib import Path

from mtrlib.data.formats.corpus_jsonl import read_corpus
from mtrlib.synthesis.deduplication import deduplicate


def test_case_11_near_duplicates(shared_cases: Path):
    folder = shared_cases / "11_chinese_lexical"
    text = (folder / "expected.md").read_text(encoding="utf-8")
    expected = json.loads(re.search(r"```json\n(.*?)```", text, re.DOTALL)[1])
    found = deduplicate(read_corpus(folder / "near_dup.jsonl"))
    pairs = {frozenset((r.removed, r.kept)) for r in found.removals}
    assert pairs == {frozenset(pair) for pair in expected["duplicates"]}
    assert not pairs & {frozenset(pair) for pair in expected["not_duplicates"]}
