"""Score a run: per-query values, means, and the counts that say what they are means of."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mtrlib.data.schema import Qrels, Run
from mtrlib.errors import InputError
from mtrlib.evaluation.measures import MEASURES


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Scores of one system, with everything needed to say what the means are means of.

    Attributes
    ----------
    system : name of the run.
    per_query : ``query_id`` x measure, fractions; one row per query with gold. A cell is NaN
        only under ``Hole@k``, for a query that returned nothing.
    means : measure -> mean of its defined cells.
    n_averaged : measure -> number of cells behind its mean (``n_queries``, less under Hole).
    n_queries : queries with gold.
    n_missing_from_run : of these, how many got no passage at all; they score 0.
    n_without_gold : queries of the qrels left out because no passage reaches ``rel``.
    n_duplicate_rows : rows of the run that named a passage again and were dropped.
    n_not_in_qrels : queries of the run that the qrels do not know; ignored.
    share_tied : share of ranked rows (of queries with gold) whose score, as float32, occurs
        more than once in their list: how much of the order the tie rule decided.
    """

    system: str
    per_query: pd.DataFrame
    means: pd.Series
    n_averaged: pd.Series
    n_queries: int
    n_missing_from_run: int
    n_without_gold: int
    n_duplicate_rows: int
    n_not_in_qrels: int
    share_tied: float

    @property
    def counts(self) -> dict[str, int]:
        """The coverage counts by name, for tables and manifests."""
        return {name: value for name, value in vars(self).items() if type(value) is int}


def evaluate(
    qrels: Qrels,
    run: Run,
    measures: Sequence[str] = ("Recall@20", "nDCG@20", "MRR@20", "Success@20"),
    *,
    rel: int = 1,
) -> Evaluation:
    """Score a run: per-query values, means over all queries with gold, and coverage.

    Parameters
    ----------
    qrels : graded judgements.
    run : rankings, best first; their order is final.
    measures : names ``<measure>@<k>``, see :data:`mtrlib.evaluation.measures.MEASURES`.
    rel : lowest grade that counts as gold.

    Raises
    ------
    InputError
        Unknown measure, or no query with gold.

    Notes
    -----
    Per query the numbers are those of trec_eval. The mean differs where tools differ:
    pytrec_eval averages over the queries that the run answered, ir-measures over all
    queries of the qrels; here it is over all queries that have gold.

    Examples
    --------
    >>> qrels = Qrels({"q1": {"d1": 1}, "q2": {"d5": 1}, "q3": {}})
    >>> run = Run.from_rankings("bm25", {"q1": [("d1", 2.0), ("d3", 1.0)]})
    >>> scores = evaluate(qrels, run, ["Recall@2"])
    >>> float(scores.means["Recall@2"]), scores.n_queries, scores.n_missing_from_run
    (0.5, 2, 1)
    """
    wanted = {name: _parse(name) for name in measures}
    if not wanted:
        raise InputError(f"No measure asked for. {_known()}")
    with_gold = [q for q in qrels if qrels.gold(q, rel)]
    if not with_gold:
        raise InputError(
            f"{run.system}: none of the {len(qrels)} queries of the qrels has a passage judged "
            f"{rel} or more, so there is nothing to average. Mend: check ids and grades."
        )
    columns = {name: MEASURES[base](qrels, run, k=k, rel=rel) for name, (base, k) in wanted.items()}
    index = pd.Index(with_gold, name="query_id", dtype="str")
    repeats = sum(len(rows) - len({p for p, _ in rows}) for rows in run.rankings.values())
    return Evaluation(
        system=run.system,
        per_query=pd.DataFrame(columns, index=index),
        means=_by_measure({name: _mean(column) for name, column in columns.items()}, float),
        n_averaged=_by_measure({name: len(column) for name, column in columns.items()}, int),
        n_queries=len(with_gold),
        n_missing_from_run=sum(not run.rankings.get(q) for q in with_gold),
        n_without_gold=len(qrels) - len(with_gold),
        n_duplicate_rows=run.n_duplicate_rows + repeats,
        n_not_in_qrels=sum(q not in qrels for q in run.rankings),
        share_tied=_share_tied(run, with_gold),
    )


def _parse(name: str) -> tuple[str, int]:
    found = re.fullmatch(r"(\w+)@([1-9][0-9]*)", name)
    if found is None or found[1] not in MEASURES:
        raise InputError(f"Measure {name!r} is unknown. {_known()}")
    return found[1], int(found[2])


def _known() -> str:
    return f"Known: {', '.join(f'{base}@k' for base in MEASURES)}, with k from 1 up."


def _mean(column: pd.Series) -> float:
    # fsum: the same queries in another order give the same mean, to the last bit
    return math.fsum(column) / len(column) if len(column) else math.nan


def _by_measure(values: Mapping[str, float], dtype: type) -> pd.Series:
    return pd.Series(values, dtype=dtype).rename_axis("measure")


def _share_tied(run: Run, query_ids: Sequence[str]) -> float:
    n_rows = n_tied = 0
    for query_id in query_ids:
        scores = np.array([s for _, s in run.rankings.get(query_id, ())], dtype=np.float32)
        _, sizes = np.unique(scores, return_counts=True)  # (n_distinct,)
        n_rows += len(scores)
        n_tied += int(sizes[sizes > 1].sum())
    return n_tied / n_rows if n_rows else 0.0
