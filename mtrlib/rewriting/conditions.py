"""Conditions of a launch gate: a measured value against its threshold, by value and interval."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from mtrlib.rewriting.sample_size import at, n_to_settle

MET, FAILED, OPEN, NOT_MEASURED = "met", "failed", "undecided", "not measured"


@dataclass(frozen=True)
class Condition:
    """One condition and how it stands.

    Attributes
    ----------
    name : what is measured.
    value, low, high : with its interval; NaN = none.
    threshold : in the unit of the value.
    wanted : ``above``, ``below`` or ``not below``; only the last one includes the threshold.
    state : ``met``, ``failed``, ``undecided`` (the interval holds the threshold) or ``not
        measured``.
    n : queries behind the value.
    n_needed : queries that would settle it; None = settled, or no number does.
    note : what else to know.
    """

    name: str
    value: float
    low: float
    high: float
    threshold: float
    wanted: str
    state: str
    n: int
    n_needed: int | None = None
    note: str = ""

    @property
    def text(self) -> str:
        """One line: "in-prompt rate 0.121 [0.080, 0.160], wanted above 0.25: failed"."""
        shown = "–" if math.isnan(self.value) else f"{self.value:.3f}"
        if not math.isnan(self.low):
            shown += f" [{self.low:.3f}, {self.high:.3f}]"
        note = f" ({self.note})" if self.note else ""
        return f"{self.name} {shown}, wanted {self.wanted} {self.threshold:g}: {self.state}{note}"


def condition(
    name: str,
    value: float,
    threshold: float,
    wanted: str,
    *,
    low: float = math.nan,
    high: float = math.nan,
    n: int = 0,
    note: str = "",
) -> Condition:
    """Judge a value.

    Without an interval the value decides alone. With one, both of its ends must lie on the
    side of the value; else the condition is undecided and says which n would settle it. [D]
    ``not below`` asks for no proof of a gain: the value decides if it is not below, and if it
    is, only an interval that lies below as a whole fails it. [D]

    Examples
    --------
    >>> condition("in-prompt rate", 0.25, 0.25, "above").state
    'failed'
    >>> condition("nDCG@5 change", 0.0, 0.0, "not below", low=-0.1, high=0.1).state
    'met'
    """
    if math.isnan(value):
        return Condition(name, value, low, high, threshold, wanted, NOT_MEASURED, n, None, note)
    state = _state(value, threshold, wanted, low, high)
    needed = n_to_settle(value, low, high, n, (threshold,)) if state == OPEN else None
    return Condition(name, value, low, high, threshold, wanted, state, n, needed, note)


def _state(value: float, threshold: float, wanted: str, low: float, high: float) -> str:
    holds = _holds(value, threshold, wanted)
    if math.isnan(low):
        return MET if holds else FAILED
    if wanted == "not below":
        return MET if holds else OPEN if _holds(high, threshold, wanted) else FAILED
    ends = {_holds(end, threshold, wanted) for end in (low, value, high)}
    return OPEN if len(ends) > 1 else MET if holds else FAILED


def _holds(value: float, threshold: float, wanted: str) -> bool:
    value = at(value)
    if wanted == "above":
        return value > threshold
    return value < threshold if wanted == "below" else value >= threshold


def condition_table(conditions: Iterable[Condition]) -> pd.DataFrame:
    """One row per condition."""
    columns = "name value low high wanted threshold state n n_needed note".split()
    rows = [[getattr(c, column) for column in columns] for c in conditions]
    return pd.DataFrame(rows, columns=columns).astype({"n_needed": "Int64"})
