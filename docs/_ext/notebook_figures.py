"""Alternative text for the figures of notebooks, from ``figures/alt.yaml``.

A cell's figure is known by the name that the cell gives to ``results.save_figure``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
SAVED = re.compile(r"""save_figure\(\s*["']([a-z0-9_]+)["']""")


def texts(alt: str, images: int) -> list[str]:
    """One text per image of a cell; several images are told apart by their place."""
    return [alt] if images == 1 else [f"{alt} Part {n}." for n in range(1, images + 1)]


class FigureAlt(SphinxTransform):
    """Set ``alt`` on the images below a code cell."""

    default_priority = 400

    def apply(self, **kwargs: Any) -> None:
        """Warn where an image of a cell has no text to go by."""
        path = Path(self.config.figure_alt_file)
        cells = [
            node
            for node in self.document.findall(nodes.container)
            if node.get("nb_element") == "cell_code"
        ]
        if cells:
            self.env.note_dependency(str(path))
        alts = yaml.safe_load(path.read_text(encoding="utf-8"))
        for cell in cells:
            images = list(cell.findall(nodes.image))
            if images:
                self._describe(cell, images, alts)

    def _describe(self, cell: nodes.Node, images: list[nodes.image], alts: dict[str, str]) -> None:
        source = next(cell.findall(nodes.literal_block)).astext()
        names = SAVED.findall(source)
        if not names or names[0] not in alts:
            what = (
                f"{names[0]} is not in {self.config.figure_alt_file}"
                if names
                else ("the cell shows an image and saves no figure by name")
            )
            LOGGER.warning("no alternative text: %s", what, location=cell, type="figures")
            return
        given = [alts[name] for name in names if name in alts]
        described = given if len(given) == len(images) else texts(given[0], len(images))
        for image, alt in zip(images, described, strict=True):
            image["alt"] = alt


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the transform and the place of its texts."""
    root = Path(__file__).resolve().parents[2]
    app.add_config_value("figure_alt_file", str(root / "figures" / "alt.yaml"), "env")
    app.add_transform(FigureAlt)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
