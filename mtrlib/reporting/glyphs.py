"""Figures whose text no installed font can draw: escapes and a note instead of empty boxes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

NOTE = r"No font here draws all characters; \uXXXX stands for one. The points' CSV has the names."


def spell_out(figure: Figure) -> bool:
    r"""Replace characters without a glyph by ASCII escapes, and say so below the figure.

    A figure that its fonts can draw is left as it is, to the byte. Call it before the figure is
    drawn or saved.

    Returns
    -------
    Whether anything was replaced.

    Notes
    -----
    ``\u4e2d`` for U+4E2D, as in Python: it can be told apart, looked up and pasted.
    """
    from matplotlib.text import Text

    lacking = _lacking()
    replaced = False
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            replaced |= _tick_labels(axis, lacking)
    for text in figure.findobj(Text):
        if isinstance(text, Text) and lacking(text.get_text()):
            text.set_text(_escaped(text.get_text(), lacking))
            replaced = True
    if replaced:
        figure.text(0.5, -0.02, NOTE, ha="center", va="top", fontsize=8)
    return replaced


def _tick_labels(axis: Axis, lacking: Callable[[str], set[str]]) -> bool:
    """Ticks write their labels again whenever they are drawn, so the formatter must change."""
    from matplotlib.ticker import FuncFormatter

    if not lacking("".join(label.get_text() for label in axis.get_majorticklabels())):
        return False
    old = axis.get_major_formatter()
    axis.set_major_formatter(FuncFormatter(lambda at, place: _escaped(old(at, place), lacking)))
    return True


def _lacking() -> Callable[[str], set[str]]:
    """A function: characters of a text that none of the fonts in force has."""
    import matplotlib
    from matplotlib.font_manager import FontProperties, findfont, get_font

    known: set[int] = set()
    for family in matplotlib.rcParams["font.family"]:
        known |= set(get_font(findfont(FontProperties(family=[family]))).get_charmap())
    return lambda text: {c for c in text if ord(c) not in known and not c.isspace()}


def _escaped(text: str, lacking: Callable[[str], set[str]]) -> str:
    for character in lacking(text):
        text = text.replace(character, character.encode("unicode_escape").decode())
    return text
