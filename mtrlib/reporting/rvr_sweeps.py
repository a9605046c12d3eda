"""One setting of RVR at a time: budget, rounds, context, and what may come back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mtrlib.data.tasks import ListQuestion
from mtrlib.profiles import Profile
from mtrlib.reporting.rvr_grid import Grid
from mtrlib.reporting.rvr_retrievers import Retrievers
from mtrlib.reporting.rvr_tables import means
from mtrlib.rvr.settings import Verifier
from mtrlib.rvr.trace import round_gains


def sweep(
    retrievers: Retrievers,
    questions: Sequence[ListQuestion],
    profile: Profile,
    rng: np.random.Generator,
    *,
    systems: Sequence[str],
    verifiers: Mapping[str, Callable[[], Verifier]],
    setting: str,
    values: Sequence[Any],
    encoder: str = "",
    **fixed: Any,
) -> pd.DataFrame:
    """Means under every value of a setting, all else fixed.

    Parameters
    ----------
    verifiers : name -> makes a fresh one.
    setting : field of :class:`mtrlib.rvr.settings.RvrSettings`.
    encoder : the profile's first by default.
    fixed : other fields of the settings.

    Returns
    -------
    DataFrame
        As :func:`mtrlib.reporting.rvr_tables.means` under the profile's rule, with a column
        named ``setting`` and ``judged``, verdicts asked per question.
    """
    found = []
    for value in values:
        grid = Grid(retrievers, profile, questions)
        asked = {}
        for system in systems:
            for name, make in verifiers.items():
                result = grid.loop(
                    encoder or profile.ENCODERS[0], system, make(), **{**fixed, setting: value}
                )
                asked[system, name] = result.asked / len(questions)
        scored = grid.per_question
        table = means(scored[scored["rule"] == profile.LIST_RULE], profile, rng)
        judged = [asked[s, v] for s, v in zip(table["system"], table["verifier"], strict=True)]
        found.append(table.assign(**{setting: value}, judged=judged))
    return pd.concat(found, ignore_index=True)


def all_round_gains(grid: Grid) -> pd.DataFrame:
    """:func:`mtrlib.rvr.trace.round_gains` of every run of the loop."""
    return pd.concat(
        [
            round_gains(result.trace)
            .reset_index()
            .assign(encoder=encoder, system=system, verifier=verifier)
            for (encoder, system, verifier), result in grid.results.items()
        ],
        ignore_index=True,
    )


def gains_table(gains: pd.DataFrame, encoder: str) -> pd.DataFrame:
    """The gains of one encoder to read: per run and round, rounded."""
    own = gains[gains["encoder"] == encoder].set_index(["system", "verifier", "round"])
    return own[["retrieved", "accepted", "new_gold", "new_answers", "answers_per_accepted"]].round(
        2
    )


def stacked(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Sweeps in one table; the name of each is added to its systems."""
    return pd.concat(
        [t.assign(system=t["system"] + f" ({name})") for name, t in tables.items()],
        ignore_index=True,
    )


def budgets(profile: Profile) -> list[int]:
    """B from a tenth of the profile's to all of it; 0 = nothing is verified."""
    return sorted({0, *(max(1, round(profile.BUDGET * part / 10)) for part in (1, 2, 4, 6, 8, 10))})


def rounds(profile: Profile) -> list[int]:
    """T from a single round to the paper's five."""
    return [1, 2, 3, 4, 5]


def contexts(profile: Profile) -> list[int]:
    """M from none to twice the profile's."""
    return list(range(2 * max(1, profile.CONTEXT or 6) + 1))
