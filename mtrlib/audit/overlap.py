"""What a text and a passage share: terms weighed by rarity, names, numbers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from mtrlib.data.schema import Passage
from mtrlib.retrieval.lexical import tokenize
from mtrlib.retrieval.text import encoded_text

# the first word of a text is capitalised anyway; scripts without case have no such names
_NAME = re.compile(r"(?<=\s)[^\W\d_a-z][\w'’-]+")
_NUMBER = re.compile(r"\d[\d,.]*")
MEASURES = (
    "in_passage",
    "of_title",
    "of_section",
    "of_text",
    "names",
    "name_count",
    "numbers",
    "number_count",
    "length",
)


@dataclass(frozen=True)
class Terms:
    """A text taken apart. Names and numbers are the terms that stand in them."""

    all: frozenset[str]
    names: frozenset[str]
    numbers: frozenset[str]


@lru_cache(maxsize=8192)  # histories grow by a turn, and copies of a set repeat them
def terms(text: str) -> Terms:
    """Take a text apart."""
    return Terms(
        frozenset(tokenize(text)),
        frozenset(t for m in _NAME.findall(text) if not m.islower() for t in tokenize(m)),
        frozenset(t for m in _NUMBER.findall(text) for t in tokenize(m)),
    )


class Overlap:
    """Overlaps with the passages of one corpus, which also says how rare a term is.

    The weight of a term is BM25's ``log(1 + (N - n + 0.5) / (n + 0.5))`` for n of N passages;
    it takes the place of a list of stop words, in any language.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = {
            p.passage_id: (
                frozenset(tokenize(encoded_text(p))),
                frozenset(tokenize(p.title)),
                frozenset(tokenize(" ".join(p.section))),
                frozenset(tokenize(p.text)),
            )
            for p in passages
        }
        found_in = Counter(t for whole, *_ in self._passages.values() for t in whole)
        n = len(self._passages)
        self._weights = {t: math.log1p((n - df + 0.5) / (df + 0.5)) for t, df in found_in.items()}
        self._unseen = math.log1p((n + 0.5) / 0.5)
        self._weight = lru_cache(maxsize=None)(self._summed)  # the same sets come again and again

    def measures(self, text: Terms, passage_id: str) -> list[float]:
        """As ``MEASURES``: shares in [0, 1], counts, and the text's length as log(1 + terms).

        ``in_passage``, ``names``, ``numbers``: share of the text's that the passage (title and
        section included) holds; ``of_title``, ``of_section``, ``of_text``: share of the
        passage's that the text holds. A share of nothing is 0.
        """
        whole, title, section, body = self._passages[passage_id]
        return [
            self._share(text.all, whole),
            self._share(title, text.all),
            self._share(section, text.all),
            self._share(body, text.all),
            self._share(text.names, whole),
            len(text.names),
            self._share(text.numbers, whole),
            len(text.numbers),
            math.log1p(len(text.all)),
        ]

    def length(self, passage_id: str) -> float:
        """log(1 + different terms) of the passage's own text."""
        return math.log1p(len(self._passages[passage_id][3]))

    def _share(self, part: frozenset[str], of: frozenset[str]) -> float:
        whole = self._weight(part)
        return self._summed(part & of) / whole if whole else 0.0

    def _summed(self, terms: frozenset[str]) -> float:
        # fsum: the order of a set must not reach the last digit
        return math.fsum([self._weights.get(t, self._unseen) for t in terms])
