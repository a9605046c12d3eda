"""The four methods with the thresholds of a gate file, so that nothing is set twice."""

from __future__ import annotations

from mtrlib.rewriting.coreference import Coreference, KeepOriginal
from mtrlib.rewriting.corpus_words import CorpusWords
from mtrlib.rewriting.decomposition import Decomposition
from mtrlib.rewriting.diversity import Vectors
from mtrlib.rewriting.gates import Gates
from mtrlib.rewriting.hyde import Hyde
from mtrlib.rewriting.multi_query import MultiQuery
from mtrlib.rewriting.plans import Fusion, Method
from mtrlib.rewriting.rewrites import Rewriter


def standard_methods(
    rewriter: Rewriter,
    gates: Gates,
    *,
    vectors: Vectors | None,
    words: CorpusWords | None,
    keep_original: KeepOriginal = "always",
) -> tuple[Method, ...]:
    """Coreference, decomposition, multi-query and HyDE, in the order of the chain.

    Parameters
    ----------
    vectors : texts -> vectors, for the diversity filter of multi-query.
    words : statistics of the corpus, for the gate of HyDE.
    """
    return (
        Coreference(
            rewriter,
            turns=gates.coreference.turns,
            confidence_min=gates.coreference.confidence_min,
            keep_original=keep_original,
        ),
        Decomposition(rewriter, overlap_max=gates.decomposition.overlap_max),
        MultiQuery(
            rewriter,
            vectors,
            variants=gates.multi_query.variants,
            similarity_max=gates.multi_query.similarity_max,
            warn_above=gates.multi_query.variants_warn_above,
        ),
        Hyde(
            rewriter,
            words,
            per_path=gates.hyde.per_path,
            latency_budget_ms=gates.latency_budget_ms,
            added_ms=gates.hyde.added_p99_ms[0],
        ),
    )


def standard_fusion(gates: Gates) -> Fusion:
    """Fusion with the constants of a gate file; each path gives as many as the list holds."""
    return Fusion(
        k=gates.fusion.rrf_k,
        top_n=gates.fusion.top_n,
        per_path=gates.fusion.top_n,
        prompt_size=gates.fusion.prompt_size,
    )
