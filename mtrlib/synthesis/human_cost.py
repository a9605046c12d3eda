"""What people would have cost, from the assumptions stated in ``human_cost.yaml``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from mtrlib.errors import InputError

Span = tuple[float, float]
STEPS = ("write_question", "find_gold", "write_answer", "check")


@dataclass(frozen=True)
class HumanCost:
    """Assumptions about people, each as its low and its high value.

    Attributes
    ----------
    turns_per_conversation : where no conversations are counted.
    minutes_per_conversation : before the first turn.
    minutes_per_turn : by step, for ``STEPS``.
    hourly_wage : in ``currency``.
    overhead : factor on wages, at least 1.
    """

    turns_per_conversation: Span
    minutes_per_conversation: Span
    minutes_per_turn: Mapping[str, Span]
    hourly_wage: Span
    overhead: Span
    currency: str
    date: str

    def per_conversation(self, turns: float | None = None) -> Span:
        """Cost of a conversation.

        ``(minutes_per_conversation + turns * sum of minutes_per_turn) / 60 * hourly_wage *
        overhead``, with all low values and with all high ones.

        Parameters
        ----------
        turns : mean number of turns; None takes the assumption.
        """
        low, high = (self._cost(i, self._turns(turns)[i]) for i in (0, 1))
        return low, high

    def per_turn(self, turns: float | None = None) -> Span:
        """Cost of a turn, its share of the conversation included; parameters as above."""
        few, many = self._turns(turns)
        # the more turns, the less of the conversation's own minutes falls to each
        return self._cost(0, many) / many, self._cost(1, few) / few

    def table(self) -> pd.DataFrame:
        """One row per assumption and per result: ``low, high, unit``, indexed by ``what``."""
        rows = {
            "turns per conversation": (*self.turns_per_conversation, "turns"),
            "minutes per conversation": (*self.minutes_per_conversation, "minutes"),
            **{
                f"{step.replace('_', ' ')}, per turn": (*self.minutes_per_turn[step], "minutes")
                for step in STEPS
            },
            "hourly wage": (*self.hourly_wage, self.currency),
            "overhead on wages": (*self.overhead, "factor"),
            "cost per turn": (*self.per_turn(), self.currency),
            "cost per conversation": (*self.per_conversation(), self.currency),
        }
        table = pd.DataFrame.from_dict(rows, orient="index", columns=["low", "high", "unit"])
        return table.rename_axis("what")

    def _turns(self, turns: float | None) -> Span:
        return self.turns_per_conversation if turns is None else (turns, turns)

    def _cost(self, end: int, turns: float) -> float:
        per_turn = sum(span[end] for span in self.minutes_per_turn.values())
        minutes = self.minutes_per_conversation[end] + turns * per_turn
        return minutes / 60 * self.hourly_wage[end] * self.overhead[end]


def load_human_cost(path: Path | str | None = None) -> HumanCost:
    """Read the assumptions; None = those of the library.

    Raises
    ------
    InputError
        A value is missing, unknown, or no pair with ``0 <= low <= high``; file and value are
        named.
    """
    where = Path(
        str(files("mtrlib.synthesis").joinpath("human_cost.yaml")) if path is None else path
    )
    if not where.is_file():
        raise InputError.at(where, None, "no such file", "check the path")
    stated = yaml.safe_load(where.read_text(encoding="utf-8-sig")) or {}
    names = [n for n in HumanCost.__dataclass_fields__ if n not in ("currency", "date")]
    _same_names(where, "", stated, [*names, "currency", "date"])
    steps = stated["minutes_per_turn"]
    _same_names(where, "minutes_per_turn: ", steps, STEPS)
    spans: dict[str, Any] = {
        n: _span(where, n, stated[n]) for n in names if n != "minutes_per_turn"
    }
    spans["minutes_per_turn"] = {s: _span(where, s, steps[s]) for s in STEPS}
    for name, least in (("turns_per_conversation", 1), ("hourly_wage", 0.01), ("overhead", 1)):
        if spans[name][0] < least:
            raise InputError.at(where, None, f"{name} is below {least}", "give a larger low value")
    return HumanCost(**spans, currency=str(stated["currency"]), date=str(stated["date"]))


def _same_names(where: Path, inside: str, stated: Any, wanted: Sequence[str]) -> None:
    odd = sorted(set(stated if isinstance(stated, Mapping) else ()) ^ set(wanted), key=str)
    if odd:
        raise InputError.at(
            where,
            None,
            f"{inside}{', '.join(map(str, odd))}: missing or unknown",
            f"it holds {', '.join(wanted)}",
        )


def _span(where: Path, name: str, value: Any) -> Span:
    ends = (value.get("low"), value.get("high")) if isinstance(value, Mapping) else ()
    # a bool is an int in Python, and no number here
    found = [float(end) for end in ends if isinstance(end, int | float) and type(end) is not bool]
    if len(found) == 2 and 0 <= found[0] <= found[1] < float("inf"):
        return found[0], found[1]
    raise InputError.at(where, None, f"{name} is {value!r}", "give low and high, 0 <= low <= high")
