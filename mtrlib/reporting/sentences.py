"""Plain sentences made of the numbers of a table, so that no number in a notebook is typed."""

from __future__ import annotations

import pandas as pd

from mtrlib.data.authored.global_view import ORIGINS
from mtrlib.evaluation.discrimination import SLICES
from mtrlib.evaluation.power import INCONCLUSIVE


def spread_sentences(means: pd.DataFrame, spreads: pd.DataFrame, k: int) -> list[str]:
    """One plain sentence per benchmark and view, made of the numbers of the two tables."""
    value = means.set_index(["benchmark", "view", "system"])["value"].mul(100).to_dict()
    said = []
    for row in spreads.to_dict("records"):
        where = row["benchmark"], row["view"]
        low, high = value[(*where, row["worst"])], value[(*where, row["best"])]
        said.append(
            f"{', '.join(where)}: Recall@{k} from {low:.1f} ({row['worst']}) to {high:.1f} "
            f"({row['best']}), a spread of {100 * row['spread']:.1f} points; "
            f"{row['pairs_apart']} of {row['pairs']} pairs of retrievers differ beyond the noise."
        )
    return said


def claim_sentences(spreads: pd.DataFrame, natural: str, rigid: str) -> list[str]:
    """Say whether a natural benchmark spreads retrievers more than a rigid one, per view.

    It holds where the interval of the natural benchmark's spread lies above the other's, is
    inconclusive where they overlap, and fails where the natural spread is smaller (the claim
    is MTR-Suite's, section 5 and Figure 2b).
    """
    said = []
    for view, part in spreads.groupby("view", sort=False):
        rows = part.set_index("benchmark").to_dict("index")
        if not {natural, rigid} <= set(rows):
            continue
        one, other = rows[natural], rows[rigid]
        verdict = "inconclusive (the intervals overlap)"
        if one["ci_low"] > other["ci_high"]:
            verdict = "holds"
        elif one["spread"] < other["spread"]:
            verdict = "does not hold"
        spans = [
            f"{name} {100 * r['spread']:.1f} [{100 * r['ci_low']:.1f}, {100 * r['ci_high']:.1f}]"
            for name, r in ((natural, one), (rigid, other))
        ]
        said.append(
            f"larger spread on {natural} than on {rigid}, {view}: {verdict}; {', '.join(spans)}"
        )
    return said


def power_sentences(
    detectable: pd.DataFrame, needed: pd.DataFrame, stability: pd.DataFrame, power: float = 0.8
) -> list[str]:
    """One plain sentence per benchmark and view, made of the numbers of the three tables."""
    said = []
    for row in stability.to_dict("records"):
        where = row["benchmark"], row["view"]
        own, steps = (
            t[(t["benchmark"] == where[0]) & (t["view"] == where[1])] for t in (detectable, needed)
        )
        open_ = own[own["verdict"] == INCONCLUSIVE]
        names = "; ".join(
            f"{b} over {w}" for b, w in zip(open_["better"], open_["worse"], strict=True)
        )
        said.append(
            f"{', '.join(where)}: with {own['n_conversations'].iloc[0]} conversations a true "
            f"difference of {100 * own['mdd_all'].median():.1f} points (the median pair) is found "
            f"in {power:.0%} of samples; {steps['conversations'].notna().sum()} of {len(steps)} "
            f"pairs are told apart as often by {steps['tried'].max()} conversations or fewer; "
            f"{row['best']} leads in {row['same_best']:.1%} of resamples ({row['verdict']}), "
            f"tau {row['tau']:.2f}, tau-ap {row['tau_ap']:.2f}; inconclusive: {names or 'no pair'}"
        )
    return said


def slice_sentences(means: pd.DataFrame, k: int) -> list[str]:
    """One sentence per benchmark, view and pair of slices: what the slice costs each retriever.

    Parameters
    ----------
    means : of ``mean_intervals`` by benchmark, view, system, slice.
    """
    said = []
    for (benchmark, view), part in means.groupby(["benchmark", "view"], sort=False):
        table = part.pivot(index="system", columns="slice", values="value").mul(100)
        for first, second in zip(SLICES[::2], SLICES[1::2], strict=True):
            if {first, second} <= set(table):
                cost = table[second] - table[first]
                listed = ", ".join(f"{name} {value:+.1f}" for name, value in cost.items())
                said.append(
                    f"{benchmark}, {view}: Recall@{k} of {second} less {first} turns: {listed}"
                )
    return said


def protection_sentences(
    spreads: pd.DataFrame, protects: pd.DataFrame, per_query: pd.DataFrame
) -> list[str]:
    """What the naive cut costs: spread and pairs apart with either, gains, questions lost.

    Parameters
    ----------
    spreads : of ``spread`` over the protected and the naive view.
    protects : of ``compare_views`` from the naive to the protected view.
    per_query : with ``question_lost`` per row.
    """
    said = [
        f"{row['benchmark']}, {row['view']}: spread {100 * row['spread']:.1f} "
        f"[{100 * row['ci_low']:.1f}, {100 * row['ci_high']:.1f}] points, "
        f"{row['pairs_apart']} of {row['pairs']} pairs differ"
        for row in spreads.to_dict("records")
    ]
    lost = per_query.groupby(["benchmark", "view", "system"])["question_lost"].mean().to_dict()
    for row in protects.to_dict("records"):
        share = lost[row["benchmark"], row["before"], row["system"]]
        said.append(
            f"{row['benchmark']}, {row['system']}: protecting the question gains "
            f"{100 * row['difference']:+.1f} [{100 * row['ci_low']:+.1f}, "
            f"{100 * row['ci_high']:+.1f}] points; the naive cut loses it for {100 * share:.1f}% "
            "of the queries"
        )
    return said


def sanity_sentences(gains: pd.DataFrame) -> list[str]:
    """One sentence per claim: for how many retrievers it holds, and the gains in points."""
    said = []
    for claim, part in gains.groupby("claim", sort=False):
        holds = int((part["holds"] == "yes").sum())
        listed = ", ".join(
            f"{row['system']} {100 * row['difference']:+.1f}" for row in part.to_dict("records")
        )
        n = part["n_queries"].iloc[0]
        said.append(f"{claim} (n = {n}): holds for {holds} of {len(part)} retrievers ({listed})")
    return said


def global_view_sentences(origins: pd.DataFrame) -> list[str]:
    """One sentence per set: how much gold the source article alone would have missed."""
    said = []
    for name, part in origins.groupby("set", sort=False):
        outside = part["origin"].isin(ORIGINS[2:])
        late = part["origin"].isin(ORIGINS[1::2])
        questions = part["query_id"].nunique()
        touched = part.loc[outside, "query_id"].nunique()
        said.append(
            f"{name}: {int(outside.sum())} of {len(part)} gold passages "
            f"({100 * outside.mean():.1f}%) lie outside the source article, for {touched} of "
            f"{questions} questions; {int(late.sum())} were found only in the pool."
        )
    return said
