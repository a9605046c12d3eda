"""Every published number beside ours, with a status that says what the pair is worth.

A number of ours is held against the published one only where it was made in the same setup: the
settings that the block requires, the paper's own systems, as many queries. Everything else stands
beside it, without a difference.
"""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from mtrlib.profiles import Profile
from mtrlib.reporting.counterparts import OurResults, Ours, ours_beside
from mtrlib.reporting.published import (
    DIFFERENT_SETUP,
    NOT_RUN,
    PublishedNumber,
    published_numbers,
)

OK, WITHIN, FAIL = "OK", "WITHIN", "FAIL"
STATUSES = (OK, WITHIN, FAIL, DIFFERENT_SETUP, NOT_RUN)
COLUMNS = (
    "work artefact where number kind paper ours delta tolerance unit n_paper n status "
    "paper_setup setup notebook headline"
).split()


def matrix(profile: Profile) -> pd.DataFrame:
    """One row per published number of ``data/paper/expected.yaml``, in its order.

    Parameters
    ----------
    profile : whose results are shown: those of its own run (``build/<tag>``), and for a plain
        ``default`` those that are committed, where that run left none.

    Returns
    -------
    DataFrame
        ``work, artefact, where`` (place in the source), ``number, kind`` (result or setting),
        ``paper, ours, delta, tolerance, unit, n_paper, n, status, paper_setup, setup, notebook,
        headline`` (its words in README.md, if it stands there). ``delta`` is ours less the
        paper's, in ``unit``, and empty unless both were made in one setup.
    """
    found = OurResults(profile)
    return pd.DataFrame([_row(number, found) for number in published_numbers()], columns=COLUMNS)


def status(number: PublishedNumber, ours: Ours | None) -> str:
    """What the pair is worth.

    ``OK``: equal within the rounding of the published number. ``WITHIN``: within its tolerance.
    ``FAIL``: neither, also where ours is better. A zero never is ``WITHIN``.
    """
    if ours is None:
        return NOT_RUN
    if not ours.same_setup:
        return DIFFERENT_SETUP
    off = abs(ours.value - number.value)
    if off <= 0.5 * 10**-number.decimals + 1e-9:
        return OK
    within = number.tolerance is not None and off <= number.tolerance + 1e-9
    return WITHIN if within and ours.value != 0 else FAIL


def counts(found: pd.DataFrame) -> pd.DataFrame:
    """How many numbers of each work and kind have which status; columns in a fixed order.

    A setting that equals the published one is no result: the two are counted apart.
    """
    table = pd.crosstab([found["work"], found["kind"]], found["status"])
    order = list(dict.fromkeys(zip(found["work"], found["kind"], strict=True)))
    table = table.reindex(order).reindex(columns=list(STATUSES), fill_value=0)
    return table.rename_axis(index=["work", "kind"], columns=None)


def failures(found: pd.DataFrame) -> list[str]:
    """One sentence per number of ours that misses the published one in the same setup."""
    return [
        f"{row['artefact']}, {row['number']}: paper {row['paper']:g}, ours {row['ours']:g} "
        f"({row['unit']}), tolerance {row['tolerance']:g}; see {row['notebook']}"
        for row in found[found["status"] == FAIL].to_dict("records")
    ]


def made_up_rows() -> pd.DataFrame:
    """The statuses of invented numbers, to show that every one of them can be reached.

    Each row takes the first published result that has a tolerance and sets an invented number
    beside it. None of it was measured.
    """
    number = next(n for n in published_numbers() if n.tolerance and n.about.get("n"))
    value, within = number.value, number.tolerance or 0.0
    n = number.about["n"]
    rows = {
        "the published number itself": Ours(value, n, same_setup=True),
        "off by half the tolerance": Ours(value - within / 2, n, same_setup=True),
        "better by twice the tolerance": Ours(value + 2 * within, n, same_setup=True),
        "zero": Ours(0.0, n, same_setup=True),
        "the published number, other data": Ours(value, n),
        "no number": None,
    }
    made = [
        (what, number.value, ours.value if ours else math.nan, status(number, ours))
        for what, ours in rows.items()
    ]
    return pd.DataFrame(made, columns=["invented", "paper", "ours", "status"])


def _row(number: PublishedNumber, found: OurResults) -> dict[str, Any]:
    ours = ours_beside(number, found)
    about, verdict = number.about, status(number, ours)
    held = verdict in (OK, WITHIN, FAIL)
    return {
        "work": about["work"],
        "artefact": number.block,
        "where": about["source"],
        "number": number.name,
        "kind": "setting" if "settings" in about["ours"] else "result",
        "paper": number.value,
        "ours": ours.value if ours else math.nan,
        "delta": ours.value - number.value if ours and held else math.nan,
        "tolerance": math.nan if number.tolerance is None else float(number.tolerance),
        "unit": number.unit,
        "n_paper": about.get("n"),
        "n": ours.n if ours else None,
        "status": verdict,
        "paper_setup": about["setup"],
        "setup": ours.setup if ours else "",
        "notebook": about["notebook"],
        "headline": about.get("headline", {}).get(number.name, ""),
    }
