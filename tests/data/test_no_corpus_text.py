"""No file of the repository holds more than twelve words of a passage in a row."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator

import pytest
from needed import fetched

from mtrlib import paths
from mtrlib.data.corpus import wikipedia_passages
from mtrlib.data.describe import MOST_WORDS

NO_TEXT = re.compile(r"<[^<>]*>|\\[nrt]")  # tags, and escaped line ends in JSON
ENDS = re.compile(r"^\W+|\W+$")
TEXT = {".ipynb", ".md", ".csv", ".json", ".jsonl", ".yaml", ".txt", ".py"}


def runs(text: str) -> Iterator[str]:
    """Every run of one word more than may be shown; case and marks at the ends of words go."""
    words = [ENDS.sub("", word).casefold() for word in NO_TEXT.sub(" ", text).split()]
    words = [word for word in words if word]
    for start in range(len(words) - MOST_WORDS):
        yield " ".join(words[start : start + MOST_WORDS + 1])


def test_the_check_finds_a_longer_quotation() -> None:
    text = "one two three four five six seven eight nine ten eleven twelve thirteen"
    assert list(runs(text)) == [text]
    assert list(runs(text.rsplit(" ", 1)[0])) == []


def test_no_file_quotes_the_corpus_at_length() -> None:
    with fetched("the corpus"):
        passages = wikipedia_passages()
    known = {run for passage in passages for run in runs(passage.text)}
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=paths.root(), capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("no git here to name the files of the repository")
    found = {}
    for name in filter(None, listed.stdout.split("\0")):
        path = paths.root() / name
        if path.suffix in TEXT and path.is_file():
            quoted = next((run for run in runs(path.read_text("utf-8")) if run in known), None)
            if quoted:
                found[name] = quoted
    assert found == {}
