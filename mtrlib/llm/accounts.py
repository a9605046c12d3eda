"""The accounts of a run: what it will cost, may cost, and did cost."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from mtrlib.errors import CoverageError, InputError
from mtrlib.llm.prices import Price, Range, price_range


@dataclass(frozen=True)
class Limits:
    """Hard limits over the life of a client; None = no limit.

    Attributes
    ----------
    calls : calls at most, retries included.
    tokens : tokens in and out, as the server counts them, after which no call is begun.
    """

    calls: int | None = None
    tokens: int | None = None

    def check_need(self, calls: int, usage: Usage, alias: str) -> None:
        """Before a run: refuse one that needs more calls than are left.

        Raises
        ------
        InputError
            Both numbers are named; nothing was sent.
        """
        if self.calls is not None and calls > self.calls - usage.calls:
            raise InputError(
                f"{alias}: the run needs {calls} calls, but {self.calls - usage.calls} of "
                f"{self.calls} are left. Nothing was sent. Mend: raise the limit, or ask fewer."
            )

    def check_reached(self, usage: Usage, alias: str) -> None:
        """Before a call: end a run that retries or long replies have brought to a limit.

        Raises
        ------
        CoverageError
            Part of the run is done, and stored.
        """
        for name in ("calls", "tokens"):
            limit, used = getattr(self, name), getattr(usage, name)
            if limit is not None and used >= limit:
                raise CoverageError(
                    f"{alias}: {used} {name} used, the limit is {limit}. Replies so far are "
                    "kept. Mend: raise the limit and run again."
                )


@dataclass(frozen=True)
class Plan:
    """A dry run: what asking would do, without a call.

    Attributes
    ----------
    requests, unique : as given; several may be the same.
    replayed : unique ones that the store answers.
    to_ask : unique ones that would be sent, those that failed before among them.
    failed_before : of ``to_ask``.
    tokens_in, tokens_out : lowest and highest total of ``to_ask``, without retries.
    price : of the endpoint's model, None = not in the table.
    """

    endpoint: str
    requests: int
    unique: int
    replayed: int
    to_ask: int
    failed_before: int
    tokens_in: Range
    tokens_out: Range
    price: Price | None

    @property
    def cost(self) -> tuple[float, float] | None:
        """Lowest and highest cost, None where the price is unknown."""
        return price_range(self.tokens_in, self.tokens_out, self.price)

    def table(self) -> pd.DataFrame:
        """One row per count."""
        return _rows(
            {
                "endpoint": self.endpoint,
                "requests": f"{self.requests:,}",
                "unique": f"{self.unique:,}",
                "replayed": f"{self.replayed:,}",
                "to ask": f"{self.to_ask:,}",
                "of these failed before": f"{self.failed_before:,}",
                "tokens in, estimated": "{:,} to {:,}".format(*self.tokens_in),
                "tokens out, estimated": "{:,} to {:,}".format(*self.tokens_out),
                "cost": _money(self.cost, self.price, calls=self.to_ask),
            }
        )


@dataclass
class Usage:
    """What a client has done so far; a dead call counts as well as a good one.

    Attributes
    ----------
    calls : sent, retries included.
    retries : calls for a request after its first one.
    tokens_in, tokens_out : of the replies that came, as the server counts them.
    replayed : replies from the store.
    failed : requests given up.
    not_recorded : requests that only replay was asked for, and that no store has.
    """

    calls: int = 0
    retries: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    replayed: int = 0
    failed: int = 0
    not_recorded: int = 0
    price: Price | None = None

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.tokens_in + self.tokens_out

    @property
    def cost(self) -> tuple[float, float] | None:
        """Cost of the tokens counted; calls that failed may add to it on the bill."""
        sent, came = self.tokens_in, self.tokens_out
        return price_range((sent, sent), (came, came), self.price)

    def table(self) -> pd.DataFrame:
        """One row per count."""
        counts = {
            "calls": self.calls,
            "of these retries": self.retries,
            "tokens in": self.tokens_in,
            "tokens out": self.tokens_out,
            "replayed": self.replayed,
            "failed": self.failed,
            "not recorded": self.not_recorded,
        }
        shown = {name: f"{count:,}" for name, count in counts.items()}
        return _rows({**shown, "cost": _money(self.cost, self.price, calls=self.calls)})


@dataclass(frozen=True)
class RunSummary:
    """How one batch ended.

    Attributes
    ----------
    unique : different requests.
    answered : of these, with a reply (from the store or now).
    failed, not_recorded : without.
    status : ``ok`` only if every request has a reply; ``incomplete`` if some have none;
        ``stopped`` if the run was ended early.
    """

    unique: int
    answered: int
    failed: int
    not_recorded: int
    status: str

    @property
    def coverage(self) -> str:
        """Answered of all, as text."""
        return f"{self.answered}/{self.unique}"


def _money(cost: tuple[float, float] | None, price: Price | None, *, calls: int) -> str:
    if not calls:
        return "0 (no calls)"
    if cost is None or price is None:
        return "unknown: no price for this model, see MTR_PRICES"
    low, high = cost
    shown = f"{low:.4f}" if low == high else f"{low:.4f} to {high:.4f}"
    return f"{shown} {price.currency}, prices as of {price.date}"


def _rows(values: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame(values.items(), columns=["what", "value"]).set_index("what")
