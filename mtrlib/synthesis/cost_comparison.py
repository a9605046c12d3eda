"""Machine cost beside human cost, and their ratio as a range.

The paper gives 1/400 without its breakdown; a range here is as wide as what it rests on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from mtrlib.errors import InputError
from mtrlib.synthesis.cost import CostLedger
from mtrlib.synthesis.human_cost import HumanCost, Span

PEOPLE = "people"
AS_RUN = "as run"


def cost_ratio(machine: Span | None, people: Span) -> Span | None:
    """Machine cost over human cost: lowest over highest, and highest over lowest.

    None where the machine's cost is unknown, or 0: a price of 0 leaves out the computer that
    did the work, and is no share of anything.

    >>> cost_ratio((1.0, 2.0), (100.0, 400.0))
    (0.0025, 0.02)
    """
    if machine is None or machine[1] == 0:
        return None
    return machine[0] / people[1], machine[1] / people[0]


def compare_costs(
    ledger: CostLedger,
    human: HumanCost,
    *,
    conversations: int,
    turns: int,
    as_if: Sequence[str] = (),
) -> pd.DataFrame:
    """Cost per conversation and per turn that went out, people beside machines, and the ratio.

    What was rejected on the way is paid too, so all tokens are spread over what went out.

    Parameters
    ----------
    conversations, turns : that went out.
    as_if : models at whose prices the same tokens are shown as well.

    Returns
    -------
    DataFrame
        One row for people, one at the run's own prices (``as run``), one per model. Columns:
        ``who, conversation_low, conversation_high, turn_low, turn_high, ratio_low,
        ratio_high, currency, note``; the ratios are of machine to human cost.

    Raises
    ------
    InputError
        Nothing went out, or people and machines are paid in two currencies.
    """
    if conversations < 1 or turns < conversations:
        raise InputError(
            f"{turns} turns in {conversations} conversations have no cost each. "
            "Mend: count what went out; a run that made nothing has a total only."
        )
    people = human.per_conversation(turns / conversations)
    per_turn = human.per_turn(turns / conversations)
    rows = [_row(PEOPLE, people, per_turn, None, human.currency, f"assumed, {human.date}")]
    for model in ("", *as_if):
        total, currency = ledger.cost(model), ledger.currency(model)
        if currency not in ("", human.currency):
            raise InputError(
                f"machines are priced in {currency}, people in {human.currency}. "
                "Mend: use one currency in the table of prices and in human_cost.yaml."
            )
        each, one = (None if total is None else (total[0] / n, total[1] / n)
                     for n in (conversations, turns))  # fmt: skip
        note = "price or tokens unknown" if total is None else ""
        note = "priced at 0, the computer is not counted" if total and not total[1] else note
        rows.append(_row(model or AS_RUN, each, one, cost_ratio(each, people), currency, note))
    return pd.DataFrame(rows)


def _row(
    who: str, each: Span | None, turn: Span | None, ratio: Span | None, currency: str, note: str
) -> dict[str, Any]:
    unknown = (float("nan"), float("nan"))
    ends = {"conversation": each or unknown, "turn": turn or unknown, "ratio": ratio or unknown}
    named = {f"{n}_{end}": s[i] for n, s in ends.items() for i, end in enumerate(("low", "high"))}
    return {"who": who, **named, "currency": currency, "note": note}
