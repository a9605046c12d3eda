"""Counts and small tables about sources, corpora and benchmarks. Shows ids, never long text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from mtrlib.data.formats import formats
from mtrlib.data.registry import Entry, WheelSource
from mtrlib.data.schema import Benchmark, Passage, corpus_digest

MOST_WORDS = 12  # of a passage in any notebook: the texts are not ours to publish


def sources_table(entries: Iterable[Entry]) -> pd.DataFrame:
    """One row per corpus or model: where it comes from, size, licence, SHA-256 of its content."""
    rows = []
    for e in entries:
        if e.role == "dataset":
            continue
        first = e.sources[0]
        where = (
            f"wheel {first.distribution} {first.version}"
            if isinstance(first, WheelSource)
            else type(first).__name__
        )
        size = sum(m.bytes or 0 for m in e.members) / 1e6
        rows.append((e.name, e.role, e.title, where, round(size, 1), e.licence, e.fingerprint[:12]))
    columns = ["name", "role", "title", "source", "MB", "licence", "content"]
    return pd.DataFrame(rows, columns=columns).set_index("name")


def datasets_table(entries: Iterable[Entry]) -> pd.DataFrame:
    """One row per published dataset: title, licence, readers, and how well those are tried."""
    known = formats()
    rows = [
        (
            e.name,
            e.title,
            e.licence,
            ", ".join(e.reader.split()),
            all(known[name].seen == "real record" for name in e.reader.split()),
            "make data" if e.sources else "by hand",
        )
        for e in entries
        if e.role == "dataset"
    ]
    columns = ["name", "title", "licence", "readers", "tried on real records", "fetched"]
    return pd.DataFrame(rows, columns=columns).set_index("name")


def passage_table(passages: Sequence[Passage]) -> pd.DataFrame:
    """One row per passage: id, article, depth of its section, words, links, list or prose."""
    rows = [
        (p.passage_id, p.title, len(p.section), len(p.text.split()), len(p.links), "•" in p.text)
        for p in passages
    ]
    columns = ["passage_id", "article", "section_depth", "words", "links", "has_list"]
    return pd.DataFrame(rows, columns=columns)


def corpus_counts(passages: Sequence[Passage]) -> pd.Series:
    """Articles, passages, words, share with a list, links, and the digest of the corpus."""
    table = passage_table(passages)
    return pd.Series(
        {
            "articles": table["article"].nunique(),
            "passages": len(table),
            "words": int(table["words"].sum()),
            "median words per passage": int(table["words"].median()),
            "passages with list items": int(table["has_list"].sum()),
            "links": int(table["links"].sum()),
            "digest": corpus_digest(passages)[:16],
        },
        name="corpus",
    )


def benchmark_counts(benchmarks: Iterable[Benchmark]) -> pd.DataFrame:
    """One row per benchmark: conversations, turns, turns with gold, gold per turn, lengths."""
    rows = []
    for b in benchmarks:
        turns = list(b.turns())
        gold = [len(b.qrels.gold(t.query_id)) for t in turns]
        with_gold = [n for n in gold if n]
        rows.append(
            {
                "benchmark": b.name,
                "passages": len(b.passages),
                "conversations": len(b.conversations),
                "turns": len(turns),
                "turns with gold": len(with_gold),
                "gold per turn": round(sum(with_gold) / max(1, len(with_gold)), 2),
                "words per question": round(_mean(len(t.raw_utterance.split()) for t in turns), 1),
                "unreachable gold": len(b.dangling),
                "digest": b.digest()[:16],
            }
        )
    return pd.DataFrame(rows).set_index("benchmark")


def turn_table(benchmarks: Iterable[Benchmark]) -> pd.DataFrame:
    """One row per turn: benchmark, turn number, words of the question and of its history, gold."""
    rows = [
        (
            b.name,
            t.query_id,
            t.turn_number,
            len(t.raw_utterance.split()),
            sum(len(u.text.split()) for u in t.history),
            len(b.qrels.gold(t.query_id)),
        )
        for b in benchmarks
        for t in b.turns()
    ]
    columns = ["benchmark", "query_id", "turn_number", "question_words", "history_words", "gold"]
    return pd.DataFrame(rows, columns=columns)


def examples(benchmark: Benchmark, conversation: int = 0) -> pd.DataFrame:
    """One conversation as a table: question, gold ids, and the first words of the first gold."""
    by_id = {p.passage_id: p for p in benchmark.passages}
    rows = []
    for t in benchmark.conversations[conversation].turns:
        first = by_id.get(t.gold[0]) if t.gold else None
        rows.append(
            (
                t.turn_number,
                t.raw_utterance,
                " ".join(t.gold),
                _snippet(first.text) if first else "",
            )
        )
    columns = ["turn", "raw_utterance", "gold", "first words of the first gold"]
    return pd.DataFrame(rows, columns=columns).set_index("turn")


def _snippet(text: str) -> str:
    """The first words of a text."""
    found = text.split()
    return " ".join(found[:MOST_WORDS]) + (" …" if len(found) > MOST_WORDS else "")


def _mean(values: Iterable[int]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else 0.0
