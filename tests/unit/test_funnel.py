"""The funnel adds up, or says where it does not."""

from __future__ import annotations

import math

import pytest

from mtrlib.errors import InputError
from mtrlib.synthesis.drafts import DraftConversation, DraftTurn, Reject, Synthesised
from mtrlib.synthesis.funnel import funnel, reject_reasons


def made(turns: int, rejects: str, **attempts: int) -> Synthesised:
    """``rejects`` is "stage:reason stage:reason"."""
    found = [
        Reject("c1", number, *each.split(":")) for number, each in enumerate(rejects.split(), 1)
    ]
    drafted = tuple(DraftTurn(f"c1_{n}", "Q?", ("p",), "A.") for n in range(1, turns + 1))
    return Synthesised([DraftConversation("c1", ("0",), drafted)], found, attempts)


REJECTS = "query:unread query:unread query:no_gold unique:rival answerable:no"


def whole() -> Synthesised:
    return made(5, REJECTS, query=10, answerable=7, unique=6, response=5)


def test_every_stage_that_ran_has_a_row_in_order() -> None:
    table = funnel(whole()).set_index("stage")
    assert list(table.index) == ["query", "answerable", "unique", "response", "out"]
    assert table.loc["query", ["entered", "rejected", "passed"]].tolist() == [10, 3, 7]
    assert table.loc["unique", "yield"] == pytest.approx(5 / 6)
    assert table.loc["out", "passed"] == 5
    assert (table["entered"] == table["passed"] + table["rejected"]).all()


def test_the_order_in_which_stages_were_counted_does_not_matter() -> None:
    shuffled = made(5, REJECTS, response=5, unique=6, query=10, answerable=7)
    assert funnel(shuffled).equals(funnel(whole()))


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (made(5, REJECTS, query=11, answerable=7, unique=6, response=5), "query: 11 entered"),
        (made(4, REJECTS, query=10, answerable=7, unique=6, response=5), "response: 5 entered"),
        (made(5, REJECTS, query=10, answerable=7, unique=7, response=5), "answerable: 7 entered"),
        (made(0, "faithful:no"), "faithful: 0 entered, but -1"),
        (made(1, "humanise:a humanise:b", query=1, humanise=1), "humanise: 1 entered"),
        (made(1, "embellish:a", query=1), "'embellish' is unknown"),
        (made(1, "", query=1, polish=1), "'polish' is unknown"),
    ],
)
def test_numbers_that_do_not_add_up_are_refused(wrong, named) -> None:
    with pytest.raises(InputError, match=named):
        funnel(wrong)


def test_humanising_keeps_the_turn_and_switching_moves_turns() -> None:
    table = funnel(made(2, "humanise:longer", query=2, humanise=2)).set_index("stage")
    assert table.loc["humanise", ["entered", "rejected", "passed"]].tolist() == [2, 1, 1]
    assert not table.loc["humanise", "drops"] and table.loc["query", "drops"]
    assert funnel(made(3, "", query=2, switch=1)).set_index("stage").loc["out", "passed"] == 3


def test_nothing_made_is_an_empty_funnel() -> None:
    assert list(funnel(Synthesised())["stage"]) == ["out"]
    table = funnel(made(0, "", query=0)).set_index("stage")
    assert math.isnan(table.loc["query", "yield"])


def test_reasons_are_counted_per_stage() -> None:
    table = reject_reasons(whole())
    assert list(table.itertuples(index=False, name=None)) == [
        ("query", "unread", 2, 0.2),
        ("query", "no_gold", 1, 0.1),
        ("answerable", "no", 1, pytest.approx(1 / 7)),
        ("unique", "rival", 1, pytest.approx(1 / 6)),
    ]
    assert list(reject_reasons(Synthesised()).columns) == ["stage", "reason", "n", "share"]
