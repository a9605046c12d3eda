"""What may help in place of a rewrite: hybrid search and a cheap reranker (notebook 08)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from mtrlib.data.schema import Run
from mtrlib.errors import FetchError
from mtrlib.reporting.rewriting_run import Searchers
from mtrlib.reporting.rewriting_study import DEPTH, RAW, RESOLVED, Study
from mtrlib.retrieval.fusion import fuse_runs
from mtrlib.retrieval.lexical import tokenize
from mtrlib.retrieval.registry import retriever_spec
from mtrlib.rewriting.comparison import Scorer, comparison_rows, reranked
from mtrlib.rewriting.diversity import Vectors, encoder_vectors, token_vectors
from mtrlib.rewriting.labels import Attribution

RERANKER = "static-256"  # cosine of the cheap reranker, beside shared words
HYBRID = "hybrid"


def cheap_scorer(study: Study) -> Scorer:
    """A reranker without a cross-encoder: shared words by idf, and a static cosine, summed.

    Both lie in [0, 1] or nearly; no weight was tuned. Without the static model, words alone.
    """
    vectors: Vectors
    try:
        vectors = encoder_vectors(RERANKER)
        vectors(["?"])
    except FetchError:
        vectors = token_vectors

    tokens: dict[str, frozenset[str]] = {}

    def scores(pairs: Sequence[tuple[str, str]]) -> list[float]:
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        if not texts:
            return []
        tokens.update({t: frozenset(tokenize(t)) for t in texts if t not in tokens})
        idf = {q: study.words.idf(tokens[q]) for q in dict.fromkeys(q for q, _ in pairs)}
        whole = {q: math.fsum(own.values()) or 1.0 for q, own in idf.items()}
        found = np.asarray(vectors(texts), dtype=float)  # (n_texts, dimension)
        found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
        row = {text: i for i, text in enumerate(texts)}
        return [
            float(found[row[q]] @ found[row[p]])
            + math.fsum(idf[q][t] for t in tokens[q] & tokens[p]) / whole[q]
            for q, p in pairs
        ]

    return scores


def comparisons(
    study: Study,
    searchers: Searchers,
    labels: Mapping[tuple[str, str], Attribution],
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Rows that are no rewriting: hybrid search and a cheap reranker, before any rewriting.

    Over all queries with gold, and over those whose failure is labelled ``ranking``.
    """
    scorer, how = cheap_scorer(study), {**study.sure, "rng": rng}
    hybrid, top = _hybrid(study, searchers), study.gates.fusion.top_n
    tables = []
    for base in (RAW, RESOLVED):
        for name, retriever in searchers.by_name.items():
            texts = study.texts(base)
            before = retriever.search(texts, top)
            again = reranked(
                retriever, study.turns, study.truth.passages, scorer, texts=texts, top_n=top
            )
            others = {"reranker": again, **({HYBRID: hybrid[base]} if hybrid else {})}
            for which in ("all", "ranking"):
                only = labels[name, base].queries("ranking") if which == "ranking" else None
                if only == []:
                    continue
                found = comparison_rows(
                    before, others, study.benchmark.qrels, study.truth.groups, only=only, **how
                )
                tables.append(found.assign(system=name, before_it=base, queries=which))
    return pd.concat(tables, ignore_index=True)


def _hybrid(study: Study, searchers: Searchers) -> dict[str, Run]:
    """Fused runs by what stood before; empty where a part of the hybrid is missing."""
    spec = retriever_spec(HYBRID)
    if not set(spec.parts) <= set(searchers.by_name):
        return {}
    return {
        base: fuse_runs(
            [searchers.by_name[part].search(study.texts(base), DEPTH) for part in spec.parts],
            system=HYBRID,
            k=spec.rrf_k,
            depth=DEPTH,
        )
        for base in (RAW, RESOLVED)
    }
