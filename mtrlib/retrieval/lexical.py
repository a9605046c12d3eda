"""BM25 over script-aware tokens: words where a script has spaces, character bigrams elsewhere."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from mtrlib.data.schema import Passage, Run
from mtrlib.retrieval.index import PassageIds
from mtrlib.retrieval.text import encoded_text

TOKENIZER = "NFKC, casefold, words; character bigrams for scripts without spaces"
WARN_ABOVE = 0.2  # share of queries without a single known term

# Han, kana, Hangul, Thai, Lao, Khmer, Myanmar
_UNSPACED = (
    r"\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uf900-\ufaff\uac00-\ud7af\u1100-\u11ff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
    r"\U00020000-\U0003ffff"
)
_RUN = re.compile(rf"[{_UNSPACED}]+|[^\W{_UNSPACED}]+")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")


def tokenize(text: str) -> list[str]:
    """Tokens of a text.

    >>> tokenize("LDAP 与限流策略")
    ['ldap', '与限', '限流', '流策', '策略']
    """
    tokens: list[str] = []
    for run in _RUN.findall(unicodedata.normalize("NFKC", text).casefold()):
        if len(run) > 1 and _IS_UNSPACED.match(run):
            tokens += [run[i : i + 2] for i in range(len(run) - 1)]
        else:
            tokens.append(run)
    return tokens


class Bm25:
    """BM25 (Lucene's non-negative IDF) over the encoded passage text.

    Parameters
    ----------
    passages : the corpus; empty texts are allowed and are never hits.
    k1, b : BM25's saturation and length normalisation.
    """

    def __init__(self, passages: Sequence[Passage], *, k1: float = 0.9, b: float = 0.4) -> None:
        import bm25s

        self._ids = PassageIds(p.passage_id for p in passages)
        tokens = [tokenize(encoded_text(p)) for p in passages]
        self._vocabulary = frozenset().union(*tokens)
        self._model = None
        if self._vocabulary:
            self._model = bm25s.BM25(k1=k1, b=b, method="lucene")
            self._model.index(tokens, show_progress=False)

    def search(self, queries: Mapping[str, str], depth: int, system: str = "bm25") -> Run:
        """Rank passages for each query text; a hit has a score above 0.

        Warns when more than a fifth of the queries share no term with the corpus: the
        tokenizer or the language is probably wrong.
        """
        rankings: dict[str, tuple[tuple[str, float], ...]] = {}
        without_terms = 0
        for query_id, text in queries.items():
            terms = [t for t in tokenize(text) if t in self._vocabulary]
            without_terms += not terms
            if not terms or self._model is None:
                rankings[query_id] = ()
                continue
            scores = np.asarray(self._model.get_scores(terms), dtype=np.float32)
            rankings[query_id] = self._ids.top(scores, depth, above=0.0)
        if without_terms > WARN_ABOVE * len(queries):
            warnings.warn(
                f"{without_terms} of {len(queries)} queries share no term with the corpus "
                f"(tokenizer: {TOKENIZER})",
                stacklevel=2,
            )
        return Run(system, rankings)
