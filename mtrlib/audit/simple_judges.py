"""Two judges that learn nothing: shared words, and MiniLM cosine.

Their numbers are similarities on the rating scale. They are not calibrated: 3.0 does not mean
"half of such passages support the question", so they give no probabilities, and only the
order and the change of their ratings say anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mtrlib.audit.items import ItemSet
from mtrlib.audit.pair_features import Pair, PairFeatures
from mtrlib.audit.pair_judge import PairJudge, retrievers_behind
from mtrlib.retrieval.lexical import tokenize
from mtrlib.retrieval.text import encoded_text


class LexicalJudge(PairJudge):
    """Share of content terms that the passage holds, title and section included.

    The terms are those of the question and of the utterance before it; for ``faithfulness``
    those of the answer. English function words do not count. Picks none of the options where
    not one of them shares a term.
    """

    name = "lexical"

    def support(self, metric: str, benchmark: str, pairs: Sequence[Pair]) -> np.ndarray:
        """Share of terms found, shape (n_pairs,)."""
        found = []
        for item, passage in pairs:
            text = item.answer or ""
            if metric != "faithfulness":
                text = " ".join([*(u.text for u in item.history[-1:]), item.question])
            terms = content_terms(text)
            held = terms.intersection(tokenize(encoded_text(passage)))
            found.append(len(held) / len(terms) if terms else 0.0)
        return np.array(found)


class MiniLmJudge(PairJudge):
    """Cosine of MiniLM, cut to [0, 1]: turn with history, or answer, against the passage.

    Does not compare options that MiniLM itself retrieved: that would be Recall@1.

    Parameters
    ----------
    features : of each set's corpus, by name of the set.
    """

    name = "minilm"

    def __init__(self, sets: Sequence[ItemSet], features: Mapping[str, PairFeatures]) -> None:
        super().__init__(sets)
        self._features = features

    def can_compare(self, negatives_from: str) -> bool:
        """Not with negatives of MiniLM."""
        return self.name not in retrievers_behind(negatives_from)

    def support(self, metric: str, benchmark: str, pairs: Sequence[Pair]) -> np.ndarray:
        """Cosine, shape (n_pairs,)."""
        view = "answer" if metric == "faithfulness" else "history"
        return self._features[benchmark].scores(self.name, view, pairs)[:, 0].clip(0.0, 1.0)


def content_terms(text: str) -> frozenset[str]:
    """Terms of a text without English function words.

    >>> sorted(content_terms("When did the mill burn down?"))
    ['burn', 'mill']
    """
    from bm25s.stopwords import STOPWORDS_EN_PLUS

    return frozenset(tokenize(text)).difference(STOPWORDS_EN_PLUS)
