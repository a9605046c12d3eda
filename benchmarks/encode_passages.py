"""Claim: passages per second and peak memory of each encoder, on passages of the slice.

python benchmarks/encode_passages.py [--passages 400] [--retrievers minilm splade-tiny static-256]
"""

from __future__ import annotations

import argparse
import resource
import sys
import time

from mtrlib import profiles
from mtrlib.data.corpus import wikipedia_passages
from mtrlib.retrieval.encoders import encode, load_model
from mtrlib.retrieval.registry import retriever_spec
from mtrlib.retrieval.text import encoded_text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=400)
    parser.add_argument("--retrievers", nargs="+", default=["static-256", "minilm", "splade-tiny"])
    asked = parser.parse_args()
    profiles.load("default")
    passages = wikipedia_passages()
    step = max(1, len(passages) // asked.passages)
    texts = [encoded_text(p) for p in passages[::step]]
    unit = 1 if sys.platform == "darwin" else 1024
    for name in asked.retrievers:
        spec = retriever_spec(name)
        load_model(spec)
        started = time.perf_counter()
        encode(spec, texts, spec.passage_prompt, name)
        seconds = time.perf_counter() - started
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
        rate = len(texts) / seconds
        print(f"{name:<12} {rate:8.1f} passages/s, peak memory so far {peak:.0f} MB", flush=True)


if __name__ == "__main__":
    main()
