"""Committed clusters: ids only, checked against the corpus."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mtrlib.errors import InputError
from mtrlib.synthesis.frozen_clusters import read_clusters, write_clusters

CLUSTERS = {"7": ("12__3", "12__4"), "湖": ("9__0",), "2": ("12__1",)}
CORPUS = ["9__0", "12__1", "12__3", "12__4", "12__5"]


def test_round_trip_keeps_ids_and_both_orders(tmp_path: Path) -> None:
    path = tmp_path / "recorded" / "clusters.json"
    write_clusters(path, CLUSTERS)
    found = read_clusters(path, CORPUS)
    assert found == CLUSTERS and list(found) == ["7", "湖", "2"]
    assert json.loads(path.read_text("utf-8"))["7"] == ["12__3", "12__4"]
    before = path.read_bytes()
    write_clusters(path, found)
    assert path.read_bytes() == before and list(path.parent.iterdir()) == [path]
    write_clusters(path, {})
    assert read_clusters(path, CORPUS) == {}


def test_an_id_outside_the_corpus_is_named_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "clusters.json"
    write_clusters(path, CLUSTERS)
    with pytest.raises(InputError, match=r"clusters\.json: cluster '湖' has passage '9__0'"):
        read_clusters(path, CORPUS[1:])


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('{"a": ["p"], "b": ["q", "p"]}', "passage 'p' is in cluster 'a' and again in 'b'"),
        ('{"a": ["p", "p"]}', "again in 'a'"),
        ('{"a": ["p"], "a": ["q"]}', "cluster 'a' occurs twice"),
        ('{"a": []}', "cluster 'a' has no passages"),
        ('{"a": "p"}', "cluster 'a' has no passages"),
        ('{"a": [12]}', "has the id 12"),
        ('{"a": [{"id": "p"}]}', "write ids as text"),
        ('["p"]', "not one JSON object"),
        ('{"a": ["p"]', "not JSON"),
    ],
)
def test_other_forms_are_refused(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "clusters.json"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=rf"clusters\.json: .*{named}"):
        read_clusters(path, ["p", "q"])


def test_no_file_and_nothing_written_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "clusters.json"
    with pytest.raises(InputError, match="no such file"):
        read_clusters(path, [])
    with pytest.raises(InputError, match="again in"):
        write_clusters(path, {"a": ["p"], "b": ["p"]})
    assert not path.exists()
