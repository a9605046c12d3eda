"""Plain sentences of notebook 11, made of the numbers of its tables."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from mtrlib.evaluation.power import FEWEST
from mtrlib.profiles import Profile
from mtrlib.reporting.own_benchmark import WORTH, Own, Told
from mtrlib.reporting.own_bound import best_known
from mtrlib.rewriting.labels import Attribution
from mtrlib.rewriting.next_step import next_step
from mtrlib.rewriting.tiers import Bound


def lack_lines(own: Own) -> list[str]:
    """What the file lacks, a line each."""
    return list(own.lacks.values()) or ["nothing is missing that a section below needs"]


def dry_run_lines(prices: pd.DataFrame, profile: Profile) -> list[str]:
    """Calls, tokens and the span of prices, and whether anything is sent."""
    if prices.empty:
        return ["no prices: the table of prices is empty"]
    row, paid = prices.iloc[0], prices[prices["cost_high"] > 0]
    spans = [
        f"{part['cost_low'].min():.4f} to {part['cost_high'].max():.2f} {currency}"
        for currency, part in paid.groupby("currency", sort=False)
    ]
    calls = (
        f"an LLM judge needs {row['calls']} calls, {row['tokens_in_low']:,} to "
        f"{row['tokens_in_high']:,} tokens in and {row['tokens_out_low']:,} to "
        f"{row['tokens_out_high']:,} out"
    )
    cost = f"; from the cheapest to the dearest model listed that is {' and '.join(spans)}"
    sent = (
        "LIVE: replies that are not stored are asked for, from the endpoints among JUDGES"
        if profile.LIVE
        else "not LIVE: nothing is sent; LLM judges replay what is stored"
    )
    return [calls + (cost if spans else ""), sent]


def told_lines(told: Told, k: int) -> list[str]:
    """Per view: best and worst retriever, pairs told apart, and what difference would be seen."""
    if told.pairs.empty:
        return ["one retriever: nothing to compare"]
    said = []
    for view, own in told.pairs.groupby("view", sort=False):
        part = told.means[told.means["view"] == view].sort_values("value", kind="stable")
        rows = part.to_dict("records")
        low, high = (f"{_span(row)} ({row['system']})" for row in (rows[0], rows[-1]))
        apart = int((own["verdict"] == "differ").sum())
        said.append(
            f"{view}: Recall@{k} from {low} to {high}; "
            f"{apart} of {len(own)} pairs are told apart; {_visible(told.detectable, str(view))}"
        )
    return [*said, _size_line(told)]


def _size_line(told: Told) -> str:
    """One sentence on what so many conversations can and cannot tell."""
    n = int(told.means["n_conversations"].max())
    queries = int(told.means["n_queries"].max())
    apart, pairs = int((told.pairs["verdict"] == "differ").sum()), len(told.pairs)
    size = f"{queries} queries of {n} conversations tell {apart} of {pairs} pairs apart"
    if n < FEWEST:
        return f"{size}: with fewer than {FEWEST} conversations the page shows the path, no ranking"
    return f"{size}; a pair that is not told apart is undecided, not equal"


def bound_lines(bounds: Sequence[tuple[str, Bound]]) -> list[str]:
    """Per kind of rewrite: what it gains at least and at most, and whether that is settled."""
    said = []
    for name in dict.fromkeys(b.name for _, b in bounds):
        own = sorted((b for _, b in bounds if b.name == name), key=lambda b: b.points.value)
        low, high = own[0], own[-1]
        settled = sum(not b.undecided for b in own)
        said.append(
            f"{name}: {low.points.value:+.1f} ({low.system}) to {high.points.value:+.1f} "
            f"({high.system}) points of Recall@{low.k} over {low.points.n} queries, "
            f"{len(low.fell_back)} without a usable rewrite; value and both ends of the interval "
            f"lie in one tier for {settled} of {len(own)} retrievers"
        )
    return said or ["no rewrites, so no bound: add a column, or set REWRITER to rules or an alias"]


def _unjudged_lines(scores: pd.DataFrame, profile: Profile) -> list[str]:
    """A line for each judge that gave fewer verdicts than it was asked for."""
    tried = scores[scores["note"].ne("not applicable")]
    counts = tried.groupby("judge", sort=False)[["n_judged", "n_tasks"]].sum()
    mend = "failures are asked again by the next run" if profile.LIVE else "LIVE asks the rest"
    return [
        f"{judge} judged {int(row['n_judged'])} of {int(row['n_tasks'])} questions: {mend}"
        for judge, row in counts.iterrows()
        if row["n_judged"] < row["n_tasks"]
    ]


def next_lines(
    own: Own,
    scores: pd.DataFrame,
    told: Told,
    suspects: str,
    bounds: Sequence[tuple[str, Bound]],
    labels: Mapping[str, Attribution],
) -> list[str]:
    """What to do next: fill gaps, ask again, read suspects, collect, then what rewriting says."""
    said = [f"fill: {line}" for line in own.lacks.values()]
    said += [f"ask: {line}" for line in _unjudged_lines(scores, own.profile)]
    said.append(f"read: {suspects}")
    if len(told.pairs):
        said.append(f"collect: {_wanted(told)}")
    for system, bound in best_known(bounds).items():
        said.append(f"rewrite, {system} ({bound.name}): {next_step(bound, labels[system])}")
    return said


def _wanted(told: Told) -> str:
    at_hand = int(told.detectable["n_conversations"].max())
    wanted = told.detectable["for_worth"].dropna()
    if wanted.empty:
        return f"no spread between the conversations here ({at_hand}) to say how many are enough"
    low, middle = int(wanted.min()), int(wanted.median())
    return (
        f"a true difference of {100 * WORTH:g} points takes about {middle:,} conversations of "
        f"this kind for the median pair ({low:,} for the easiest), {at_hand} are here "
        "(a projection from their spread)"
    )


def _visible(detectable: pd.DataFrame, view: str) -> str:
    found = detectable.loc[detectable["view"] == view, "mdd"].median()
    if math.isnan(found):
        return "these conversations have no spread to say what difference would be found"
    if found > 1:
        return "no difference of two means is large enough to be found in 80% of samples"
    return f"a true difference of {100 * found:.0f} points is found in 80% of samples"


def _span(row: Mapping[Hashable, Any]) -> str:
    if math.isnan(row["ci_low"]):
        return f"{100 * row['value']:.1f}"
    return f"{100 * row['value']:.1f} [{100 * row['ci_low']:.1f}, {100 * row['ci_high']:.1f}]"
