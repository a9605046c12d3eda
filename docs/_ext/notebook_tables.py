"""Tables of notebooks: columns of text start at the left, numbers end at the right."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

ROW = re.compile(r"<tr.*?</tr>", re.S)
CELL = re.compile(r"<td>(.*?)</td>", re.S)
NUMBER = re.compile(r"[-+−]?[\d,. ]*\d(e[-+]?\d+)?[%*]?|NaN|None|-|–|")


def columns(table: str) -> set[int]:
    """Columns that hold text, counted from the right: there an index has no part in it."""
    found = set()
    for row in ROW.findall(table):
        cells = CELL.findall(row)[::-1]
        found |= {place for place, cell in enumerate(cells) if not NUMBER.fullmatch(cell.strip())}
    return found


def aligned(table: str) -> str:
    """The table with a class on every cell and heading of a text column."""
    text = columns(table)
    spans = "colspan" in table  # headings above several columns stay where they are

    def mark(row: re.Match[str]) -> str:
        heading = "<td>" not in row[0]
        if heading and spans:
            return row[0]
        parts = re.split(r"(<th>|<td>)" if heading else "(<td>)", row[0])
        places = range(1, len(parts), 2)
        for place, at in enumerate(reversed(places)):
            if place in text:
                parts[at] = parts[at].replace(">", ' class="text">')
        return "".join(parts)

    return ROW.sub(mark, table)


class TableAlignment(SphinxTransform):
    """Rewrite the HTML of the tables that a notebook shows."""

    default_priority = 400

    def apply(self, **kwargs: Any) -> None:
        """In place."""
        for node in list(self.document.findall(nodes.raw)):
            text = node.astext()
            if 'class="dataframe"' in text:
                node.replace_self(nodes.raw("", aligned(text), **node.attributes))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the transform."""
    app.add_transform(TableAlignment)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
