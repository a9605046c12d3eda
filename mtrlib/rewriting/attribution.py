"""Why queries fail: signs in the text and in the lists, and one primary label by precedence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from mtrlib.data.schema import Passage, Qrels, Run, Turn
from mtrlib.retrieval.search import Searcher
from mtrlib.rewriting.corpus_words import CorpusWords
from mtrlib.rewriting.labels import LABELS, UNATTRIBUTED, Attribution
from mtrlib.rewriting.mentions import is_short
from mtrlib.rewriting.near_gold import NearGold
from mtrlib.rewriting.remembered import remembered
from mtrlib.rewriting.signs import exact_term, has_connective, points_back

MOST_WORDS, MOST_CHARACTERS = 6, 8  # "a handful of words", 5 to 8 characters

Evidence = Mapping[str, Sequence[Sequence[str]]]  # query id -> pieces, any passage of each will do


def attribute(
    searcher: Searcher,
    passages: Sequence[Passage],
    turns: Sequence[Turn],
    qrels: Qrels,
    *,
    texts: Mapping[str, str] | None = None,
    evidence: Evidence | None = None,
    words: CorpusWords | None = None,
    k: int = 20,
    deep: int = 50,
    own_terms: int = 10,
    near_copy_min: float = 0.5,
    least: int = 30,
) -> Attribution:
    """Label every query that has no gold among the first k passages.

    Parameters
    ----------
    texts : query id -> the text that was searched: the raw turn (None), the standalone query
        after coreference, or any other. Signs are read from this text.
    evidence : query id -> evidence pieces, where people marked them.
    words : statistics of the corpus; None = counted here.
    own_terms : words of a gold passage that are searched for ``vocabulary_mismatch``.

    Returns
    -------
    Attribution
        ``ranking``: gold or a near copy at rank k + 1 to ``deep``. ``missing_context``: a
        pronoun or deictic in the text of a turn that has a history. ``underspecified``: two or
        more evidence pieces that no one passage covers; where nobody marked evidence, a
        connective and two or more gold passages [D]. ``expression_gap``: a handful of words or
        up to 8 dense characters, none of them specific to the corpus, no exact term.
        ``vocabulary_mismatch``: nothing in the first ``deep``, but a search with the gold
        passage's own words (highest tf-idf) finds it among the first k.

    References
    ----------
    Seed 004, the table of signs; precedence, near copies and own words are decisions [D].
    """
    original = {t.query_id: (texts or {}).get(t.query_id, t.raw_utterance) for t in turns}
    by_id = {p.passage_id: p for p in passages}
    search, near = remembered(searcher), NearGold(by_id, near_copy_min)
    scored = [t for t in turns if qrels.gold(t.query_id)]
    run = search.search({t.query_id: original[t.query_id] for t in scored}, deep)
    ranks, n_near = _failing(run, scored, qrels, near, k)
    corpus = words or CorpusWords(passages)
    lost = [(q, g) for q, r in ranks.items() if r is None for g in sorted(qrels.gold(q))]
    own = {key: corpus.own_words(by_id[key[1]], own_terms) for key in lost if key[1] in by_id}
    asked = {key: " ".join(terms) for key, terms in own.items()}
    found = _found(search, asked, qrels, near, k)
    rows: list[dict[str, Any]] = []
    for turn in (t for t in scored if t.query_id in ranks):
        q, text = turn.query_id, original[turn.query_id]
        signs = {
            "ranking": ranks[q] is not None,
            "missing_context": bool(turn.history) and points_back(text),
            "underspecified": _needs_several(q, text, qrels, evidence or {}),
            "expression_gap": _is_vague(text, corpus),
            "vocabulary_mismatch": q in found,
        }
        rows.append({"query_id": q, "text": text, **signs, "gold_rank": ranks[q]})
    n_lost = len(turns) - len(scored)
    return Attribution(search.spec.name, _table(rows), len(scored), n_lost, n_near, least)


def _failing(
    run: Run, turns: Sequence[Turn], qrels: Qrels, near: NearGold, k: int
) -> tuple[dict[str, int | None], int]:
    """Rank of gold or a near copy per failing query, and how many a near copy has saved."""
    ranks: dict[str, int | None] = {}
    n_near = 0
    for turn in turns:
        gold, ids = qrels.gold(turn.query_id), run.ids(turn.query_id)
        if gold.intersection(ids[:k]):
            continue
        counted = gold | near.copies(ids, gold)
        rank = next((r for r, p in enumerate(ids, start=1) if p in counted), None)
        if rank is not None and rank <= k:
            n_near += 1
        else:
            ranks[turn.query_id] = rank
    return ranks, n_near


def _table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Failures with their primary label: the first in the order of ``LABELS`` that applies."""
    for row in rows:
        row["primary"] = next((label for label in LABELS if row[label]), UNATTRIBUTED)
    columns = ["query_id", "text", *LABELS, "primary", "gold_rank"]
    table = pd.DataFrame(rows, columns=columns).astype({"gold_rank": "Int64"})
    return table.astype(dict.fromkeys(LABELS, bool)).set_index("query_id")


def _found(
    search: Searcher,
    asked: Mapping[tuple[str, str], str],
    qrels: Qrels,
    near: NearGold,
    k: int,
) -> set[str]:
    """Queries whose gold is found by the own words of one of its passages; one search."""
    keys = {str(i): key for i, key in enumerate(key for key, text in asked.items() if text)}
    if not keys:
        return set()
    run = search.search({i: asked[key] for i, key in keys.items()}, k)
    found = set()
    for i, (q, _) in keys.items():
        gold, ids = qrels.gold(q), run.ids(i)
        if gold.intersection(ids) or near.copies(ids, gold):
            found.add(q)
    return found


def _needs_several(query_id: str, text: str, qrels: Qrels, evidence: Evidence) -> bool:
    pieces = evidence.get(query_id)
    if pieces is None:
        return has_connective(text) and len(qrels.gold(query_id)) > 1
    return len(pieces) > 1 and not set(pieces[0]).intersection(*pieces[1:])


def _is_vague(text: str, corpus: CorpusWords) -> bool:
    short = is_short(text, most_words=MOST_WORDS, most_characters=MOST_CHARACTERS)
    return short and not exact_term(text) and not corpus.domain_terms(text)
