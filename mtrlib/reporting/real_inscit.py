"""INSCIT, where every turn has a pool of candidates and many turns have two annotators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mtrlib.audit.feature_judge import FeatureJudge
from mtrlib.audit.items import AuditItem, ItemSet, audit_items
from mtrlib.audit.judged_pairs import JudgedPair
from mtrlib.audit.judging import Task
from mtrlib.audit.missing_gold import recovery, suspects
from mtrlib.audit.pair_features import PairFeatures
from mtrlib.data.schema import Benchmark, Run, Turn
from mtrlib.profiles import Profile
from mtrlib.reporting.real_sets import Rated, verdicts
from mtrlib.retrieval.pool import RETRIEVERS
from mtrlib.retrieval.search import search_view, searcher

POOL_DEPTH = 10  # passages of each retriever
VIEW = "last_turn"
AT = (10, 20, 50, 100, 200, 500)


@dataclass(frozen=True)
class Pools:
    """Candidates of every turn with gold.

    Attributes
    ----------
    benchmark : the whole set.
    items : its turns with gold.
    tasks : ``query_evidence``, one per candidate.
    table : one row per task: ``set, item_id, conversation_id, passage_id, gold`` (bool),
        ``first`` (bool, gold of the first annotator), ``found`` (among the first
        ``POOL_DEPTH`` of a retriever), ``hard`` (the unmarked passage that BM25 ranks first),
        and the score of each retriever, under its name.
    """

    benchmark: Benchmark
    items: ItemSet
    tasks: tuple[Task, ...]
    table: pd.DataFrame

    def rated(self, *, hard: bool = False) -> Rated:
        """The candidates with gold as the rating of people; ``hard`` = gold and hard ones only."""
        kept = self.table["gold"] | self.table["hard"] if hard else self.table["gold"].notna()
        table = self.table[kept]
        keys = (table["item_id"] + " " + table["passage_id"]).tolist()
        people = pd.DataFrame(
            {
                "group": table["conversation_id"].tolist(),
                "gold": table["gold"].astype(float).tolist(),
            },
            index=keys,
        )
        tasks = tuple(self.tasks[i] for i in np.flatnonzero(kept))
        part = "inscit_hard_pairs" if hard else "inscit_pools"
        return Rated("inscit", part, self.items, tasks, tuple(keys), people)


def pools(benchmark: Benchmark) -> Pools:
    """Gold and the first ten of four retrievers asked with the last turn."""
    items = audit_items(benchmark)
    turns = list(items.turns.values())
    everything = len(benchmark.passages)
    runs = {
        name: search_view(searcher(name, benchmark.passages), turns, VIEW, everything)[0]
        for name in RETRIEVERS
    }
    by_id = {p.passage_id: p for p in benchmark.passages}
    tables = [_candidates(item, items.turns[item.item_id], runs) for item in items.items]
    table = pd.concat(tables, ignore_index=True)
    by_item = {item.item_id: item for item in items.items}
    tasks = tuple(
        Task("query_evidence", by_item[i], by_id[p])
        for i, p in zip(table["item_id"], table["passage_id"], strict=True)
    )
    return Pools(benchmark, items, tasks, table)


def cross_fitted(found: Pools, profile: Profile, *, gold: str = "gold") -> pd.DataFrame:
    """The feature judge taught on these very pools, by folds of conversations.

    Parameters
    ----------
    gold : column that it learns: ``gold``, or ``first`` for what one annotator gives; then
        gold of the second is a candidate to learn from only where a retriever finds it.

    Returns
    -------
    DataFrame
        As :func:`mtrlib.reporting.real_sets.verdicts`, each candidate judged by the model
        that did not see its conversation.
    """
    features = PairFeatures(found.items.passages)
    labels, known = found.table[gold], found.table[gold] | found.table["found"]
    pairs = [
        JudgedPair(task.item, task.passage, bool(label))
        for task, label, learnt in zip(found.tasks, labels, known, strict=True)
        if learnt and task.passage is not None
    ]
    judge = FeatureJudge(
        [found.items],
        {found.items.name: features},
        {"question": pairs},
        features,
        seed=profile.SEED,
    )
    return verdicts(judge, found.tasks)


def hidden_annotator(
    found: Pools, judged: Mapping[str, pd.DataFrame], confidence: float
) -> pd.DataFrame:
    """The second annotator hidden: how much of what only that one marked do suspects hold?

    Turns on which both marked something. The first annotator's passages are gold, hidden ones
    are candidates only where a retriever finds them.

    Parameters
    ----------
    judged : verdicts on the candidates, by judge; suspects are sorted by the probability, or
        by the score of a judge that gives none.

    Returns
    -------
    DataFrame
        ``judge`` and the columns of :func:`mtrlib.audit.missing_gold.recovery`; ``base_rate``
        (precision of unmarked candidates in random order), ``n_turns``, ``n_hidden`` and
        ``n_hidden_found`` (by a retriever: what no list can exceed).
    """
    first, second = {}, {}
    for turn in found.benchmark.turns():
        if len(turn.gold_by_annotator) == 2 and all(turn.gold_by_annotator):
            first[turn.query_id], second[turn.query_id] = map(set, turn.gold_by_annotator)
    hidden = {(q, p) for q in first for p in second[q] - first[q]}
    table = found.table
    pairs = list(zip(table["item_id"], table["passage_id"], strict=True))
    marked = np.array([p in first.get(q, ()) for q, p in pairs])
    kept = table["item_id"].isin(list(first)).to_numpy() & (marked | table["found"].to_numpy())
    n_found = sum(pair in hidden for pair, keep in zip(pairs, kept, strict=True) if keep)
    sizes = {"n_turns": len(first), "n_hidden": len(hidden), "n_hidden_found": n_found}
    results = []
    for judge, said in judged.items():
        p = said["probability"].fillna(said["score"]).to_numpy()
        own = table.assign(marked=marked, p=p)[kept]
        result = recovery(suspects(own), hidden, at=AT, confidence=confidence)
        result.insert(0, "judge", judge)
        results.append(result.assign(base_rate=n_found / int((~own["marked"]).sum()), **sizes))
    return pd.concat(results, ignore_index=True)


def _candidates(item: AuditItem, turn: Turn, runs: Mapping[str, Run]) -> pd.DataFrame:
    gold = {p.passage_id for p in item.gold}
    first = set(turn.gold_by_annotator[0]) if turn.gold_by_annotator else gold
    top = {p for run in runs.values() for p in run.ids(item.item_id, POOL_DEPTH)}
    hard = next((p for p in runs["bm25"].ids(item.item_id) if p not in gold), "")
    scores = {name: dict(run.rankings[item.item_id]) for name, run in runs.items()}
    rows = [
        {
            "set": item.benchmark,
            "item_id": item.item_id,
            "conversation_id": item.conversation_id,
            "passage_id": passage_id,
            "gold": passage_id in gold,
            "first": passage_id in first,
            "found": passage_id in top,
            "hard": passage_id == hard,
            # a passage that shares no term with the question has no hit, and so no score
            **{name: score.get(passage_id, 0.0) for name, score in scores.items()},
        }
        for passage_id in sorted(gold | top | ({hard} if hard else set()))
    ]
    return pd.DataFrame(rows)
