"""Every file of the real data packs is recognised by its own reader, or named here with why not."""

from __future__ import annotations

from pathlib import Path

import pytest
from needed import pack

from mtrlib import profiles
from mtrlib.data.benchmarks import load_benchmark
from mtrlib.data.formats import recognise
from mtrlib.errors import InputError

NEED_A_MAP = {
    "format_samples/doc2dial_sample_prediction_subtask1.json": "a system's output, no dataset",
    "format_samples/hipporag_sample_corpus.json": "passages without ids",
    "hipporag_2wiki/2wikimultihopqa_corpus.json.gz": "compressed, passages without ids",
    "messy_samples/judge_outputs.jsonl": "judge replies, read by the reply parser",
    "zh_utterance_rewriter/corpus.txt": "columns separated by two tabs, no header",
}
GENERAL = {"column-map", "plain-corpus", "plain-queries", "qrels", "trec-run"}


def _files(real_data: Path) -> list[Path]:
    about = ("README", "LICEN", "NOTICE")
    return [
        p
        for p in sorted(real_data.rglob("*"))
        if p.is_file() and not p.name.upper().startswith(about)
    ]


def test_every_file_is_recognised_or_listed(real_data: Path):
    unknown = set()
    for path in _files(real_data):
        try:
            recognise(path)
        except InputError:
            unknown.add(path.relative_to(real_data).as_posix())
    assert unknown == {p for p in NEED_A_MAP if (real_data / p).exists()}


def test_published_sets_go_to_their_own_readers(real_data: Path):
    found = {p.relative_to(real_data).as_posix(): recognise(p).name for p in _files(real_data)
             if p.relative_to(real_data).as_posix() not in NEED_A_MAP}  # fmt: skip
    own = {path: name for path, name in found.items() if name not in GENERAL}
    assert own["inscit/dev.json"] == "inscit"
    assert own["strategyqa/dev.json"] == "strategyqa"
    assert own["mtrag_un/reference_60.jsonl"] == "mtrag-tasks"
    assert own["format_samples/chatrag_bench_record.json"] == "chatrag-bench"
    assert len(set(own.values())) >= 20


@pytest.mark.parametrize(
    ("name", "passages", "turns", "with_gold"),
    [
        ("inscit", 996, 502, 485),
        ("mtrag_un", 1152, 507, 377),
        ("limit_small", 46, 1000, 1000),
        ("cranfield", 1400, 225, 225),
        ("clapnq", 597, 600, 300),
        ("cmrc2018", 848, 3219, 3219),
    ],
)
def test_packs_become_benchmarks(
    real_data: Path, name: str, passages: int, turns: int, with_gold: int
):
    benchmark = load_benchmark(str(pack(real_data, name)), profiles.load("default"))
    assert len(benchmark.passages) == passages
    assert sum(1 for _ in benchmark.turns()) == turns
    assert sum(bool(benchmark.qrels.gold(q)) for q in benchmark.qrels) == with_gold
    assert not benchmark.dangling
