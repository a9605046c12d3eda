"""Claim: readers stream, at about 1 GB of JSON lines a minute (17 MB/s) on one core.

python benchmarks/parse_formats.py [--megabytes 50] [--formats plain-corpus dpr-tsv ...]

Each reader runs in a process of its own over a generated file, so that its peak memory is its
own. The files hold made-up words; their shapes are those of the tests.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

WORDS = "river mill heron reed lantern harbour orchard gravel copper meadow".split()


def _text(seed: int, words: int = 100) -> str:
    return " ".join(WORDS[(seed * 7 + i * i) % len(WORDS)] for i in range(words))


def _plain_corpus() -> Iterator[str]:
    n = 0
    while True:
        yield json.dumps({"id": f"p{n}", "title": f"T{n}", "text": _text(n)}) + "\n"
        n += 1


def _plain_queries() -> Iterator[str]:
    n = 0
    while True:
        history = [{"role": ("user", "agent")[i % 2], "text": _text(n + i, 30)} for i in range(6)]
        record = {"id": f"c{n}_4", "conversation_id": f"c{n}", "turn": 4, "history": history}
        yield json.dumps({**record, "query": _text(n, 9) + "?", "gold": [f"p{n}"]}) + "\n"
        n += 1


def _dpr_tsv() -> Iterator[str]:
    yield "id\ttext\ttitle\n"
    n = 1
    while True:
        yield f'{n}\t"{_text(n)}"\tTitle {n}\n'
        n += 1


def _qampari_chunks() -> Iterator[str]:
    n = 0
    while True:
        meta = {
            "title": f"T{n}",
            "url": "u",
            "revid": "1",
            "page_id": str(n),
            "chunk_id": f"{n}__0",
        }
        text = _text(n)
        record = {"id": f"{n}__0", "contents": f"T{n} {text}", "meta": {**meta, "content": text}}
        yield json.dumps(record) + "\n"
        n += 1


def _topiocqa() -> Iterator[str]:
    opening, n = "[", 1
    while True:
        record = {
            "Context": [], "Conversation_no": n, "Turn_no": 1, "Question": _text(n, 9) + "?",
            "Answer": _text(n, 20), "Topic": f"T{n}", "Topic_section": "S",
            "Rationale": _text(n, 40), "is_nq": False, "Additional_answers": [],
            "Gold_passage": {"id": f"wiki:{n}", "title": f"T{n} [SEP] S", "text": _text(n)},
        }  # fmt: skip
        yield opening + json.dumps(record)
        opening, n = ",", n + 1


MADE: dict[str, tuple[str, Callable[[], Iterator[str]], str, str]] = {
    "plain-corpus": ("corpus.jsonl", _plain_corpus, "passages", ""),
    "plain-queries": ("queries.jsonl", _plain_queries, "conversations", ""),
    "dpr-tsv": ("psgs_w100.tsv", _dpr_tsv, "passages", ""),
    "qampari-chunks": ("chunks.jsonl", _qampari_chunks, "passages", ""),
    "topiocqa": ("topiocqa_dev.json", _topiocqa, "conversations", "]"),
}


def _generate(name: str, folder: Path, size: int) -> Path:
    file, make, _, closing = MADE[name]
    path = folder / file
    written = 0
    with path.open("w", encoding="utf-8") as out:
        for piece in make():
            written += out.write(piece)
            if written >= size:
                break
        out.write(closing)
    return path


def _read(name: str, path: Path) -> None:
    from mtrlib.data.formats import formats

    reader = getattr(formats()[name], MADE[name][2])
    started = time.perf_counter()
    count = sum(1 for _ in reader(path))
    seconds = time.perf_counter() - started
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    rate = path.stat().st_size / 1e6 / seconds
    print(
        f"{name:<16} {rate:7.1f} MB/s, {count:>9,} records, peak memory {peak:.0f} MB", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=50)
    parser.add_argument("--formats", nargs="+", default=list(MADE), choices=list(MADE))
    parser.add_argument("--read", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.read:
        _read(asked.formats[0], Path(asked.read))
        return
    for name in asked.formats:
        with tempfile.TemporaryDirectory() as folder:
            path = _generate(name, Path(folder), asked.megabytes * 1_000_000)
            subprocess.run(
                [sys.executable, __file__, "--formats", name, "--read", str(path)], check=True
            )


if __name__ == "__main__":
    main()
