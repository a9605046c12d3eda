"""HyDE: search with a hypothetical answer beside the query, where the query is short and vague."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mtrlib.data.schema import Turn
from mtrlib.retrieval.search import Searcher
from mtrlib.rewriting.contamination import HYPOTHETICAL, contamination_rate
from mtrlib.rewriting.corpus_words import CorpusWords
from mtrlib.rewriting.mentions import Mentioned, is_short
from mtrlib.rewriting.methods import MethodRun, apply_method
from mtrlib.rewriting.plans import Fusion, Lists, Path, Planned
from mtrlib.rewriting.rewrites import Rewrite, Rewriter, tasks_for
from mtrlib.rewriting.signs import exact_term, two_sided

MOST_WORDS, MOST_CHARACTERS = 12, 16  # a query this long is not short any more


@dataclass(frozen=True)
class Hyde:
    """The gate, one call per query that passes it, and a path of the hypothetical answer.

    The gate decides before any call. Off: exact terms (digits, identifiers in capitals, quoted
    terms, amounts, dates), answers with several sides, no room in the latency budget. On:
    short, and without a word that is specific to the corpus.

    Attributes
    ----------
    words : statistics of the corpus, to tell domain words; None = that sign is not looked at.
    careful : ask for titles and key words only, not for an answer.
    per_path : passages of the original's list and of the hypothetical's that are fused.
    latency_budget_ms : added time that is allowed; None = no limit.
    added_ms : what a generation call adds at least.
    exact, sides, short, domain : switches of the signs.
    """

    rewriter: Rewriter
    words: CorpusWords | None = None
    careful: bool = False
    per_path: int = 10
    latency_budget_ms: float | None = None
    added_ms: float = 300
    exact: bool = True
    sides: bool = True
    short: bool = True
    domain: bool = True

    name = "hyde"

    def closed(self, text: str) -> str:
        """Why HyDE is off for a query, or "" where it may be used; no model is asked.

        >>> gate = Hyde(rewriter=None)
        >>> [gate.closed(q) for q in ("怎么让系统别那么卡", "ERR_2041 怎么处理", "方案的优缺点")]
        ['', 'identifier', 'several sides']
        """
        if self.latency_budget_ms is not None and self.latency_budget_ms < self.added_ms:
            return "latency budget"
        if self.exact and (kind := exact_term(text)):
            return kind
        if self.sides and two_sided(text):
            return "several sides"
        if self.short and not is_short(
            text, most_words=MOST_WORDS, most_characters=MOST_CHARACTERS
        ):
            return "not short"
        if self.domain and self.words is not None and self.words.domain_terms(text):
            return "domain word"
        return ""

    def plan(self, turns: Sequence[Turn], texts: Mapping[str, str]) -> list[Planned]:
        """As :class:`mtrlib.rewriting.plans.Method`."""
        closed = {t.query_id: self.closed(texts[t.query_id]) for t in turns}
        tasks = tasks_for([t for t in turns if not closed[t.query_id]], texts)
        kind = "hypothetical_careful" if self.careful else HYPOTHETICAL
        found = {r.query_id: r for r in self.rewriter.rewrite(kind, tasks)} if tasks else {}
        return [
            self._planned(found[t.query_id])
            if t.query_id in found
            else Planned(t.query_id, off=closed[t.query_id])
            for t in turns
        ]

    def settle(self, planned: Planned, lists: Lists) -> Planned:
        """Nothing more to decide."""
        return planned

    def _planned(self, found: Rewrite) -> Planned:
        paths = tuple(Path(HYPOTHETICAL, text, self.per_path) for text in found.texts[:1])
        return Planned(
            found.query_id,
            paths,
            failed=found.failed,
            wanted=1,
            got=found.got,
            calls=found.calls,
            seconds=found.seconds,
            original_depth=self.per_path,
            notes={"careful": self.careful},
        )


def with_careful(
    method: Hyde,
    searcher: Searcher,
    turns: Sequence[Turn],
    known: Mapping[str, Sequence[str]],
    passages: Mapping[str, Mentioned],
    *,
    above: float = 0.2,
    texts: Mapping[str, str] | None = None,
    fusion: Fusion | None = None,
) -> tuple[MethodRun, MethodRun | None]:
    """Run HyDE, and run it again with the careful prompt if it contaminates too much.

    Parameters
    ----------
    known, passages : as :func:`mtrlib.rewriting.contamination.contamination`.
    above : rate from which (exclusively) the careful text is taken.

    Returns
    -------
    tuple
        The first run, and the careful one or None. The switch is thrown for all queries, by
        the rate over all of them: a single query's rate needs its gold.
    """
    first = apply_method(method, searcher, turns, texts=texts, fusion=fusion)
    if method.careful or not contamination_rate(first, known, passages) > above:
        return first, None
    careful = dataclasses.replace(method, careful=True)
    return first, apply_method(careful, searcher, turns, texts=texts, fusion=fusion)
