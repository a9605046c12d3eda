"""Noise, sparsity and credibility of audited sets and of copies with planted damage."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mtrlib import paths
from mtrlib.audit.confirmation import write_suspects
from mtrlib.audit.credibility import credibility
from mtrlib.audit.estimates import Estimate, noise, sparsity, turn_scores
from mtrlib.audit.items import ItemSet
from mtrlib.audit.judging import Judge, Task
from mtrlib.audit.missing_gold import suspects
from mtrlib.profiles import Profile
from mtrlib.reporting.audit_run import VIEW, Copy
from mtrlib.reporting.audit_truth import probability
from mtrlib.retrieval.search import search_view, searcher

POOL_DEPTH = 10  # passages of each retriever and view that are searched for missing gold
LISTED = 300  # suspects written for people, as many as the paper had checked
SHOWN_KINDS = ("noise", "sparsity")  # damage of the gold; the others leave it alone


def pooled_pairs(
    items: ItemSet, judge: Judge, profile: Profile, extra: Iterable[tuple[str, str]] = ()
) -> pd.DataFrame:
    """Gold, passages that some retriever finds, and ``extra`` pairs, with the judge's p.

    Returns
    -------
    DataFrame
        ``set, item_id, conversation_id, passage_id, marked, p``; p is NaN without a verdict.
    """
    turns = [items.turns[item.item_id] for item in items.items]
    by_id = {p.passage_id: p for p in items.passages}
    documents = {p.passage_id: p.document for p in items.passages}
    pools = {item.item_id: {p.passage_id for p in item.gold} for item in items.items}
    for item_id, passage_id in extra:
        if item_id in pools:
            pools[item_id].add(passage_id)
    for name in profile.RETRIEVERS:
        retriever = searcher(name, items.passages)
        for view in ("last_turn", VIEW):
            run, _ = search_view(retriever, turns, view, POOL_DEPTH, documents=documents)
            for item_id, pool in pools.items():
                pool.update(run.ids(item_id))
    tasks = [
        Task("query_evidence", item, by_id[passage_id])
        for item in items.items
        for passage_id in sorted(pools[item.item_id])
    ]
    rows = [
        (t.item.item_id, t.item.conversation_id, t.passage.passage_id) for t in tasks if t.passage
    ]
    found = pd.DataFrame(rows, columns=["item_id", "conversation_id", "passage_id"])
    found["p"] = [probability(verdict) for verdict in judge.judge(tasks)]
    return marked(found, items)


def marked(pairs: pd.DataFrame, items: ItemSet) -> pd.DataFrame:
    """The same pairs with the gold of ``items`` marked, under its name."""
    gold = {(item.item_id, p.passage_id) for item in items.items for p in item.gold}
    keys = zip(pairs["item_id"], pairs["passage_id"], strict=True)
    return pairs.assign(set=items.name, marked=[key in gold for key in keys])


def estimates(
    audited: Sequence[ItemSet],
    copies: Mapping[tuple[str, float], Copy],
    judge: Judge,
    pool: pd.DataFrame,
    profile: Profile,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Noise, sparsity, credibility of each set and of each copy with damaged gold.

    Parameters
    ----------
    audited : the sets; the last one is that of which ``copies`` were made.
    pool : of :func:`mtrlib.reporting.audit_truth.judged_pool`: pairs with known truth, from
        which the judge's error rates come.

    Returns
    -------
    DataFrame, DataFrame
        ``set, quantity, value, ci_low, ci_high, apparent, planted, n, n_missing, note``
        (fractions); and the pairs of the last set.
    """
    known = pool[pool["judge"].eq(judge.name)].rename(columns={"supports": "is_gold"})
    gold_copies = [c for (kind, _), c in copies.items() if kind in SHOWN_KINDS]
    extra = [pair for c in gold_copies for pair in c.damage.planted]
    rows, pairs, errors = [], pd.DataFrame(), _error_rates(known, gold_copies)
    for items in audited:
        pairs = pooled_pairs(items, judge, profile)
        truth = {} if items is not audited[-1] else {"noise": 0.0, "sparsity": 0.0}
        rows += _rows(pairs, truth, errors, profile)
    wide = pooled_pairs(audited[-1], judge, profile, extra)
    own = pd.MultiIndex.from_frame(pairs[["item_id", "passage_id"]])
    in_pool = pd.MultiIndex.from_frame(wide[["item_id", "passage_id"]]).isin(own)
    for copy in gold_copies:
        truth = {"noise": 0.0, "sparsity": 0.0, copy.damage.kind: _planted(copy)}
        again = marked(wide, copy.items)
        # what another copy planted is no candidate of this one
        again = again[in_pool | again["marked"].to_numpy()]
        rows += _rows(again, truth, errors, profile)
    return pd.DataFrame(rows), pairs


def youden(p: np.ndarray, truth: np.ndarray) -> float:
    """The threshold with most true positives less false ones (rates); the lowest of equals."""
    cuts = np.unique(p[~np.isnan(p)])
    above = p[None, :] >= cuts[:, None]  # (n_cuts, n_pairs)
    gain = above[:, truth].mean(axis=1) - above[:, ~truth].mean(axis=1)
    return float(cuts[int(np.argmax(gain))])


def lead_threshold(clean: pd.DataFrame, holes: pd.DataFrame) -> float:
    """The threshold at which unmarked passages that lead tell turns with holes from clean ones."""
    tables = [turns.dropna() for turns in (clean, holes)]
    leads = [
        np.where(turns["best_unmarked"] > turns["best_gold"], turns["best_unmarked"], -1.0)
        for turns in tables
    ]
    truth = np.repeat([False, True], [len(lead) for lead in leads])
    return max(0.0, youden(np.concatenate(leads), truth))


def suspected(pairs: pd.DataFrame, items: ItemSet, profile: Profile) -> tuple[pd.DataFrame, str]:
    """The list for people, best first, and the file it was written to."""
    found = suspects(pairs).head(LISTED)
    name = f"suspects_{items.name}.jsonl"
    write_suspects(paths.build(profile.tag) / name, found, items)
    return found, Path("build", profile.tag, name).as_posix()


def _planted(copy: Copy) -> float:
    if copy.damage.kind == "noise":
        return copy.damage.reached
    turns = {query_id for query_id, _ in copy.damage.planted}
    return len(turns) / len(copy.items.items)


class _ErrorRates(NamedTuple):
    """What the judge's error rates come from, and the thresholds; the same for every set."""

    known: pd.DataFrame
    threshold: float
    clean: pd.DataFrame
    holes: pd.DataFrame
    lead: float


def _error_rates(known: pd.DataFrame, copies: Collection[Copy]) -> _ErrorRates:
    clean, holes = turn_scores(known.assign(marked=known["is_gold"])), _holes(known, copies)
    threshold = youden(known["p"].to_numpy(), known["is_gold"].to_numpy())
    reference = known.assign(supports=known["is_gold"])
    return _ErrorRates(reference, threshold, clean, holes, lead_threshold(clean, holes))


def _rows(
    pairs: pd.DataFrame, truth: Mapping[str, float], errors: _ErrorRates, profile: Profile
) -> list[dict[str, object]]:
    sure: dict[str, Any] = {
        "resamples": profile.RESAMPLES,
        "confidence": profile.CONFIDENCE,
        "seed": profile.SEED,
    }
    noisy = noise(pairs[pairs["marked"]], errors.known, threshold=errors.threshold, **sure)
    sparse = sparsity(turn_scores(pairs), errors.clean, errors.holes, threshold=errors.lead, **sure)
    both = credibility(noisy, sparse, confidence=profile.CONFIDENCE)
    whole = (1 - truth["noise"]) * (1 - truth["sparsity"]) if truth else math.nan
    quantities = {"noise": noisy, "sparsity": sparse, "credibility": both}
    planted = {**truth, "credibility": whole}
    name = str(pairs["set"].iloc[0])
    return [_row(name, what, e, planted.get(what, math.nan)) for what, e in quantities.items()]


def _holes(known: pd.DataFrame, copies: Collection[Copy]) -> pd.DataFrame:
    """Turns of the judged pools in which the heaviest sparsity copy unmarked gold."""
    sparse = [copy for copy in copies if copy.damage.kind == "sparsity"]
    heaviest = max(sparse, key=lambda copy: copy.damage.rate)
    gone = set(heaviest.damage.planted)
    keys = zip(known["item_id"], known["passage_id"], strict=True)
    left = known.assign(marked=known["is_gold"] & np.array([key not in gone for key in keys]))
    return turn_scores(left[left["item_id"].isin({query_id for query_id, _ in gone})])


def _row(name: str, quantity: str, found: Estimate, planted: float) -> dict[str, object]:
    return {
        "set": name,
        "quantity": quantity,
        "value": found.value,
        "ci_low": found.low,
        "ci_high": found.high,
        "apparent": found.apparent,
        "planted": planted,
        "n": found.n,
        "n_missing": found.n_missing,
        "note": found.note,
    }
