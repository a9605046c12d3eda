"""The playground's controls: choose, and every table below follows.

Imported by :mod:`mtrlib.reporting.live` alone, where somebody can use them.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import ipywidgets as widgets  # type: ignore[import-untyped]
import pandas as pd

from mtrlib.reporting import playground_round_tables, playground_rounds, playground_tables
from mtrlib.reporting.playground import Desk, Look
from mtrlib.reporting.playground_rounds import Asked
from mtrlib.reporting.rvr_grid import Grid

FIRST_WORDS = 60  # characters of a question in a menu


def turn_panel(desk: Desk, look: Look) -> widgets.VBox:
    """Controls for one turn, set to ``look``; children: the controls, then ``views`` by title.

    Conversation, turn, retriever, view, K, and the paths that are fused (none chosen = all).
    """
    controls = {
        "conversation": _menu("conversation", _conversations(desk), look.turn.conversation_id),
        "turn": _menu("turn", _turns(desk, look.turn.conversation_id), look.query_id),
        "retriever": _menu("retriever", desk.retrievers, look.retriever),
        "view": _menu("view", desk.views, look.view),
        "k": widgets.IntSlider(
            value=look.k,
            min=1,
            max=desk.searchers.by_name[look.retriever].depth,
            continuous_update=False,
            **_label("K"),
        ),
        "paths": widgets.SelectMultiple(options=list(look.lists), rows=6, **_label("fuse")),
        "list": _menu("list of", list(look.lists), next(iter(look.lists))),
    }
    page = widgets.HTML()

    def choose_conversation(change: Any) -> None:
        controls["turn"].options = _turns(desk, change["new"])

    def show(_: Any = None) -> None:
        chosen = {name: control.value for name, control in controls.items()}
        if chosen["turn"] is None:  # a menu is empty for a moment while its choices change
            return
        now = Look(desk, chosen["turn"], chosen["retriever"], chosen["view"], chosen["k"])
        _offer(controls["paths"], list(now.lists))
        _offer(controls["list"], list(now.lists))
        page.value = _page(_turn_parts(now, controls["paths"].value, controls["list"].value))

    controls["conversation"].observe(choose_conversation, "value")
    return _panel(controls, page, show)


def rounds_panel(grid: Grid, asked: Asked) -> widgets.VBox:
    """Controls for one list question, set to ``asked``: question, encoder and verifier, round."""
    known = {
        f"{i}: {q.question[:FIRST_WORDS]}": i for i, q in playground_rounds.questions(grid).items()
    }
    ran = {f"{e} with {v}": (e, v) for e, v in playground_rounds.runs(grid)}
    controls = {
        "question": _menu("question", known, asked.question_id),
        "run": _menu("verifier", ran, (asked.encoder, asked.verifier)),
        "round": widgets.IntSlider(value=1, min=1, max=grid.profile.ROUNDS, **_label("round")),
    }
    page = widgets.HTML()

    def show(_: Any = None) -> None:
        encoder, verifier = controls["run"].value
        now = Asked(grid, controls["question"].value, encoder, verifier)
        page.value = _page(_round_parts(now, controls["round"].value))

    return _panel(controls, page, show)


def _turn_parts(
    look: Look, paths: tuple[str, ...], listed: str
) -> Mapping[str, str | pd.DataFrame]:
    return {
        "What is sent": playground_tables.cut_line(look),
        "History": playground_tables.history_table(look),
        "Paths": playground_tables.path_table(look),
        f"List of {listed}": playground_tables.list_table(look, look.lists[listed]),
        f"Fused: {', '.join(paths) or 'all paths'}": playground_tables.fused_table(look, paths),
    }


def _round_parts(asked: Asked, number: int) -> Mapping[str, str | pd.DataFrame]:
    return {
        "Question": asked.question.question,
        "Rounds": playground_round_tables.count_table(asked),
        f"Round {number}": playground_round_tables.round_table(asked, number),
        "Rank at which a list first holds an answer": playground_round_tables.answer_table(asked),
        "Output": playground_round_tables.output_table(asked),
    }


def _panel(controls: Mapping[str, Any], page: widgets.HTML, show: Any) -> widgets.VBox:
    for control in controls.values():
        control.observe(show, "value")
    show()
    return widgets.VBox([widgets.VBox(list(controls.values())), page])


def _menu(label: str, options: Any, value: Any) -> widgets.Dropdown:
    return widgets.Dropdown(
        options=options, value=value, layout=widgets.Layout(width="42em"), **_label(label)
    )


def _label(text: str) -> dict[str, Any]:
    return {"description": text, "style": {"description_width": "7em"}}


def _offer(control: Any, options: list[str]) -> None:
    """Change the choices and keep what is still among them."""
    if list(control.options) == options:
        return
    kept = control.value
    control.options = options
    if isinstance(kept, tuple):
        control.value = tuple(path for path in kept if path in options)
    elif kept in options:
        control.value = kept


def _conversations(desk: Desk) -> list[str]:
    return list(dict.fromkeys(t.conversation_id for t in desk.study.turns))


def _turns(desk: Desk, conversation_id: str) -> list[tuple[str, str]]:
    return [
        (f"{t.turn_number}: {t.raw_utterance[:FIRST_WORDS]}", t.query_id)
        for t in desk.study.turns
        if t.conversation_id == conversation_id
    ]


def _page(parts: Mapping[str, str | pd.DataFrame]) -> str:
    """Titles and tables as HTML; all text in it is escaped."""
    shown = []
    for title, part in parts.items():
        body = f"<p>{html.escape(part)}</p>" if isinstance(part, str) else _table(part)
        shown.append(f"<h4>{html.escape(title)}</h4>{body}")
    return "".join(shown)


def _table(table: pd.DataFrame) -> str:
    # an index of its own would take a second line of headings
    made: str = table.reset_index().to_html(index=False, border=0, justify="left")
    return made
