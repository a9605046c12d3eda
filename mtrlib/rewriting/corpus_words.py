"""What the words of a corpus tell: which are specific to it, and which are a passage's own."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from mtrlib.data.schema import Passage
from mtrlib.retrieval.lexical import tokenize
from mtrlib.retrieval.text import encoded_text

DOMAIN_SHARE = 0.01  # a word in at most this share of the passages is specific


class CorpusWords:
    """Document frequencies over the encoded passage texts, tokens as BM25 sees them."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        self._df: Counter[str] = Counter()
        self.n = 0
        for passage in passages:
            self._df.update(set(tokenize(encoded_text(passage))))
            self.n += 1

    def domain_terms(self, text: str) -> list[str]:
        """Tokens of a text that few passages have, in order.

        A domain word stands in at least one passage and in at most ``DOMAIN_SHARE`` of them
        (and always in no more than one where the corpus is small). [D] A word that no passage
        has is no domain word but a gap. Digits are left to the rule of exact terms.
        """
        most = max(1.0, DOMAIN_SHARE * self.n)
        tokens = dict.fromkeys(tokenize(text))
        return [t for t in tokens if 0 < self._df[t] <= most and not t.isdigit() and len(t) > 1]

    def own_words(self, passage: Passage, n: int = 10) -> list[str]:
        """The n tokens of a passage with the highest tf-idf: "the document's own words".

        ``tf * ln(1 + N / df)``; ties by token, descending as everywhere. No model is needed.
        """
        counts = Counter(tokenize(encoded_text(passage)))
        weight = {t: counts[t] * idf for t, idf in self.idf(counts).items()}
        return sorted(weight, key=lambda t: (round(weight[t], 9), t), reverse=True)[:n]

    def idf(self, tokens: Iterable[str]) -> dict[str, float]:
        """Token -> ``ln(1 + N / df)``; a token that no passage has weighs as one of a single."""
        return {t: math.log1p(self.n / max(1, self._df[t])) for t in tokens}
