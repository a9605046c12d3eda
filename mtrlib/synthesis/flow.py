"""How conversations move between topics: the topic flow of the paper, for any benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pandas as pd

from mtrlib.data.schema import Benchmark, Passage, Turn

Unit = Literal["passage", "article"]
MOVES = ("start", "stay", "on", "return")
NO_GOLD = "no_gold"


def topic_flow(benchmark: Benchmark, unit: Unit = "passage") -> pd.DataFrame:
    """The topic of every turn: its gold, numbered from 1 as first seen in its conversation.

    Of several gold passages the one counts that moves least: of the topic before, else of an
    earlier one, else the first.

    Parameters
    ----------
    unit : ``passage``, as in the paper, or ``article``: the passage's document, else its
        title, else itself.

    Returns
    -------
    DataFrame
        One row per turn: ``benchmark, conversation_id, turn_number, topic, move``. ``move``
        is ``start``, ``stay``, ``on`` (to a new topic) or ``return`` (to one seen before the
        last). Turns without gold in the corpus have the topic ``<NA>`` and the move
        ``no_gold``; the next turn is compared with the last one that has gold.

    References
    ----------
    MTR-Suite, statistics of MTR-Bench (topic flow).
    """
    units = {p.passage_id: _unit(p, unit) for p in benchmark.passages}
    rows: list[tuple[object, ...]] = []
    for conversation in benchmark.conversations:
        numbers: dict[str, int] = {}
        last = ""
        for turn in conversation.turns:
            gold = _gold_units(benchmark, turn, units)
            if not gold:
                rows.append((conversation.conversation_id, turn.turn_number, pd.NA, NO_GOLD))
                continue
            seen = [u for u in gold if u in numbers]
            here = last if last in gold else (seen or gold)[0]
            move = "start" if not numbers else "stay" if here == last else "on"
            move = "return" if here in numbers and here != last else move
            topic = numbers.setdefault(here, len(numbers) + 1)
            rows.append((conversation.conversation_id, turn.turn_number, topic, move))
            last = here
    table = pd.DataFrame(rows, columns=["conversation_id", "turn_number", "topic", "move"])
    table.insert(0, "benchmark", benchmark.name)
    return table.astype({"topic": "Int64"})


def transitions(flow: pd.DataFrame) -> pd.DataFrame:
    """How often topic a at one turn is followed by topic b at the next, per position.

    Parameters
    ----------
    flow : of :func:`topic_flow`; of one or more benchmarks.

    Returns
    -------
    DataFrame
        ``benchmark, turn_number, from_topic, to_topic, n, share``: the turn that is moved
        to, and the share of all moves to that turn. Turns without gold are passed over.
    """
    with_gold = flow[flow["topic"].notna()]
    before = with_gold.groupby(["benchmark", "conversation_id"], sort=False)["topic"].shift()
    moved = with_gold.assign(from_topic=before).dropna(subset=["from_topic"])
    moved = moved.rename(columns={"topic": "to_topic"})
    place = ["benchmark", "turn_number"]
    counts = moved.groupby([*place, "from_topic", "to_topic"]).size().reset_index(name="n")
    counts["share"] = counts["n"] / counts.groupby(place)["n"].transform("sum")
    return counts


def move_shares(flow: pd.DataFrame, by: Sequence[str] = ("benchmark",)) -> pd.DataFrame:
    """Shares of turns that stay, go on to a new topic or return, of those that can.

    Parameters
    ----------
    flow : of :func:`topic_flow`.
    by : columns to group by; ``("benchmark", "turn_number")`` gives them per position.

    Returns
    -------
    DataFrame
        The columns of ``by``, then ``moves`` (turns that follow one with gold), ``stay``,
        ``on``, ``return`` as fractions of them (NaN without any), and ``no_gold`` (count).
    """
    counts = pd.crosstab([flow[name] for name in by], flow["move"])
    counts = counts.reindex(columns=[*MOVES, NO_GOLD], fill_value=0)
    moves = counts[list(MOVES[1:])].sum(axis=1)
    table = counts[list(MOVES[1:])].div(moves.where(moves > 0), axis=0)
    table.insert(0, "moves", moves)
    return table.assign(no_gold=counts[NO_GOLD]).rename_axis(columns=None).reset_index()


def _unit(passage: Passage, unit: Unit) -> str:
    if unit == "passage":
        return passage.passage_id
    return passage.document or passage.title or passage.passage_id


def _gold_units(benchmark: Benchmark, turn: Turn, units: dict[str, str]) -> list[str]:
    """Topics of the turn's gold in the corpus, the set's own order first."""
    marked = benchmark.qrels.gold(turn.query_id)
    order = [*(p for p in turn.gold if p in marked), *sorted(marked.difference(turn.gold))]
    return list(dict.fromkeys(units[p] for p in order if p in units))
