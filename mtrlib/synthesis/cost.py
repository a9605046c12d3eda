"""What a run cost: requests and tokens per stage, from real replies, and their price as a range."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from mtrlib.errors import InputError
from mtrlib.llm.client import NOT_RECORDED
from mtrlib.llm.decide import Asker
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.prices import Price, Range, find_price, price_range
from mtrlib.llm.requests import Reply, Request

ALL = "all"  # name of the row of totals
COUNTS = ("requests", "calls", "replayed", "uncounted", "tokens_in", "tokens_out")


@dataclass
class _StageUse:
    """Different requests of one stage to one model.

    Attributes
    ----------
    replies : by request key, so that what is asked twice or replayed again is paid once.
    """

    stage: str
    endpoint: Endpoint
    replies: dict[str, Reply] = field(default_factory=dict)

    @property
    def counted(self) -> list[Reply]:
        """Replies with the token counts of the server."""
        return [r for r in self.replies.values() if not r.failed]

    @property
    def uncounted(self) -> int:
        """Requests whose tokens nobody knows: failed, committed as rejected, not recorded."""
        return len(self.replies) - len(self.counted)

    @property
    def calls(self) -> int:
        """Calls at least: a stored reply does not say how many attempts it took."""
        sent = (r for r in self.replies.values() if r.failed != NOT_RECORDED)
        return sum(max(1, r.attempts) for r in sent)

    @property
    def tokens_in(self) -> Range:
        """Tokens sent: those counted, and at most as :class:`CostLedger` says."""
        counted = self.counted
        low = sum(r.tokens_in for r in counted)
        repeated = sum(r.tokens_in * max(0, r.attempts - 1) for r in counted)
        return low, low + repeated + self._share(low)

    @property
    def tokens_out(self) -> Range:
        """Tokens that came: those counted, and at most as :class:`CostLedger` says."""
        low = sum(r.tokens_out for r in self.counted)
        return low, low + self._share(low)

    def counts(self) -> dict[str, int]:
        """The numbers of ``COUNTS``; tokens are those counted."""
        replayed = sum(r.replayed for r in self.counted)
        numbers = (len(self.replies), self.calls, replayed, self.uncounted)
        return dict(zip(COUNTS, (*numbers, self.tokens_in[0], self.tokens_out[0]), strict=True))

    def price(self, as_if: str = "") -> Price | None:
        """Price of the model, or of another one; None = not in the table."""
        return find_price(as_if or self.endpoint.price or self.endpoint.model)

    def cost(self, as_if: str = "") -> tuple[float, float] | None:
        """Lowest and highest cost; None where the price, or every token count, is unknown."""
        if self.uncounted and not self.counted:
            return None
        return price_range(self.tokens_in, self.tokens_out, self.price(as_if))

    def _share(self, tokens: int) -> int:
        """What the uncounted requests come to if they are like the others."""
        return -(-tokens * self.uncounted // len(self.counted)) if self.counted else 0


class CostLedger:
    """Adds up replies by stage and model; a replayed run shows what it cost when it was made.

    The lower end of every range is the tokens that servers counted. The upper end adds the
    input of each earlier attempt once more, and for requests without token counts (failed,
    committed as rejected, not recorded) the mean of their stage. Embeddings, searches and
    the computer itself are not in it. ``as_if`` prices the tokens as those of another model,
    whose tokenizer might have counted others.
    """

    def __init__(self) -> None:
        self._uses: dict[tuple[str, str], _StageUse] = {}
        self._home: dict[str, tuple[str, str]] = {}
        self._lock = threading.Lock()

    def add(self, stage: str, replies: Iterable[Reply], endpoint: Endpoint) -> None:
        """Count replies for a stage; one that is known already stays where it was counted."""
        with self._lock:
            for reply in replies:
                name = self._home.setdefault(reply.key, (stage, endpoint.alias))
                use = self._uses.setdefault(name, _StageUse(stage, endpoint))
                known = use.replies.get(reply.key)
                # never a replay in place of the call itself, which knows its attempts
                if known is None or (known.failed and not reply.failed):
                    use.replies[reply.key] = reply

    def meter(self, stage: str, client: Asker) -> Meter:
        """The same client, whose replies are counted for a stage as they come."""
        return Meter(stage, client, self)

    def cost(self, as_if: str = "") -> tuple[float, float] | None:
        """Lowest and highest cost of all stages; None where one of them is unknown.

        Raises
        ------
        InputError
            Prices in two currencies.
        """
        found = [use.cost(as_if) for use in self._uses.values()]
        self.currency(as_if)
        known = [cost for cost in found if cost is not None]
        if not found or len(known) < len(found):
            return None
        return sum(low for low, _ in known), sum(high for _, high in known)

    def currency(self, as_if: str = "") -> str:
        """Currency of the prices, "" where none is known.

        Raises
        ------
        InputError
            There are two.
        """
        prices = (use.price(as_if) for use in self._uses.values())
        # a price of 0 is 0 in any currency
        names = sorted({p.currency for p in prices if p is not None and (p.input or p.output)})
        if len(names) > 1:
            raise InputError(
                f"prices in {' and '.join(names)} cannot be added. "
                "Mend: give them in one currency in the file named by MTR_PRICES."
            )
        return names[0] if names else ""

    def table(self, as_if: str = "") -> pd.DataFrame:
        """One row per stage and model in order of first use, then one of totals.

        Columns: ``stage, model, requests, calls, replayed, uncounted, tokens_in, tokens_out,
        cost_low, cost_high, currency, price_date``. Costs are NaN where unknown, never 0.

        Raises
        ------
        InputError
            As :meth:`cost`.
        """
        rows: list[dict[str, Any]] = [
            {"stage": use.stage, "model": use.endpoint.model_alias, **use.counts()}
            | {**_ends(use.cost(as_if)), **_terms(use.price(as_if))}
            for use in self._uses.values()
        ]
        totals = {n: sum(row[n] for row in rows) for n in COUNTS}
        last = {"stage": ALL, "model": "", **totals, **_ends(self.cost(as_if))}
        last |= {"currency": self.currency(as_if), "price_date": ""}
        return pd.DataFrame([*rows, last])


@dataclass(frozen=True)
class Meter:
    """A client that counts: an :class:`mtrlib.llm.decide.Asker` around another."""

    stage: str
    client: Asker
    ledger: CostLedger

    @property
    def endpoint(self) -> Endpoint:
        """Whom it asks."""
        return self.client.endpoint

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        """Ask and count. Replies of a run that is ended early are counted when it goes on."""
        replies = self.client.ask(requests)
        self.ledger.add(self.stage, replies, self.endpoint)
        return replies


def _ends(cost: tuple[float, float] | None) -> dict[str, float]:
    low, high = cost or (float("nan"), float("nan"))
    return {"cost_low": low, "cost_high": high}


def _terms(price: Price | None) -> dict[str, str]:
    shown = (price.currency, price.date) if price else ("", "")
    return dict(zip(("currency", "price_date"), shown, strict=True))
