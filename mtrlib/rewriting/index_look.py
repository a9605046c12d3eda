"""Where the bound is low: a measured look at chunk size and index parameters instead."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import pandas as pd

from mtrlib.data.schema import Passage, Qrels, Turn
from mtrlib.data.script_width import width
from mtrlib.errors import InputError
from mtrlib.retrieval.registry import RetrieverSpec
from mtrlib.retrieval.search import LexicalSearcher, Searcher

Build = Callable[[Sequence[Passage]], Searcher]


@dataclass(frozen=True)
class Rechunked:
    """The same texts cut otherwise.

    Attributes
    ----------
    origins : new passage id -> the old passages whose text it holds, wholly or in part.
    """

    name: str
    passages: tuple[Passage, ...]
    origins: Mapping[str, tuple[str, ...]]


def joined(passages: Sequence[Passage], size: int) -> Rechunked:
    """Chunks of ``size`` consecutive passages of one document and section path, none shared.

    Documents are told apart by ``document``, else by title.

    Raises
    ------
    InputError
        A size below 1.
    """
    if size < 1:
        raise InputError(f"size={size} must be at least 1 passage.")
    chunks: list[Passage] = []
    origins: dict[str, tuple[str, ...]] = {}
    for _, group in groupby(passages, key=lambda p: (p.document or p.title, p.section)):
        own = list(group)
        for start in range(0, len(own), size):
            part = own[start : start + size]
            chunk_id = part[0].passage_id if len(part) == 1 else f"{part[0].passage_id}+{len(part)}"
            text = "\n".join(p.text for p in part)
            chunks.append(dataclasses.replace(part[0], passage_id=chunk_id, text=text))
            origins[chunk_id] = tuple(p.passage_id for p in part)
    return Rechunked(f"{size} passages a chunk", tuple(chunks), origins)


def bm25_parameters(
    spec: RetrieverSpec, settings: Sequence[tuple[float, float]]
) -> dict[str, Build]:
    """BM25 with other (k1, b), as rows for :func:`look_at_index`."""

    def build(k1: float, b: float) -> Build:
        changed = dataclasses.replace(spec, k1=k1, b=b)
        return lambda passages: LexicalSearcher(changed, passages)

    return {f"k1={k1:g}, b={b:g}": build(k1, b) for k1, b in settings}


def look_at_index(
    passages: Sequence[Passage],
    turns: Sequence[Turn],
    qrels: Qrels,
    builds: Mapping[str, Build],
    chunkings: Sequence[Rechunked] = (),
    *,
    texts: Mapping[str, str] | None = None,
    k: int = 20,
) -> pd.DataFrame:
    """Recall of the gold at equal reading length, for other parameters and chunk sizes.

    Parameters
    ----------
    builds : label -> makes a retriever over passages; the first is the baseline.
    chunkings : other cuts of the same passages; each is searched by the first build.

    Returns
    -------
    DataFrame
        ``what, chunks`` (in the index), ``recall`` (mean over queries with gold of the share
        of gold passages whose text was read), ``points`` (against the first row), ``n``.

    Notes
    -----
    Every list is read until ``k`` times the mean passage length is used up, so that longer
    chunks cannot win by being longer; the chunk that crosses the limit is not read. For the
    original passages this is nearly, not exactly, the first k. Gold counts as read when any
    chunk with text of it was, which favours smaller chunks. No interval is shown: a look, to be
    followed by a comparison of what it points at. [D]

    Raises
    ------
    InputError
        No build, or no query with gold.
    """
    if not builds:
        raise InputError("no retriever to look at. Mend: give at least one build.")
    scored = [t for t in turns if qrels.gold(t.query_id)]
    if not scored:
        raise InputError("no query has gold. Mend: check the qrels.")
    queries = {t.query_id: (texts or {}).get(t.query_id, t.raw_utterance) for t in scored}
    limit = k * sum(width(p.text) for p in passages) / len(passages)
    whole = Rechunked("", tuple(passages), {p.passage_id: (p.passage_id,) for p in passages})
    first = next(iter(builds.values()))
    plans = [(name, build, whole) for name, build in builds.items()]
    plans += [(chunked.name, first, chunked) for chunked in chunkings]
    rows: list[tuple[str, int, float]] = []
    for name, build, cut in plans:
        found = _recalls(build(cut.passages), cut, queries, qrels, limit)
        rows.append((name, len(cut.passages), sum(found) / len(found)))
    table = pd.DataFrame(rows, columns=["what", "chunks", "recall"])
    points = 100 * (table["recall"] - table["recall"].iloc[0])
    return table.assign(points=points, n=len(scored))


def _recalls(
    searcher: Searcher, cut: Rechunked, queries: Mapping[str, str], qrels: Qrels, limit: float
) -> list[float]:
    lengths = {p.passage_id: width(p.text) for p in cut.passages}
    shortest = max(1.0, min((n for n in lengths.values() if n > 0), default=1.0))
    run = searcher.search(queries, min(len(lengths), max(1, int(limit / shortest) + 1)))
    recalls = []
    for query_id in queries:
        read: set[str] = set()
        used = 0.0
        for chunk_id in run.ids(query_id):
            used += lengths[chunk_id]
            if used > limit:
                break
            read.update(cut.origins[chunk_id])
        gold = qrels.gold(query_id)
        recalls.append(len(gold & read) / len(gold))
    return recalls
