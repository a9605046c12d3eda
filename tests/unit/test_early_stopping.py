"""Early stopping: when it stops, what it saves, and that it never decides unread."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from mtrlib.data.schema import Passage, Run
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import InputError
from mtrlib.rvr.early_stopping import EarlyStopping, trade_off
from mtrlib.rvr.settings import Verified
from mtrlib.rvr.trace import NOT_JUDGED, RvrResult
from mtrlib.rvr.verifiers import OracleVerifier


class Oracle(OracleVerifier):
    """Keeps its batches."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[str] = []

    def verify(self, pairs: Sequence[tuple[ListQuestion, Passage]]) -> list[Verified]:
        self.batches.append(" ".join(p.passage_id for _, p in pairs))
        return super().verify(pairs)


def pairs_of(question_id: str, n: int, gold: str = "") -> list[tuple[ListQuestion, Passage]]:
    q = ListQuestion(question_id, "?", gold=tuple(f"{question_id}{i}" for i in gold))
    return [(q, Passage(f"{question_id}{i}", "text")) for i in range(n)]


def stopping(values: dict[str, float], threshold: float, **options) -> EarlyStopping:
    def probability(pairs):
        return np.array([values[p.passage_id] for _, p in pairs])

    return EarlyStopping(probability, Oracle(), threshold, **options)


FALLING = {"a0": 0.9, "a1": 0.1, "a2": 0.8, "a3": 0.2, "a4": 0.05}


def test_a_threshold_of_zero_reads_all():
    verifier = stopping(FALLING, 0.0, step=2)
    found = verifier.verify(pairs_of("a", 5, "02"))
    assert [v.accepted for v in found] == [True, False, True, False, False]
    assert (verifier.calls, verifier.skipped) == (5, 0)
    # the most promising first, whatever their rank; verdicts come back in rank order
    assert verifier.verifier.batches == ["a0 a2", "a3 a1", "a4"]


def test_a_threshold_of_zero_reads_also_what_the_scorer_rules_out():
    verifier = stopping(dict.fromkeys(FALLING, 0.0), 0.0)
    verifier.verify(pairs_of("a", 5))
    assert (verifier.calls, verifier.skipped) == (5, 0)


def test_it_stops_when_little_more_is_expected():
    # sum 2.05; after a0, a2: rest 0.35, rate (1 + 2) / (1 + 1.7) = 1.11 -> 0.39 expected
    read_on = stopping(FALLING, 0.38, step=2)
    read_on.verify(pairs_of("a", 5, "02"))
    assert read_on.calls == 4  # then rest 0.05
    stop = stopping(FALLING, 0.40, step=2)
    found = stop.verify(pairs_of("a", 5, "02"))
    assert (stop.calls, stop.skipped) == (2, 3)
    assert [v.reason for v in found] == ["", NOT_JUDGED, "", NOT_JUDGED, NOT_JUDGED]
    assert not any(v.accepted for v in found if v.reason)


def test_what_was_read_corrects_the_scorer():
    # none of the first two accepted: rate 1 / 2.7, so 0.13 expected where 0.39 was
    values = dict.fromkeys(FALLING, 0.5)
    optimist = stopping(values, 0.9, step=2)
    optimist.verify(pairs_of("a", 5))  # rest 1.5, rate 1 / 2 -> 0.75
    assert optimist.calls == 2
    right = stopping(values, 0.9, step=2)
    right.verify(pairs_of("a", 5, "0123"))  # rate (1 + 2) / 2 -> 2.25, then 0.5 * 5 / 3 = 0.83
    assert right.calls == 4
    stubborn = stopping(values, 0.9, step=2, weight=1e9)
    stubborn.verify(pairs_of("a", 5))  # the scorer's word alone: 1.5, then 0.5
    assert stubborn.calls == 4


def test_all_open_questions_share_a_batch():
    values = {**FALLING, "b0": 0.01, "b1": 0.01, "c0": 0.7, "c1": 0.7, "c2": 0.7}
    verifier = stopping(values, 0.3, step=2)
    mixed = [*pairs_of("a", 2, "0"), *pairs_of("b", 2), *pairs_of("c", 3, "012")]
    verifier.verify(mixed)
    assert verifier.verifier.batches == ["a0 a1 c0 c1", "c2"]
    assert verifier.skipped == 2


def test_unread_passages_still_carry_their_probability():
    found = stopping(FALLING, 9.0).verify(pairs_of("a", 5))
    assert [v.score for v in found] == list(FALLING.values())


@pytest.mark.parametrize("wrong", [{"step": 0}, {"weight": 0.0}, {"threshold": -1.0}])
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        EarlyStopping(lambda p: np.zeros(len(p)), Oracle(), **{"threshold": 0.5, **wrong})


def result(asked: tuple[int, int], run_name: str) -> RvrResult:
    costs = pd.DataFrame([{"calls": asked[0], "cached": asked[1]}])
    empty = pd.DataFrame()
    return RvrResult(Run(run_name, {}), empty, costs, empty, empty)


def test_trade_off_pairs_each_cheaper_verifier_with_the_full_one():
    full, cheap = OracleVerifier(name="full"), OracleVerifier(name="cheap")
    values = {"full": [1.0, 1.0, 0.5, 0.5], "cheap": [1.0, 0.5, 0.5, 0.5]}
    results = {"full": result((30, 70), "full"), "cheap": result((40, 0), "cheap")}

    def measure(run: Run) -> pd.DataFrame:
        return pd.DataFrame({"Recall": values[run.system]}, index=list("abcd"))

    table = trade_off(
        lambda verifier: results[verifier.name],
        measure,
        full,
        [cheap, full],
        resamples=200,
        confidence=0.9,
        rng=np.random.default_rng(1),
    )
    assert list(table["verifier"]) == ["cheap", "full"]
    # replayed verdicts count as asked: the same table from a cold and from a warm store
    assert list(table["share"]) == [0.4, 1.0]
    first = table.iloc[0]
    assert (first["full"], first["value"], first["difference"]) == (0.75, 0.625, -0.125)
    assert first["low"] <= -0.125 <= first["high"]
    assert (table.iloc[1]["low"], table.iloc[1]["high"]) == (0, 0)
    results["full"] = result((0, 0), "full")
    with pytest.raises(InputError, match="asked nothing"):
        trade_off(
            lambda verifier: results[verifier.name],
            measure,
            full,
            [cheap],
            resamples=9,
            confidence=0.9,
            rng=np.random.default_rng(1),
        )
