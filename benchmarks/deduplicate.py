"""Claim: near-duplicates go at 2,000 documents of 1,900 characters a second on one core, with a
recall of at least 0.99 at a Jaccard similarity of 0.5 or more and no false removal; a plain
`datasketch` pipeline beside it on the same corpus.

python benchmarks/deduplicate.py [--documents 20000] [--datasketch-documents 4000]

Made-up corpus, seed 13: 1,900 characters a document from a vocabulary of 30,000 words whose
frequency falls as in natural text. 25 % of the documents are copies of an earlier one with a
share of words replaced, 0 to 30 %, so that their similarities spread over about 0.35 to 1. The
truth is the exact similarity of character 5-grams as Python sets of text, which shares no code
with the library. Recall: of the copies with 0.5 or more, the share that is gone. False removals:
of the removed, those that are no copy or below 0.5. Each way runs in a process of its own with
one thread. Bytes a document are the peak above the corpus itself, counted by tracemalloc in a
second run. "ready" are the seconds of a first call on two documents: compiling, or reading the
compiled code from its cache. Stops where recall is below 0.99 or a removal of ours is false.

`datasketch` is no dependency: `pip install datasketch` for its row. Its pipeline is the usual
one: 128 permutations, MinHashLSH at its own banding for 0.5, a document goes when any kept one
is a candidate, nothing verified.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
import tracemalloc
from itertools import pairwise, product

import numpy as np

from mtrlib.data.schema import Passage

CHARACTERS, WORDS, COPIES, MOST_REPLACED, SEED, THRESHOLD = 1900, 30_000, 0.25, 0.3, 13, 0.5
BINS = (0.5, 0.55, 0.6, 0.7, 0.8, 1.01)


def vocabulary(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    sounds = [[*"bcdfghklmnprstvw", "st", "tr", "pl", ""], [*"aeiou", "ea", "ou"], [*"nrstl", ""]]
    syllables = np.array(["".join(sound) for sound in product(*sounds)])
    words = ["".join(rng.choice(syllables, rng.integers(1, 4))) for _ in range(WORDS)]
    weights = 1 / (np.arange(WORDS) + 10.0)
    return np.array(words, dtype=object), weights / weights.sum()


def made_up(n: int) -> tuple[list[Passage], dict[str, str]]:
    """Documents in random order, and copy -> original (always the earlier of the two)."""
    rng = np.random.default_rng(SEED)
    words, weights = vocabulary(rng)
    cumulated = weights.cumsum()

    def drawn(count: int) -> np.ndarray:
        return words[np.searchsorted(cumulated, rng.random(count) * cumulated[-1])]

    documents: list[np.ndarray] = []
    originals: list[int] = []
    pairs: dict[str, str] = {}
    for number in range(n):
        if originals and rng.random() < COPIES / (1 - COPIES) * len(originals) / (number + 1):
            original = originals.pop(int(rng.integers(len(originals))))
            text = documents[original].copy()
            replaced = rng.random(len(text)) < rng.uniform(0, MOST_REPLACED)
            text[replaced] = drawn(int(replaced.sum()))
            pairs[f"d{number}"] = f"d{original}"
        else:
            text = drawn(CHARACTERS // 4)
            lengths = np.cumsum([len(w) + 1 for w in text])
            text = text[: int(np.searchsorted(lengths, CHARACTERS))]
            originals.append(number)
        documents.append(text)
    return [Passage(f"d{i}", " ".join(text)) for i, text in enumerate(documents)], pairs


def similarity(a: str, b: str) -> float:
    one, other = ({t[i : i + 5] for i in range(len(t) - 4)} for t in (a, b))
    return len(one & other) / len(one | other)


def ours(passages: list[Passage]) -> list[str]:
    from mtrlib.synthesis.deduplication import deduplicate

    return [r.removed for r in deduplicate(passages, threshold=THRESHOLD).removals]


def plain_datasketch(passages: list[Passage]) -> list[str]:
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=THRESHOLD, num_perm=128)
    removed = []
    for passage in passages:
        text = " ".join(passage.text.lower().split())
        signature = MinHash(num_perm=128)
        signature.update_batch(
            [s.encode() for s in {text[i : i + 5] for i in range(len(text) - 4)}]
        )
        if index.query(signature):
            removed.append(passage.passage_id)
        else:
            index.insert(passage.passage_id, signature)
    return removed


WAYS = {"ours": ours, "datasketch": plain_datasketch}


def measure(way: str, n: int) -> None:
    """One way in this process; the answer as a line of JSON."""
    passages, _ = made_up(n)
    started = time.perf_counter()
    WAYS[way](passages[:2])
    ready, started = time.perf_counter() - started, time.perf_counter()
    removed = WAYS[way](passages)
    took = time.perf_counter() - started
    tracemalloc.start()
    WAYS[way](passages)
    _, peak = tracemalloc.get_traced_memory()
    print(json.dumps({"removed": removed, "seconds": took, "ready": ready, "bytes": peak / n}))


def row(way: str, n: int) -> None:
    threads = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"], "1")
    command = [sys.executable, __file__, "--way", way, "--documents", str(n)]
    done = subprocess.run(command, env={**os.environ, **threads}, check=True, capture_output=True)
    found = json.loads(done.stdout)
    passages, pairs = made_up(n)
    text = {p.passage_id: p.text for p in passages}
    exact = {copy: similarity(text[copy], text[pairs[copy]]) for copy in pairs}
    removed = set(found["removed"])
    true = {copy for copy, s in exact.items() if s >= THRESHOLD}
    recall, false = len(true & removed) / len(true), len(removed - true)
    binned = []
    for low, high in pairwise(BINS):
        inside = {copy for copy, s in exact.items() if low <= s < high}
        binned.append(f"{len(inside & removed)}/{len(inside)}")
    line = f"{way:<11}{n:>10,}{len(true):>8}{n / found['seconds']:>9.0f}{recall:>9.4f}{false:>7}"
    line += f"{found['bytes']:>11.0f}{found['ready']:>8.1f}   {'  '.join(binned)}"
    print(line, flush=True)
    assert way != "ours" or (recall >= 0.99 and not false), "the claim does not hold"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--datasketch-documents", type=int, default=4000)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.way:
        measure(asked.way, asked.documents)
        return
    print("way         documents    true   docs/s   recall  false  bytes/doc   ready   removed of "
          f"those from {', '.join(map(str, BINS[:-1]))}")  # fmt: skip
    row("ours", asked.documents)
    if importlib.util.find_spec("datasketch") is None:
        print("datasketch is not installed (pip install datasketch): no row")
        return
    row("ours", asked.datasketch_documents)
    row("datasketch", asked.datasketch_documents)


if __name__ == "__main__":
    main()
