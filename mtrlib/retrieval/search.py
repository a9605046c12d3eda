"""Passages and queries in, ranked run out: one interface over all kinds of retriever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from scipy import sparse

from mtrlib.data.schema import Passage, Run, Turn
from mtrlib.errors import InputError
from mtrlib.retrieval.cache import embeddings
from mtrlib.retrieval.fusion import fuse_runs
from mtrlib.retrieval.index import DenseIndex, SparseIndex
from mtrlib.retrieval.lexical import TOKENIZER, Bm25
from mtrlib.retrieval.models import TokenCounter, model_fingerprint
from mtrlib.retrieval.query_text import QueryText, query_texts
from mtrlib.retrieval.registry import RetrieverSpec, retriever_spec
from mtrlib.retrieval.text import encoded_text


class Searcher(Protocol):
    """A retriever over one corpus."""

    spec: RetrieverSpec

    def search(self, queries: Mapping[str, str], depth: int) -> Run:
        """Rank at most ``depth`` passages for each query text, by query id."""

    def budget(self) -> tuple[int | None, TokenCounter | None]:
        """Most tokens of a query and how they are counted; (None, None) = no limit."""

    def describe(self) -> dict[str, Any]:
        """What identifies the retriever in a manifest."""


class LexicalSearcher:
    """BM25; see :class:`mtrlib.retrieval.lexical.Bm25`."""

    def __init__(self, spec: RetrieverSpec, passages: Sequence[Passage]) -> None:
        self.spec = spec
        self._bm25 = Bm25(passages, k1=spec.k1, b=spec.b)

    def search(self, queries: Mapping[str, str], depth: int) -> Run:
        """Rank by BM25; a passage without a common term is no hit."""
        return self._bm25.search(queries, depth, self.spec.name)

    def budget(self) -> tuple[int | None, TokenCounter | None]:
        """No limit."""
        return None, None

    def describe(self) -> dict[str, Any]:
        """Parameters and tokenizer."""
        return {"kind": "lexical", "k1": self.spec.k1, "b": self.spec.b, "tokenizer": TOKENIZER}


class VectorSearcher:
    """Dense, static or sparse encoder with exact search; vectors come from the cache.

    Query vectors are kept, so a text is encoded once, however often and with whatever others it
    is asked: RVR asks most of its queries again under every setting.
    """

    def __init__(self, spec: RetrieverSpec, passages: Sequence[Passage]) -> None:
        self.spec = spec
        self._counter: TokenCounter | None = None
        self._known: dict[str, Any] = {}  # query text -> vector
        ids = [p.passage_id for p in passages]
        texts = [encoded_text(p) for p in passages]
        vectors = embeddings(spec, ids, texts, spec.passage_prompt, f"{spec.name} passages")
        self._index: DenseIndex | SparseIndex
        if spec.kind == "sparse":
            self._index = SparseIndex(ids, vectors)
        else:
            self._index = DenseIndex(ids, vectors)

    def search(self, queries: Mapping[str, str], depth: int) -> Run:
        """Rank by inner product."""
        if not queries:
            return Run(self.spec.name, {})
        new = {i: text for i, text in queries.items() if text not in self._known}
        if new:
            texts, label = list(new.values()), f"{self.spec.name} queries"
            made = embeddings(self.spec, list(new), texts, self.spec.query_prompt, label)
            self._known |= zip(texts, made, strict=True)
        vectors = [self._known[text] for text in queries.values()]
        if isinstance(self._index, SparseIndex):
            matrix = sparse.vstack(vectors, format="csr")
            return self._index.search(list(queries), matrix, depth, self.spec.name)
        return self._index.search(dict(zip(queries, vectors, strict=True)), depth, self.spec.name)

    def budget(self) -> tuple[int | None, TokenCounter | None]:
        """The encoder's maximum length less special tokens and prompt."""
        self._counter = self._counter or TokenCounter(self.spec)
        return self._counter.query_budget, self._counter

    def describe(self) -> dict[str, Any]:
        """Model hash, prompts, length, pooling, normalisation."""
        names = [
            "kind",
            "query_prompt",
            "passage_prompt",
            "max_length",
            "pooling",
            "normalize",
            "dtype",
        ]
        settings = {name: getattr(self.spec, name) for name in names}
        return {**settings, "model_sha256": model_fingerprint(self.spec)}


class _HybridSearcher:
    """Reciprocal rank fusion of other retrievers over the same corpus."""

    def __init__(self, spec: RetrieverSpec, passages: Sequence[Passage]) -> None:
        self.spec = spec
        self._parts = [searcher(name, passages) for name in spec.parts]

    def search(self, queries: Mapping[str, str], depth: int) -> Run:
        """Fuse the first ``depth`` of every part."""
        runs = [part.search(queries, depth) for part in self._parts]
        return fuse_runs(runs, system=self.spec.name, k=self.spec.rrf_k, depth=depth)

    def budget(self) -> tuple[int | None, TokenCounter | None]:
        """The tightest budget of the parts, so that all see the same text."""
        limits = [part.budget() for part in self._parts]
        return min(
            (b for b in limits if b[0] is not None), key=lambda b: b[0] or 0, default=(None, None)
        )

    def describe(self) -> dict[str, Any]:
        """The parts and the constant of RRF."""
        parts = {part.spec.name: part.describe() for part in self._parts}
        return {"kind": "hybrid", "rrf_k": self.spec.rrf_k, "parts": parts}


def searcher(name: str, passages: Sequence[Passage]) -> Searcher:
    """The retriever ``name`` of the registry over a corpus.

    Raises
    ------
    InputError
        Unknown retriever, or a model that fails its sanity pairs.
    FetchError
        Its model cannot be had.
    """
    spec = retriever_spec(name)
    if spec.kind == "lexical":
        return LexicalSearcher(spec, passages)
    if spec.kind == "hybrid":
        return _HybridSearcher(spec, passages)
    return VectorSearcher(spec, passages)


def search_view(
    retriever: Searcher,
    turns: Sequence[Turn],
    view: str,
    depth: int,
    *,
    documents: Mapping[str, str] | None = None,
) -> tuple[Run, list[QueryText]]:
    """Build a query view for every turn to the retriever's budget, and search it.

    Parameters
    ----------
    documents : passage id -> document; needed when a turn has a ``scope``, because only
        passages of that document may then be retrieved (Doc2Dial, QuAC and QReCC as
        ChatRAG-Bench evaluates them).

    Raises
    ------
    InputError
        A turn has a scope, but the documents are not given.
    """
    budget, counter = retriever.budget()
    cut = counter.cut if counter else None
    texts = query_texts(turns, view, budget=budget, count_tokens=counter, cut=cut)
    scopes = {t.query_id: t.scope for t in turns if t.scope}
    if not scopes:
        return retriever.search({t.query_id: t.text for t in texts}, depth), texts
    if documents is None:
        raise InputError("turns are restricted to documents, but the documents are not given.")
    free = retriever.search({t.query_id: t.text for t in texts if t.query_id not in scopes}, depth)
    inside = retriever.search(
        {t.query_id: t.text for t in texts if t.query_id in scopes}, len(documents)
    )
    rankings = dict(free.rankings)
    for query_id, ranking in inside.rankings.items():
        kept = [(p, s) for p, s in ranking if documents[p] == scopes[query_id]]
        rankings[query_id] = tuple(kept[:depth])
    return Run(free.system, rankings), texts
