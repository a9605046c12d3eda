"""Formulas as MathML, made at build time: a page needs no script and no font for them."""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)


def markup(node: nodes.Node, display: str) -> str:
    """MathML of a formula; one that cannot be converted is shown as typed, with a warning."""
    try:
        done = convert(node.astext(), display=display)
        fault = "unknown command" if "\\" in done else ""  # the converter copies what it lacks
    except Exception as error:  # it has a class per fault, and lets others through
        fault = repr(error)
    if not fault:
        return done
    LOGGER.warning("formula %r: %s", node.astext(), fault, location=node, type="mathml")
    return f"<code>{escape(node.astext())}</code>"


def visit_inline(self: Any, node: nodes.math) -> None:
    """A formula in a line of text."""
    self.body.append(f'<span class="math">{markup(node, "inline")}</span>')
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """A formula on lines of its own, in a box that scrolls on a narrow screen."""
    self.body.append(f'<div class="math">{markup(node, "block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer; ``html_math_renderer`` chooses it."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
