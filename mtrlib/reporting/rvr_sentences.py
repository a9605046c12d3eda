"""Plain sentences about RVR, made of the numbers of its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from mtrlib.rvr.training import TrainedRetriever

# the paper's findings: what is said, the run it is said of, and the run it is held against
FINDINGS = (
    ("training for the first round helps a single round", "base_single", "-", "ft_i_single", "-"),
    ("RVR beats the trained single round", "ft_i_single", "-", "ft_i_ft_r", "{best}"),
    ("a second round helps without any training", "base_single", "-", "base_base", "{best}"),
    (
        "the retriever trained for the second round beats that for the first there",
        "ft_i_ft_i",
        "{best}",
        "ft_i_ft_r",
        "{best}",
    ),
    (
        "verifying beats taking the first passages unread",
        "ft_i_ft_r",
        "none",
        "ft_i_ft_r",
        "{best}",
    ),
    ("an oracle verifier would bring more", "ft_i_ft_r", "{best}", "ft_i_ft_r", "oracle"),
)


def compared_pairs(best: str) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """The pairs of runs that the paper's findings compare, with ``best`` as the verifier."""
    return [
        ((a, verifier_a.format(best=best)), (b, verifier_b.format(best=best)))
        for _, a, verifier_a, b, verifier_b in FINDINGS
    ]


def finding_sentences(differences: pd.DataFrame, best: str, level: float = 0.05) -> list[str]:
    """Per finding of the paper: does it reproduce here, by the corrected p-values?

    The interval alone would not do for MRecall, where a handful of questions change.

    Parameters
    ----------
    differences : of :func:`mtrlib.reporting.rvr_tables.differences` over
        :func:`compared_pairs`, one encoder.
    """
    said = []
    rows = differences.to_dict("records")
    for (claim, *_), (a, b) in zip(FINDINGS, compared_pairs(best), strict=True):
        from_, to = (", ".join(part for part in run if part != "-") for run in (a, b))
        own = [r for r in rows if (r["from"], r["to"]) == (from_, to)]
        if not own:
            said.append(f"{claim}: NOT RUN")
            continue
        shown = "; ".join(
            f"{r['measure']} {_change(r)}, p = {r['p_holm']:.3f}, {_reading(r, level)}" for r in own
        )
        said.append(f"{claim} ({from_} to {to}): {shown}")
    return said


def training_sentences(trained: dict[str, TrainedRetriever]) -> list[str]:
    """Per recipe: what was kept, and what dev says of it."""
    said = []
    for recipe, made in trained.items():
        recalls = [c for c in map(str, made.curves) if c.endswith("_recall")]
        looks = made.curves.dropna(subset=recalls[:1])
        if looks.empty:
            said.append(f"{recipe}: no dev questions, the last state is kept")
            continue
        kept = looks[looks["step"] == made.manifest["best_step"]].iloc[0]
        start = looks.iloc[0]
        parts = [
            f"{c.removesuffix('_recall')} recall {100 * start[c]:.1f} to {100 * kept[c]:.1f}"
            for c in recalls
        ]
        state = (
            f"the state of step {made.manifest['best_step']} is kept"
            if made.changed
            else "no state was better on dev than the base, which stays"
        )
        said.append(f"{recipe}: {state} of {made.manifest['steps_run']} steps; {', '.join(parts)}")
    return said


def plateau_sentences(sweep: pd.DataFrame) -> list[str]:
    """Per run: how far MRecall moves after the second round."""
    said = []
    own = sweep[sweep["measure"] == "mrecall"]
    for (system, verifier), part in own.groupby(["system", "verifier"], sort=False):
        value = part.set_index("rounds")["value"].mul(100)
        last = int(value.index.max())
        if 2 not in value.index or last <= 2:
            continue
        said.append(
            f"{system}, {verifier}: MRecall {value[2]:.1f} after round 2, {value[last]:.1f} after "
            f"round {last} ({value[last] - value[2]:+.1f} points)"
        )
    return said


def budget_sentences(sweep: pd.DataFrame) -> list[str]:
    """Per run: MRecall from the largest budget down, and whether it ever rises on the way."""
    said = []
    own = sweep[sweep["measure"] == "mrecall"]
    for (system, verifier), part in own.groupby(["system", "verifier"], sort=False):
        value = part.set_index("budget")["value"].mul(100).sort_index(ascending=False)
        course = ", ".join(f"{v:.1f} at B = {b}" for b, v in value.items())
        falls = "never rises" if value.is_monotonic_decreasing else "does not fall at every step"
        said.append(f"{system}, {verifier}: {course}; it {falls}")
    return said


def saving_sentences(table: pd.DataFrame, most_calls: float, most_loss: float) -> list[str]:
    """Per way: the fewest calls whose loss stays inside the bound, or that there is none.

    Parameters
    ----------
    table : ``way, verifier, share, difference, low, high`` of one measure.
    most_calls, most_loss : fractions; the loss is read off the worse end of the interval.
    """
    said = []
    for way, part in table.groupby("way", sort=False):
        inside = part[(part["low"] >= -most_loss) & (part["share"] <= most_calls)]
        shown = inside.sort_values("share").head(1)
        if shown.empty:
            near = part[part["share"] <= most_calls].sort_values("low", ascending=False).head(1)
            tail = _saved(near.iloc[0]) if len(near) else "no point with so few calls"
            said.append(f"{way}: not within {100 * most_loss:.0f} points at "
                        f"{most_calls:.0%} of the calls; nearest: {tail}")  # fmt: skip
        else:
            said.append(f"{way}: within {100 * most_loss:.0f} points with {_saved(shown.iloc[0])}")
    return said


def real_saving_lines(real: Mapping[str, pd.DataFrame], bound: tuple[float, float]) -> list[str]:
    """:func:`saving_sentences` of ``make real``, with its date; says so where there is none."""
    if "rvr_savings" not in real:
        return ["nothing measured here yet: `make real` needs MTR_REAL_DATA"]
    table = real["rvr_savings"]
    recall = table[table["measure"].str.startswith("Recall")]
    head = f"measured on {table.attrs['date']}, n = {int(recall['n'].max())} questions"
    return [head, *saving_sentences(recall, *bound)]


def _saved(row: pd.Series) -> str:
    return (
        f"{row['share']:.0%} of the calls, {100 * row['difference']:+.1f} "
        f"[{100 * row['low']:+.1f}, {100 * row['high']:+.1f}]"
    )


def _change(row: Mapping[Any, Any]) -> str:
    ends = f"[{100 * row['ci_low']:+.1f}, {100 * row['ci_high']:+.1f}]"
    return f"{100 * row['difference']:+.1f} {ends}"


def _reading(row: Mapping[Any, Any], level: float) -> str:
    if row["p_holm"] >= level:
        return "inside the noise"
    return "reproduces" if row["difference"] > 0 else "the opposite"
