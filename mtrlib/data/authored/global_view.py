"""How much gold lies outside the article that a question was written from.

The MTR paper's point (section 1): an annotator who knows one document misses what others
say. For each question the source article is the one that holds most of its gold; gold is
counted by where it lies and by whether the author had found it or only the pool did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pandas as pd

from mtrlib.data.authored.check_judged import needs
from mtrlib.data.authored.records import Authored
from mtrlib.data.schema import Passage, Qrels

ORIGINS = (
    "source article, author",
    "source article, pool only",
    "other articles, author",
    "other articles, pool only",
)


def gold_origins(found: Authored, passages: Mapping[str, Passage]) -> pd.DataFrame:
    """One row per gold passage: ``set, query_id, passage_id, origin``."""
    rows = []
    for name, query_id, gold, _ in needs(found):
        if not gold:
            continue
        pooled = {r["passage_id"]: r for r in found.judged[name][query_id]}
        source = _source_article(gold, pooled, passages)
        for passage_id in sorted(gold):
            inside = passages[passage_id].title == source
            late = pooled[passage_id].get("found") == "pool"
            origin = ORIGINS[2 * (not inside) + late]
            rows.append((name, query_id, passage_id, origin))
    return pd.DataFrame(rows, columns=["set", "query_id", "passage_id", "origin"])


def _source_article(
    gold: set[str], pooled: Mapping[str, Mapping[str, str]], passages: Mapping[str, Passage]
) -> str:
    """The article with most of the gold that the author had found; ties by title."""
    authors = [g for g in gold if pooled[g].get("found") != "pool"] or list(gold)
    counts = Counter(passages[g].title for g in authors)
    return min(counts, key=lambda title: (-counts[title], title))


def origin_counts(origins: pd.DataFrame) -> pd.DataFrame:
    """Gold passages per set and origin: ``set, origin, gold``."""
    counts = origins.groupby(["set", "origin"]).size()
    index = pd.MultiIndex.from_product(
        [list(dict.fromkeys(origins["set"])), ORIGINS], names=["set", "origin"]
    )
    return counts.reindex(index, fill_value=0).rename("gold").reset_index()


def source_only_qrels(origins: pd.DataFrame, name: str) -> Qrels:
    """The gold of a set that lies in the source articles and that the author had found."""
    own = origins[(origins["set"] == name) & (origins["origin"] == ORIGINS[0])]
    groups = own.groupby("query_id")["passage_id"]
    return Qrels({str(q): dict.fromkeys(part, 1) for q, part in groups})
