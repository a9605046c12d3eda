"""What to do next, in one line: the tier of the bound and the labels of the failures together."""

from __future__ import annotations

from mtrlib.rewriting.labels import REMEDY, UNATTRIBUTED, Attribution
from mtrlib.rewriting.tiers import ADVICE, LOW, Bound


def next_step(bound: Bound, attribution: Attribution) -> str:
    """One line: what the bound says, and the remedy of the commonest label that is big enough.

    The distribution of labels chooses the method (seed 004). A label with too few examples
    chooses nothing; where all have too few the line says so. ``ranking`` sends to a reranker
    whatever the bound is.
    """
    if bound.undecided:
        return bound.verdict
    if bound.tier == LOW:
        return f"{bound.verdict}{_ranking(attribution)}"
    counts = attribution.counts()
    big = counts[(counts["primary"] >= attribution.least) & (counts.index != UNATTRIBUTED)]
    if big.empty:
        total = len(attribution.failures)
        return (
            f"{ADVICE[bound.tier]}; none of the labels has {attribution.least} examples yet "
            f"({total} failures): label more before choosing a method"
        )
    label = str(big["primary"].idxmax())  # the first of equals, so the order of precedence
    n = len(attribution.queries(label))
    share = n / len(attribution.failures)
    return (
        f"{ADVICE[bound.tier]}; start with {REMEDY[label]}: {label} is the commonest label "
        f"({n} failures, {share:.0%})"
    )


def _ranking(attribution: Attribution) -> str:
    n = len(attribution.queries("ranking"))
    return f"; {n} failures are found but ranked low: {REMEDY['ranking']}" if n else ""
