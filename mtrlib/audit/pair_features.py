"""Features of (item, passage) pairs: what four retrievers and the words say about each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from mtrlib.audit import overlap, pair_scores
from mtrlib.audit.items import AuditItem
from mtrlib.audit.overlap import Overlap, Terms, terms
from mtrlib.audit.pair_scores import CorpusScorer
from mtrlib.data.schema import Passage, Turn, corpus_digest
from mtrlib.errors import InputError
from mtrlib.retrieval.pool import RETRIEVERS
from mtrlib.retrieval.query_text import query_texts

Pair = tuple[AuditItem, Passage]

# what is scored against the passage, by query: view -> how query_text calls it
QUERIES: dict[str, dict[str, str]] = {
    "question": {"turn": "last_turn", "history": "full_history"},
    "answer": {"answer": ""},
}


class PairFeatures:
    """Features of pairs over one corpus; encoders run only for texts never seen before.

    Parameters
    ----------
    passages : the corpus that the items belong to.
    retrievers : whose scores are features; loaded when first needed.
    """

    def __init__(self, passages: Sequence[Passage], retrievers: Sequence[str] = RETRIEVERS) -> None:
        self._passages = passages
        self.retrievers = tuple(retrievers)
        self._scorers: dict[str, CorpusScorer] = {}
        self._overlap: Overlap | None = None
        self._first: Sequence[AuditItem] = ()
        self._begun: set[tuple[str, str]] = set()

    def begin_with(self, items: Sequence[AuditItem]) -> None:
        """Encode these items together before any other, whoever asks first.

        Cached vectors go by the list of texts. Whole benchmarks, turn by turn, have the key
        that a search over them has; what comes later is encoded only as far as it is new.
        """
        self._first = items

    def scores(self, name: str, view: str, pairs: Sequence[Pair]) -> np.ndarray:
        """:meth:`.CorpusScorer.measures` of one retriever under one view, shape (n_pairs, 3).

        Parameters
        ----------
        view : ``turn``, ``history`` (both sides and the turn, to the encoder's budget) or
            ``answer``.
        """
        if name not in self._scorers:
            self._scorers[name] = CorpusScorer(name, self._passages)
        scorer = self._scorers[name]
        if (name, view) not in self._begun:
            answered = [i for i in self._first if view != "answer" or i.answer]
            scorer.encode(_queries(answered, view, scorer))
            self._begun.add((name, view))
        items = list({id(item): item for item, _ in pairs}.values())
        at = {id(item): i for i, item in enumerate(items)}
        queries = _queries(items, view, scorer)
        return scorer.measures(queries, [(at[id(i)], p.passage_id) for i, p in pairs])

    def frame(
        self, pairs: Sequence[Pair], *, query: str = "question", without: Sequence[str] = ()
    ) -> pd.DataFrame:
        """One row of floats per pair, in the order given.

        Parameters
        ----------
        query : ``question`` (the turn, and the turn with its history) or ``answer``.
        without : retrievers whose columns are left out.

        Returns
        -------
        DataFrame
            Indexed by ``(item_id, passage_id)``. Columns ``<retriever>.<view>.<measure>`` (see
            :meth:`.CorpusScorer.measures`), ``<text>.<measure>`` (see
            :meth:`.Overlap.measures`; texts ``question``, ``last``: the utterance before it,
            ``history``; or ``answer``), ``passage.length``, and ``turn.number`` (logarithm)
            for questions.

        Raises
        ------
        InputError
            Unknown query, an item without answer where it is the query, or a passage that
            the corpus lacks.
        """
        if query not in QUERIES:
            raise InputError(f"query {query!r} is unknown. Known: {', '.join(QUERIES)}.")
        parts = [
            pd.DataFrame(
                self.scores(name, view, pairs),
                columns=[f"{name}.{view}.{m}" for m in pair_scores.MEASURES],
            )
            for name in self.retrievers
            if name not in without
            for view in QUERIES[query]
        ]
        frame = pd.concat([*parts, self._overlaps(pairs, query)], axis=1)
        frame.index = pd.MultiIndex.from_tuples(
            [(item.item_id, p.passage_id) for item, p in pairs], names=["item_id", "passage_id"]
        )
        return frame

    def _overlaps(self, pairs: Sequence[Pair], query: str) -> pd.DataFrame:
        if self._overlap is None:
            self._overlap = Overlap(self._passages)
        words = self._overlap
        texts = {id(item): _words(item, query) for item, _ in pairs}
        names = list(_words(AuditItem("", "", "", 1, "", answer=""), query))
        columns = [f"{n}.{m}" for n in names for m in overlap.MEASURES] + ["passage.length"]
        rows = [
            [
                *(v for n in names for v in words.measures(texts[id(i)][n], p.passage_id)),
                words.length(p.passage_id),
            ]
            for i, p in pairs
        ]
        frame = pd.DataFrame(rows, columns=columns, dtype=float)
        if query == "question":
            frame["turn.number"] = [math.log(max(1, item.turn_number)) for item, _ in pairs]
        return frame


def shared_features(corpora: Mapping[str, Sequence[Passage]]) -> dict[str, PairFeatures]:
    """Features by name of the set; sets over equal corpora share one, so nothing loads twice."""
    by_digest: dict[str, PairFeatures] = {}
    return {
        name: by_digest.setdefault(corpus_digest(passages), PairFeatures(passages))
        for name, passages in corpora.items()
    }


def _queries(items: Sequence[AuditItem], view: str, scorer: CorpusScorer) -> list[tuple[str, str]]:
    """Item ids with the text that is scored."""
    if view == "answer":
        return [(item.item_id, _answer(item)) for item in items]
    budget, count = scorer.budget()
    turns = [
        Turn(i.item_id, i.conversation_id, i.turn_number, i.question, i.history) for i in items
    ]
    found = query_texts(turns, QUERIES["question"][view], budget=budget, count_tokens=count)
    return [(q.query_id, q.text) for q in found]


def _words(item: AuditItem, query: str) -> dict[str, Terms]:
    if query == "answer":
        return {"answer": terms(_answer(item))}
    return {
        "question": terms(item.question),
        "last": terms(item.history[-1].text if item.history else ""),
        "history": terms("\n".join(u.text for u in item.history)),
    }


def _answer(item: AuditItem) -> str:
    if item.answer is None:
        raise InputError(f"item {item.item_id!r} has no answer to compare with a passage.")
    return item.answer
