"""A look at one turn as plain tables; passages by id, title and at most twelve words."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pandas as pd

from mtrlib.audit.confirmation import opening
from mtrlib.data.schema import Passage
from mtrlib.reporting.playground import FUSED, Desk, Look

GOLD = "★"
WITH_HISTORY = ("user_turns", "full_history")


def about(desk: Desk) -> list[str]:
    """What is on the desk, a line each."""
    study = desk.study
    turns, gold = study.turns, study.benchmark.qrels
    with_gold = sum(bool(gold.gold(t.query_id)) for t in turns)
    lines = [
        f"{study.benchmark.name}: {len(turns)} turns, {with_gold} with gold, "
        f"{len(desk.passages)} passages; rewriter: {study.rewriter.name}",
        f"retrievers: {', '.join(desk.retrievers)}; views: {', '.join(desk.views)}",
    ]
    return lines + [f"left out: {why}" for why in desk.searchers.unavailable.values()]


def history_table(look: Look) -> pd.DataFrame:
    """The conversation up to the turn, and what of it is sent.

    Returns
    -------
    DataFrame
        Per utterance, oldest first: ``role``, ``text``, and ``sent``: yes; cut, to fit the
        encoder; or no, since the view leaves it out. Last the query, as the view words it.
    """
    joins = look.view in WITH_HISTORY
    part = [
        i
        for i, u in enumerate(look.turn.history)
        if joins and (u.role == "user" or look.view == "full_history")
    ]
    cut = part[: look.sent.dropped_utterances]
    rows = [
        (u.role, u.text, "cut" if i in cut else "yes" if i in part else "no")
        for i, u in enumerate(look.turn.history)
    ]
    query = look.turn.raw_utterance if joins else look.sent.text
    said = "yes, its end cut" if look.sent.question_exceeds else "yes"
    table = pd.DataFrame([*rows, ("query", query, said)], columns=["role", "text", "sent"])
    return table.rename_axis("utterance")


def cut_line(look: Look) -> str:
    """How long the sent text is and what was left out, in one sentence."""
    _, counter = look.desk.searchers.by_name[look.retriever].budget()
    text = look.sent
    length = f"{counter(text.text)} tokens" if counter else f"{len(text.text.split())} words"
    return (
        f"{look.query_id}, {look.retriever}, {look.view}: {length} sent; cut to fit: "
        f"{text.dropped_utterances} utterances of the history, {text.dropped_tokens} tokens"
    )


def path_table(look: Look) -> pd.DataFrame:
    """Per path its text, and how its list does; the fused list stands last.

    Returns
    -------
    DataFrame
        Indexed by ``path``: ``text``, ``first gold`` (rank, "-" for none among K), ``gold
        found`` ("2 of 3").
    """
    rows = [
        (path, look.texts.get(path, "all of the above, each text once"), *_found(look, ids))
        for path, ids in {**look.lists, FUSED: look.fused()}.items()
    ]
    columns = ["path", "text", "first gold", "gold found"]
    return pd.DataFrame(rows, columns=columns).set_index("path")


def list_table(look: Look, ids: Sequence[str]) -> pd.DataFrame:
    """The passages of a list: indexed by ``rank``, with id, title, first words and gold mark."""
    rows = [
        (rank, *shown(look.desk.passages[p]), GOLD if p in look.gold else "")
        for rank, p in enumerate(ids, start=1)
    ]
    columns = ["rank", "passage_id", "title", "first words", "gold"]
    return pd.DataFrame(rows, columns=columns).set_index("rank")


def fused_table(look: Look, paths: Collection[str] = ()) -> pd.DataFrame:
    """:func:`list_table` of the fused list, with the rank of each passage on every path.

    Parameters
    ----------
    paths : that are fused; all by default.
    """
    ids = look.fused(paths)
    used = {path: found for path, found in look.lists.items() if not paths or path in paths}
    came = [
        "; ".join(f"{path} {found.index(p) + 1}" for path, found in used.items() if p in found)
        for p in ids
    ]
    return list_table(look, ids).assign(**{"found by": came})


def side_by_side(look: Look) -> pd.DataFrame:
    """The lists of all paths, a column each, gold marked: indexed by ``rank``, ids alone."""
    columns = {
        path: pd.Series([f"{p} {GOLD}" if p in look.gold else p for p in ids], dtype=object)
        for path, ids in look.lists.items()
    }
    table = pd.DataFrame(columns).fillna("")
    return table.set_axis(range(1, len(table) + 1)).rename_axis("rank")


def rank_rows(look: Look) -> pd.DataFrame:
    """Every list as rows: ``query_id, system, view, path, rank, passage_id, gold``."""
    rows = [
        (look.query_id, look.retriever, look.view, path, rank, p, p in look.gold)
        for path, ids in {**look.lists, FUSED: look.fused()}.items()
        for rank, p in enumerate(ids, start=1)
    ]
    columns = ["query_id", "system", "view", "path", "rank", "passage_id", "gold"]
    return pd.DataFrame(rows, columns=columns)


def shown(passage: Passage) -> tuple[str, str, str]:
    """What may be shown of a passage: id, title, at most twelve words."""
    return passage.passage_id, passage.title, opening(passage.text)


def _found(look: Look, ids: Sequence[str]) -> tuple[str, str]:
    first = look.first_gold(ids)
    found = sum(p in look.gold for p in ids)
    return str(first or "-"), f"{found} of {len(look.gold)}"
