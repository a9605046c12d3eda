"""A list question's rounds as plain tables; passages by id, title and at most twelve words."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from mtrlib.data.schema import Passage
from mtrlib.evaluation.list_answers import answers_in, gold_passages
from mtrlib.reporting.playground_rounds import Asked
from mtrlib.reporting.playground_tables import GOLD, shown

COUNTS = ["retrieved", "verified", "accepted", "accepted_gold", "context", "new_gold"]


def count_table(asked: Asked) -> pd.DataFrame:
    """Per round: passages retrieved, verified, accepted, joined to the query; new gold, answers."""
    table = asked.own(asked.result.trace).set_index("round")
    return table[[*COUNTS, "new_answers"]].fillna(0).astype(int)


def round_table(asked: Asked, number: int) -> pd.DataFrame:
    """The list of one round.

    Returns
    -------
    DataFrame
        Indexed by ``rank``: id, title, first words, ``verdict`` ("" where none was asked),
        ``joins`` (stands in the query of the next round), ``gold`` and ``answers`` found in it.
    """
    listed, contexts = asked.own(asked.result.listed), asked.own(asked.result.contexts)
    joins = set(contexts.loc[contexts["round"] == number + 1, "passage_id"])
    rows = listed[listed["round"] == number].sort_values("rank")
    table = _passages(asked, rows["passage_id"])
    table.insert(3, "verdict", list(rows["verdict"]))
    table.insert(4, "joins", ["yes" if p in joins else "" for p in rows["passage_id"]])
    return table


def output_table(asked: Asked) -> pd.DataFrame:
    """The final list: what was accepted, then the last round's, each passage once."""
    return _passages(asked, asked.result.run.ids(asked.question_id))


def answer_table(asked: Asked) -> pd.DataFrame:
    """Per answer the rank at which a list first holds it: a column per round, and the output.

    Returns
    -------
    DataFrame
        Indexed by ``answer``; "-" where no passage of the list holds one of its forms.
    """
    held = {name: [_answers(asked, p) for p in ids] for name, ids in _lists(asked).items()}
    columns = {
        name: [
            next((str(rank) for rank, own in enumerate(found, start=1) if i in own), "-")
            for i in range(len(asked.question.answers))
        ]
        for name, found in held.items()
    }
    answers = [a.text for a in asked.question.answers]
    return pd.DataFrame(columns, index=pd.Index(answers, name="answer", dtype=object))


def rank_rows(asked: Asked) -> pd.DataFrame:
    """Every list as rows: ``query_id, system, view, path, rank, passage_id, gold``."""
    gold = gold_passages(asked.question)
    rows = [
        (asked.question_id, asked.encoder, asked.verifier, name, rank, p, p in gold)
        for name, ids in _lists(asked).items()
        for rank, p in enumerate(ids, start=1)
    ]
    columns = ["query_id", "system", "view", "path", "rank", "passage_id", "gold"]
    return pd.DataFrame(rows, columns=columns)


def _lists(asked: Asked) -> dict[str, list[str]]:
    listed = asked.own(asked.result.listed)
    found = {f"round {n}": list(own["passage_id"]) for n, own in listed.groupby("round")}
    return {**found, "output": asked.result.run.ids(asked.question_id)}


def _passages(asked: Asked, ids: Iterable[str]) -> pd.DataFrame:
    gold, names = gold_passages(asked.question), [a.text for a in asked.question.answers]
    rows = [
        (
            rank,
            *shown(_passage(asked, p)),
            GOLD if p in gold else "",
            "; ".join(names[i] for i in sorted(_answers(asked, p))),
        )
        for rank, p in enumerate(ids, start=1)
    ]
    columns = ["rank", "passage_id", "title", "first words", "gold", "answers"]
    return pd.DataFrame(rows, columns=columns).set_index("rank")


def _answers(asked: Asked, passage_id: str) -> frozenset[int]:
    return answers_in(asked.question, _passage(asked, passage_id))


def _passage(asked: Asked, passage_id: str) -> Passage:
    return asked.grid.retrievers.lists.by_id[passage_id]
