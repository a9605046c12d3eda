"""Calls saved: early stopping and cascades beside the verifier that reads everything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import pandas as pd

from mtrlib.data.schema import Run
from mtrlib.evaluation.multi_answer import multi_answer
from mtrlib.profiles import Profile
from mtrlib.reporting.rvr_grid import Grid
from mtrlib.reporting.rvr_verifiers import LOCAL, Verifiers
from mtrlib.rvr.early_stopping import EarlyStopping, trade_off
from mtrlib.rvr.settings import Verifier
from mtrlib.rvr.trace import RvrResult
from mtrlib.rvr.verifiers import Cascade, Score, ScoreVerifier

CONFIDENCE = 0.9  # of the paired intervals here: one-sided bounds of 95%
EXPECTED = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0)  # acceptances still expected
SHARES = (0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.6, 0.8)  # of the calibration pairs inside a band
MOST_CALLS, MOST_LOSS = 0.4, 0.02
CHEAPEST = "minilm"  # a cosine that a dense search has anyway


def savings(
    run: Callable[[Verifier], RvrResult],
    measure: Callable[[Run], pd.DataFrame],
    full: Callable[[], Verifier],
    cheap: str,
    probability: Score,
    bands: Mapping[float, tuple[float, float]],
    profile: Profile,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Early stopping by every threshold and cascades by every band.

    Parameters
    ----------
    run, measure : as :func:`mtrlib.rvr.early_stopping.trade_off`.
    full : makes the verifier that reads everything.
    cheap, probability : name of the cheap scorer, and its calibrated probability of support.
    bands : of probability, by the share of the calibration pairs that they hold.

    Returns
    -------
    DataFrame
        As of ``trade_off``, with ``way`` and ``setting``.
    """
    ways: dict[str, list[tuple[str, Verifier]]] = {
        f"early stopping by {cheap}, {full().name} reads": [
            (f"until {t:g} expected", EarlyStopping(probability, full(), t)) for t in EXPECTED
        ],
        f"cascade from {cheap} to {full().name}": [
            (f"{share:.0%} of calibration", _cascade(cheap, probability, *band, full()))
            for share, band in bands.items()
        ],
    }
    found = []
    for way, verifiers in ways.items():
        table = trade_off(
            run,
            measure,
            full(),
            [v for _, v in verifiers],
            resamples=profile.RESAMPLES,
            confidence=CONFIDENCE,
            rng=rng,
        )
        setting = {v.name: text for text, v in verifiers}
        found.append(table.assign(way=way, setting=table["verifier"].map(setting)))
    return pd.concat(found, ignore_index=True)


def cheap_and_full(best: str) -> list[tuple[str, str]]:
    """Which scorer saves calls of which verifier: the best local judge of an oracle's, and the
    encoder's cosine of the best local judge's.
    """
    pairs = ((best, "oracle"), (CHEAPEST, best))
    return [(cheap, full) for cheap, full in pairs if cheap in LOCAL and cheap != full]


def for_grid(
    grid: Grid, verifiers: Verifiers, best: str, system: str, rng: np.random.Generator
) -> pd.DataFrame:
    """:func:`savings` on a grid's questions, by the best local judge before an oracle, and by
    the cosine of the encoder before the best local judge.
    """
    profile = grid.profile
    encoder = next(iter(grid.retrievers.trained))
    lists = grid.retrievers.lists

    def run(verifier: Verifier) -> RvrResult:
        return grid.run(encoder, system, verifier)

    def measure(found: Run) -> pd.DataFrame:
        return multi_answer(
            grid.questions, found, lists.by_id, k=profile.LIST_K, rule=profile.LIST_RULE
        ).per_question

    return pd.concat(
        [
            savings(
                run,
                measure,
                partial(verifiers.make, full, accept=1),
                cheap,
                verifiers.probability(cheap),
                verifiers.bands(cheap, SHARES),
                profile,
                rng,
            )
            for cheap, full in cheap_and_full(best)
        ],
        ignore_index=True,
    )


def _cascade(cheap: str, probability: Score, low: float, high: float, full: Verifier) -> Cascade:
    named = f"{cheap}>{full.name} {low:.4f} to {high:.4f}"
    return Cascade(ScoreVerifier(cheap, probability, 0.5), low, high, full, name=named)
