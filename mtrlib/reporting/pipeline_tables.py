"""Tables and sentences of notebook 02: clusters, flow, a conversation beside its audit."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import pandas as pd

from mtrlib.data.schema import Benchmark, Passage
from mtrlib.synthesis.cluster_report import cluster_report
from mtrlib.synthesis.clustering import Clusters
from mtrlib.synthesis.drafts import DraftConversation
from mtrlib.synthesis.flow import move_shares, topic_flow
from mtrlib.synthesis.lengths import length_summary, turn_lengths


def diagnostics(
    ways: Mapping[str, Clusters], vectors: np.ndarray, passages: Sequence[Passage]
) -> pd.DataFrame:
    """:func:`mtrlib.synthesis.cluster_report.cluster_report` of each partition, by its name."""
    titles = [p.title for p in passages]
    rows = {
        name: cluster_report(found, vectors=vectors, groups=titles) for name, found in ways.items()
    }
    return pd.DataFrame(rows).T.rename_axis("clustering")


def flows(benchmarks: Sequence[Benchmark]) -> pd.DataFrame:
    """Shares of turns that stay, go on or return, per benchmark, by passage and by article."""
    tables = []
    for benchmark in benchmarks:
        tables += [
            move_shares(topic_flow(benchmark, "passage")).assign(unit="passage"),
            move_shares(topic_flow(benchmark, "article")).assign(unit="article"),
        ]
    return pd.concat(tables, ignore_index=True)


def lengths(benchmarks: Sequence[Benchmark]) -> pd.DataFrame:
    """Turns, lengths and verbosity of each benchmark."""
    return length_summary(pd.concat([turn_lengths(b) for b in benchmarks], ignore_index=True))


def side_by_side(
    conversations: Sequence[DraftConversation], per_item: pd.DataFrame
) -> pd.DataFrame:
    """What went out, turn by turn, with each judge's scores of it.

    Parameters
    ----------
    per_item : of :func:`mtrlib.audit.panel.item_scores`.

    Returns
    -------
    DataFrame
        ``turn, question, answer, gold`` and a column per judge and metric (1 to 5, or a
        share for ``completeness``); no rows where nothing was made.
    """
    rows = [
        (t.turn_id, t.question, t.answer, ", ".join(t.gold))
        for conversation in conversations
        for t in conversation.turns
    ]
    shown = pd.DataFrame(rows, columns=["turn", "question", "answer", "gold"]).set_index("turn")
    scores = per_item[per_item["item_id"].isin(shown.index) & per_item["value"].notna()]
    wide = scores.pivot_table(index="item_id", columns=["judge", "metric"], values="value")
    wide.columns = wide.columns.map(", ".join)
    return shown.join(wide.round(2))


def audit_sentences(scores: pd.DataFrame, made: str, beside: str) -> list[str]:
    """Per judge and metric, whether the synthesised set scores below the written one."""
    said = []
    for (judge, metric), part in scores.groupby(["judge", "metric"], sort=False):
        rows = part.set_index("set").to_dict("index")
        if not {made, beside} <= set(rows) or part["value"].isna().any():
            continue
        one, other = rows[made], rows[beside]
        verdict = "the intervals overlap"
        if one["ci_high"] < other["ci_low"]:
            verdict = f"{made} is worse"
        elif one["ci_low"] > other["ci_high"]:
            verdict = f"{made} is better"
        said.append(f"{judge}, {metric}: {made} {_span(one)}, {beside} {_span(other)}: {verdict}")
    return said


def _span(row: Mapping[Hashable, float]) -> str:
    if math.isnan(row["ci_low"]):
        return f"{row['value']:.2f}"
    return f"{row['value']:.2f} [{row['ci_low']:.2f}, {row['ci_high']:.2f}]"
