"""Tables of RVR: means with intervals, paired differences, the paper's rows beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mtrlib.data.list_sets import ListSet
from mtrlib.evaluation.significance import bootstrap_interval, holm, paired_difference
from mtrlib.profiles import Profile
from mtrlib.reporting.published import DIFFERENT_SETUP, NOT_RUN, published
from mtrlib.reporting.rvr_grid import KEY

MEASURES = ("recall", "mrecall")


def means(per_question: pd.DataFrame, profile: Profile, rng: np.random.Generator) -> pd.DataFrame:
    """Mean of every run, rule and measure, with its bootstrap interval over questions.

    Returns
    -------
    DataFrame
        ``encoder, system, verifier, rule, measure, value, ci_low, ci_high, n``; fractions.
    """
    rows = []
    for key, part in per_question.groupby([*KEY, "rule"], sort=False):
        for measure in MEASURES:
            values = part.set_index("question_id")[measure]
            found = bootstrap_interval(values, **_sure(profile), rng=rng)
            ends = found.value, found.low, found.high
            rows.append((*key, measure, *ends, len(values)))
    columns = [*KEY, "rule", "measure", "value", "ci_low", "ci_high", "n"]
    return pd.DataFrame(rows, columns=columns)


def differences(
    per_question: pd.DataFrame,
    pairs: Sequence[tuple[tuple[str, str], tuple[str, str]]],
    profile: Profile,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Paired comparison of runs on the same questions, under the profile's rule.

    Parameters
    ----------
    pairs : ``((system, verifier), (system, verifier))``: the second less the first; a pair
        of which a run is missing is passed over.

    Returns
    -------
    DataFrame
        ``encoder, measure, from, to, difference, ci_low, ci_high, p, better, worse, n, p_holm``;
        fractions, ``better`` and ``worse`` of the questions. Holm's correction is over all rows
        of one encoder and measure.
    """
    own = per_question[per_question["rule"] == profile.LIST_RULE]
    runs = {key: part.set_index("question_id") for key, part in own.groupby(KEY, sort=False)}
    rows = []
    for encoder in dict.fromkeys(own["encoder"]):
        for measure in MEASURES:
            for a, b in pairs:
                if (encoder, *a) not in runs or (encoder, *b) not in runs:
                    continue
                found = paired_difference(
                    runs[encoder, *a][measure],
                    runs[encoder, *b][measure],
                    **_sure(profile),
                    rng=rng,
                )
                rows.append(
                    {
                        "encoder": encoder,
                        "measure": measure,
                        "from": label(*a),
                        "to": label(*b),
                        "difference": found.value,
                        "ci_low": found.low,
                        "ci_high": found.high,
                        "p": found.p_value,
                        "better": found.n_gained / found.n,
                        "worse": found.n_lost / found.n,
                        "n": found.n,
                    }
                )
    table = pd.DataFrame(rows)
    table["p_holm"] = table.groupby(["encoder", "measure"], sort=False)["p"].transform(holm)
    return table


def label(system: str, verifier: str) -> str:
    """A run's name in tables and figures."""
    return system if verifier == "-" else f"{system}, {verifier}"


def main_table(found: pd.DataFrame, profile: Profile) -> pd.DataFrame:
    """The means of one rule as a table to read: ``62.1 [55.0, 69.2]`` in points."""
    own = found[found["rule"] == profile.LIST_RULE]
    text = [
        f"{100 * r['value']:.1f} [{100 * r['ci_low']:.1f}, {100 * r['ci_high']:.1f}]"
        for r in own.to_dict("records")
    ]
    table = own.assign(text=text).pivot_table(
        index=[*KEY, "n"], columns="measure", values="text", aggfunc="first", sort=False
    )
    k = profile.LIST_K
    return table.rename(columns={"recall": f"Recall@{k}", "mrecall": f"MRecall@{k}"})


def about(lists: ListSet, profile: Profile) -> str:
    """One line: how many questions, answers and passages, and how the numbers were made."""
    questions = lists.questions[profile.LIST_SPLIT]
    answers = sum(len(q.answers) for q in questions) / len(questions)
    above = sum(len(q.answers) > profile.LIST_K for q in questions)
    return (
        f"mode: measured; {lists.name}, {profile.LIST_SPLIT}: {len(questions)} questions with "
        f"{answers:.1f} answers each ({above} with more than K = {profile.LIST_K}), "
        f"{len(lists.passages)} passages"
    )


def rules_table(found: pd.DataFrame, encoder: str, profile: Profile) -> pd.DataFrame:
    """MRecall of every run under every rule, in points."""
    own = found[(found["measure"] == "mrecall") & (found["encoder"] == encoder)]
    table = own.assign(value=(100 * own["value"]).round(1)).pivot_table(
        index=["system", "verifier"], columns="rule", values="value", aggfunc="first", sort=False
    )
    return table.rename_axis(columns=f"MRecall@{profile.LIST_K} by rule")


def with_costs(found: pd.DataFrame, counts: pd.DataFrame, profile: Profile) -> pd.DataFrame:
    """The main table with verdicts asked, passages accepted and coverage per run."""
    table = main_table(found, profile).reset_index("n")
    costs = counts.set_index(KEY)[["judged", "accepted", "coverage"]].round(2)
    return table.join(costs)


def paper_table() -> pd.DataFrame:
    """The paper's rows, ``MRecall@100 / Recall@100`` in points, by encoder."""
    columns = published("rvr_ablation")["retrievers"]
    rows: dict[str, dict[str, str]] = {}
    for encoder, systems in published("rvr_main")["rows"].items():
        for system, values in systems.items():
            rows.setdefault(system, {})[encoder] = _pair(values)
    for system, found in published("rvr_ablation")["rows"].items():
        for encoder, values in zip(columns, found, strict=True):
            rows.setdefault(system, {})[encoder] = _pair(values)
    table = pd.DataFrame.from_dict(rows, orient="index")[columns].rename_axis("row")
    return table


def efficiency_beside_paper(counts: pd.DataFrame, best: tuple[str, str]) -> pd.DataFrame:
    """Searches and verdicts per question, ours and the paper's agents, which are not run here.

    Parameters
    ----------
    counts : of :func:`mtrlib.reporting.rvr_grid.efficiency`.
    best : system and verifier of ours that stands beside the paper's RVR.
    """
    system, verifier = best
    own = counts[(counts["system"] == system) & (counts["verifier"] == verifier)]
    rows: list[dict[str, Any]] = [
        {
            "system": label(system, verifier),
            "source": f"ours, {r['encoder']}",
            "searches": r["searches"],
            "judged": r["judged"],
            "status": "measured",
        }
        for r in own.to_dict("records")
    ]
    for name, values in published("rvr_efficiency")["rows"].items():
        shown = {"system": name, "source": "paper", "searches": values["searches"]}
        rows.append({**shown, "seconds": values["seconds"], "status": DIFFERENT_SETUP})
        if name != "rvr":
            rows.append({"system": name, "source": "ours", "status": NOT_RUN})
    return pd.DataFrame(rows)


def real_rows(real: Mapping[str, pd.DataFrame], rule: str = "passages") -> pd.DataFrame:
    """Recall and MRecall of ``make real`` on INSCIT, in points; empty where not measured."""
    if "rvr_inscit" not in real:
        return pd.DataFrame()
    found = real["rvr_inscit"]
    table = found[found["rule"] == rule].pivot_table(
        index=["system", "verifier", "n"], columns="measure", values="value", sort=False
    )
    return (100 * table).round(1)


def _pair(values: Sequence[float | None]) -> str:
    return " / ".join("–" if v is None else f"{v:.2f}" for v in values)


def _sure(profile: Profile) -> dict[str, Any]:
    return {"resamples": profile.RESAMPLES, "confidence": profile.CONFIDENCE}
