"""How many queries would settle what an interval leaves open."""

from __future__ import annotations

import math
from collections.abc import Iterable

DIGITS = 9  # numbers are rounded to this before they meet a threshold


def at(value: float) -> float:
    """A number as it is compared: without the last bits, in which 0.1 + 0.2 is not 0.3."""
    return round(value, DIGITS)


def _open_borders(low: float, high: float, borders: Iterable[float]) -> list[float]:
    """Borders inside an interval, rising; one that an end touches is not inside."""
    return sorted(b for b in borders if at(low) < b < at(high))


def n_to_settle(
    value: float, low: float, high: float, n: int, borders: Iterable[float]
) -> int | None:
    """Queries that would move every border out of the interval, if value and spread stay.

    Half an interval shrinks with the square root of n: for each border inside, on its side of
    the value, ``n * (half width / distance) ** 2``; the largest counts.

    Returns
    -------
    int or None
        At least ``n``; None where no number does it, because the value lies on a border.
        ``n`` itself where no border is inside.

    Notes
    -----
    A projection, not a promise: new queries are taken to be like the old ones, and as many of
    them to come from each conversation.

    Examples
    --------
    >>> n_to_settle(5.0, 1.0, 9.0, 100, (3.0, 8.0))
    400
    """
    needed = float(n)
    for border in _open_borders(low, high, borders):
        distance = at(abs(at(value) - at(border)))
        half = high - value if border > value else value - low
        if distance == 0:
            return None
        needed = max(needed, n * (half / distance) ** 2)
    return math.ceil(at(needed))


def projection(needed: int | None, n: int) -> str:
    """The same in words: "about 400 queries (now 100)"."""
    if needed is None:
        return f"no number of queries, as the value lies on the border (now {n})"
    return f"about {needed:,} queries (now {n:,})"
