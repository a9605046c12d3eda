"""The harness: per query what a method changed, and the table of measures with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from mtrlib.data.schema import Qrels
from mtrlib.errors import InputError
from mtrlib.evaluation.measures import ndcg_at_k, recall_at_k
from mtrlib.rewriting.contamination import contamination
from mtrlib.rewriting.coreference import STANDALONE
from mtrlib.rewriting.decomposition import SUB
from mtrlib.rewriting.methods import MethodRun
from mtrlib.rewriting.plans import ORIGINAL, noted, paths_of
from mtrlib.rewriting.ratios import Sums, ratio_interval
from mtrlib.rewriting.truth import Truth, answer_share, licensed_texts

RECALL_K, NDCG_K = 20, 5


def measured(applied: MethodRun, truth: Truth) -> pd.DataFrame:
    """Per query with gold: everything that the tables, gates and decisions are made of.

    Returns
    -------
    DataFrame
        Indexed by ``query_id``. ``used`` (the method changed the searches), ``off``,
        ``failed``; ``recall_before, recall_after`` (@20), ``ndcg_before, ndcg_after`` (@5);
        ``new`` (passages of the fused list that only rewrites found: not in the original's
        first 20), ``new_in_prompt`` (of these, in the first ``prompt_size``), ``new_on_paths``
        (the same before the fused list was cut), ``room, room_on_paths`` (how many of either
        the prompt could hold); ``listed, contaminated`` (HyDE path); ``pieces, covered_before,
        covered_after`` (evidence pieces found by the original, by any sub-query);
        ``standalone_hit`` (the standalone query alone finds gold in 20); ``similarity`` (mean
        pairwise, of variants); ``answer_before, answer_after`` (end-to-end proxy); ``calls``,
        ``searches`` (without the original's), ``seconds`` (added). NaN where a measure does
        not apply.

    Raises
    ------
    InputError
        No query with gold.

    Notes
    -----
    "Found only by the rewrites" is read as: in the list that the method returns (its first 20)
    and not in the original's. [D] Counted on all paths before the cut, three variants of 20
    bring some fifty passages a query for five places, so that the rate could not pass 10% and
    the thresholds of 15, 25 and 40% would say nothing. Both readings are shown, each with the
    ceiling that the size of the prompt sets it.
    """
    own = Qrels({q: truth.qrels.grades(q) for q in applied.plans})
    k = min(RECALL_K, applied.fusion.top_n)
    table = pd.DataFrame(
        {
            "recall_before": recall_at_k(own, applied.before, k=k),
            "recall_after": recall_at_k(own, applied.run, k=k),
            "ndcg_before": ndcg_at_k(own, applied.before, k=NDCG_K),
            "ndcg_after": ndcg_at_k(own, applied.run, k=NDCG_K),
        }
    )
    if table.empty:
        raise InputError("no query has gold, so nothing can be measured. Mend: check the qrels.")
    queries = [str(q) for q in table.index]
    rows = {q: _query_row(applied, truth, q) for q in queries}
    table = table.join(pd.DataFrame.from_dict(rows, orient="index"))
    dirt = contamination(applied, licensed_texts(truth, queries), truth.mentions)
    return table.join(dirt[["listed", "contaminated"]]).rename_axis("query_id")


def _query_row(applied: MethodRun, truth: Truth, query_id: str) -> dict[str, object]:
    plan, lists = applied.plans[query_id], applied.lists[query_id]
    before = applied.before.ids(query_id)
    found = {p for path in plan.paths for p in lists[path.name]} - set(lists[ORIGINAL])
    new = found.intersection(applied.run.ids(query_id))
    prompt = applied.run.ids(query_id, applied.fusion.prompt_size)
    row: dict[str, object] = {
        "used": bool(plan.paths),
        "off": plan.off,
        "failed": plan.failed,
        "new": len(new),
        "new_in_prompt": len(new.intersection(prompt)),
        "new_on_paths": len(found),
        "room": min(len(prompt), len(new)),
        "room_on_paths": min(len(prompt), len(found)),
        "similarity": noted(plan, "similarity", math.nan),
        "calls": plan.calls,
        "searches": len(plan.paths) - (not plan.keep_original),
        "seconds": plan.seconds + applied.search_seconds[query_id],
        "standalone_hit": _standalone_hit(applied, truth, query_id),
    }
    row |= _coverage(applied, truth, query_id)
    parts = truth.answers.get(query_id)
    for name, ids in (("answer_before", before[: len(prompt)]), ("answer_after", prompt)):
        row[name] = answer_share(parts, [truth.mentions[i] for i in ids]) if parts else math.nan
    return row


def _standalone_hit(applied: MethodRun, truth: Truth, query_id: str) -> float:
    paths = paths_of(applied.plans[query_id], STANDALONE)
    if not paths:
        return math.nan
    ids = applied.lists[query_id][paths[0].name][:RECALL_K]
    return float(bool(truth.qrels.gold(query_id).intersection(ids)))


def _coverage(applied: MethodRun, truth: Truth, query_id: str) -> dict[str, float]:
    """Evidence pieces, and those of which the original, or any sub-query, finds a passage."""
    pieces = truth.evidence.get(query_id, ())
    subs = paths_of(applied.plans[query_id], SUB)
    names = ("pieces", "covered_before", "covered_after")
    if not pieces or not subs:
        return dict.fromkeys(names, math.nan)
    lists = applied.lists[query_id]
    before = set(lists[ORIGINAL])
    after = {i for p in subs for i in lists[p.name]}
    found = [sum(not got.isdisjoint(piece) for piece in pieces) for got in (before, after)]
    return dict(zip(names, map(float, (len(pieces), *found)), strict=True))


def summary(
    table: pd.DataFrame,
    groups: Mapping[str, str],
    *,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Measures of one method: value and interval, how many queries are behind each.

    Parameters
    ----------
    table : of :func:`measured`, all queries or the part of them that is asked about.
    groups : query id -> conversation, resampled as a whole.

    Returns
    -------
    DataFrame
        Indexed by ``measure``: ``before, after`` (means, fractions), ``value`` (the change, or
        the rate itself), ``ci_low, ci_high, n``. Rates are pooled: sums over sums.
    """
    rows = []
    for name, top, bottom, minus in MEASURED:
        sums = Sums.of(table, groups, top, bottom, minus)
        value, low, high = ratio_interval(sums, resamples=resamples, confidence=confidence, rng=rng)
        ends = (sums.share(minus), sums.share(top)) if minus else (math.nan, math.nan)
        rows.append((name, *ends, value, low, high, sums.n))
    columns = ["measure", "before", "after", "value", "ci_low", "ci_high", "n"]
    return pd.DataFrame(rows, columns=columns).set_index("measure")


# name, what is summed, over what sum ("" = the queries), what is subtracted before
MEASURED = (
    ("recall@20", "recall_after", "", "recall_before"),
    ("ndcg@5", "ndcg_after", "", "ndcg_before"),
    ("answer in prompt", "answer_after", "", "answer_before"),
    ("in-prompt rate", "new_in_prompt", "new", ""),
    ("its ceiling", "room", "new", ""),
    ("in-prompt rate, all paths", "new_in_prompt", "new_on_paths", ""),
    ("ceiling, all paths", "room_on_paths", "new_on_paths", ""),
    ("contamination", "contaminated", "listed", ""),
    ("coverage", "covered_after", "pieces", "covered_before"),
    ("standalone hit rate", "standalone_hit", "", ""),
    ("similarity", "similarity", "", ""),
)
