"""Plain sentences about the audit, made of the numbers of its tables."""

from __future__ import annotations

import math

import pandas as pd

from mtrlib.audit.confirmation import opening
from mtrlib.audit.items import ItemSet


def validity_sentences(verdicts: pd.DataFrame, matrix: pd.DataFrame) -> list[str]:
    """Per judge, what its metrics feel: one sentence for each metric it gives.

    Parameters
    ----------
    verdicts : of :func:`mtrlib.audit.dose_response.validity`.
    matrix : of :func:`mtrlib.audit.dose_response.cross_sensitivity`.
    """
    falls = matrix[matrix["own"]].set_index(["judge", "metric"])["monotone"]
    said = []
    for row in verdicts.to_dict("records"):
        who = f"{row['judge']}, {row['metric']}"
        if row["valid"] == "n/a":
            continue
        course = "falls" if falls[row["judge"], row["metric"]] else "does not fall"
        verdict = "valid" if row["valid"] == "yes" else f"not valid ({row['why']})"
        own = f"{row['own_damage']} ({row['change']:+.2f} points at the highest)"
        other = f"{row['other_damage']} ({row['other_change']:+.2f})"
        said.append(
            f"{who}: {course} with every dose of {own}; of the others most with {other}; {verdict}"
        )
    return said


def estimate_sentences(estimates: pd.DataFrame) -> list[str]:
    """One sentence per set: noise, sparsity and credibility with their intervals."""
    said = []
    for name, part in estimates.groupby("set", sort=False):
        shown = []
        for row in part.to_dict("records"):
            if math.isnan(row["value"]):
                shown.append(f"{row['quantity']} cannot be told")
                continue
            text = f"{row['quantity']} {100 * row['value']:.0f}%"
            text += f" [{100 * row['ci_low']:.0f}, {100 * row['ci_high']:.0f}]"
            if not math.isnan(row["planted"]):
                text += f" ({100 * row['planted']:.0f}% planted)"
            shown.append(text)
        said.append(f"{name}: {', '.join(shown)}")
    return said


def provenance(tables: dict[str, pd.DataFrame]) -> list[str]:
    """When and on what the tables of ``make real`` were measured; says so where there is none."""
    said = [
        f"{name}: measured on {found.attrs['date']}, packs {', '.join(found.attrs['packs'])}, "
        f"seed {found.attrs['seed']}"
        for name, found in tables.items()
    ]
    return said or ["nothing measured here yet: `make real` needs MTR_REAL_DATA"]


def worked_cases(suspects: pd.DataFrame, items: ItemSet, n: int = 5) -> pd.DataFrame:
    """The first suspects for people to look at: ids, titles and twelve words, no more text."""
    by_item = {item.item_id: item for item in items.items}
    by_passage = {p.passage_id: p for p in items.passages}
    rows = []
    for row in suspects.head(n).to_dict("records"):
        item, passage = by_item[row["item_id"]], by_passage[row["passage_id"]]
        rows.append(
            {
                "item_id": row["item_id"],
                "passage_id": row["passage_id"],
                "p": row["p"],
                "over_best": row["over_best"],
                "title": passage.title,
                "opening": opening(passage.text),
                "marked": ", ".join(g.passage_id for g in item.gold),
            }
        )
    columns = ["item_id", "passage_id", "p", "over_best", "title", "opening", "marked"]
    return pd.DataFrame(rows, columns=columns)
