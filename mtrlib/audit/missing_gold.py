"""Suspected missing gold: unmarked passages that a judge takes for support, and a check of them.

People confirm them with :mod:`mtrlib.audit.confirmation`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

import pandas as pd

from mtrlib.audit.estimates import turn_scores
from mtrlib.errors import InputError
from mtrlib.evaluation.calibration import wilson_interval


def suspects(
    pairs: pd.DataFrame,
    *,
    by: Literal["p", "over_best", "over_weakest"] = "p",
    most_per_turn: int = 3,
) -> pd.DataFrame:
    """Unmarked passages, the most suspect first.

    Parameters
    ----------
    pairs : columns as of :func:`mtrlib.audit.estimates.turn_scores`; further ones stay.
    by : the default ranks by p itself: if p is a probability, the first n then hold the most
        missing gold that any n can hold (probability ranking principle). ``over_best`` and
        ``over_weakest`` rank by the lead over the turn's gold, for judges that score some
        questions high as a whole; turns without gold then come last. With MiniLM cosines on
        INSCIT the three do about equally well.
    most_per_turn : at most so many of a turn, so that one turn does not fill the list.

    Returns
    -------
    DataFrame
        The rows of unmarked passages with a p, with ``rank`` from 1, ``over_best`` and
        ``over_weakest``. Ties go by item id and passage id.

    References
    ----------
    Robertson, "The probability ranking principle in IR", 1977.
    """
    keys = ["set", "item_id", "conversation_id"]
    found = pairs[~pairs["marked"].astype(bool) & pairs["p"].notna()]
    found = found.merge(turn_scores(pairs)[[*keys, "best_gold", "weakest_gold"]], on=keys)
    found["over_best"] = found["p"] - found["best_gold"]
    found["over_weakest"] = found["p"] - found["weakest_gold"]
    order = [by, "item_id", "passage_id"]
    found = found.sort_values(order, ascending=[False, True, True], na_position="last")
    found = found[found.groupby(["set", "item_id"]).cumcount() < most_per_turn]
    found = found.drop(columns=["best_gold", "weakest_gold", "marked"]).reset_index(drop=True)
    found.insert(0, "rank", found.index + 1)
    return found


def recovery(
    found: pd.DataFrame,
    hidden: Collection[tuple[str, str]],
    *,
    at: Sequence[int] = (10, 20, 50, 100, 200, 500),
    confidence: float = 0.95,
) -> pd.DataFrame:
    """How much hidden gold the first n suspects hold.

    Parameters
    ----------
    found : as :func:`suspects` gives it, best first.
    hidden : ``(item_id, passage_id)`` that were gold and were taken away, for example what
        only the second annotator had marked.
    at : cutoffs; those beyond the list are left out and the whole list is added, whose
        precision is that of a list in random order.

    Returns
    -------
    DataFrame
        ``n, n_found, precision, ci_low, ci_high`` (Wilson), ``recall`` (of all hidden
        pairs, also those outside the pool).

    Raises
    ------
    InputError
        No suspects, or nothing hidden.
    """
    if not hidden or found.empty:
        raise InputError(
            "no suspects or nothing hidden: recovery is not defined. "
            "Mend: hide gold of a set in which it is known."
        )
    wanted = set(hidden)
    hits = pd.Series(
        [pair in wanted for pair in zip(found["item_id"], found["passage_id"], strict=True)]
    ).cumsum()
    rows = []
    for n in [*(n for n in at if n < len(found)), len(found)]:
        count = int(hits.iloc[n - 1])
        interval = wilson_interval(count, n, confidence)
        rows.append((n, count, count / n, *interval, count / len(wanted)))
    return pd.DataFrame(rows, columns=["n", "n_found", "precision", "ci_low", "ci_high", "recall"])
