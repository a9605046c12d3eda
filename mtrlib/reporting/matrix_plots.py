"""The figure of the matrix: how many published numbers have which status."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from mtrlib.reporting.matrix import STATUSES
from mtrlib.reporting.plots import PALETTE, house_style, legend_beside

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# held against the paper: filled; not held against it: pale and hatched
_LOOK = dict(
    zip(
        STATUSES,
        ((PALETTE[1], ""), (PALETTE[5], ""), (PALETTE[2], "xx"), ("#DDDDDD", "//"), ("white", "")),
        strict=True,
    )
)


def status_bars(found: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """One bar per artefact, cut by status; every published number is in it once.

    Parameters
    ----------
    found : of :func:`mtrlib.reporting.matrix.matrix`.
    """
    from matplotlib import pyplot as plt

    house_style()
    table = pd.crosstab(found["artefact"], found["status"])
    table = table.reindex(found["artefact"].unique()).reindex(columns=list(STATUSES), fill_value=0)
    figure, axes = plt.subplots(figsize=(9, 0.6 + 0.38 * len(table)))
    left = pd.Series(0, index=table.index)
    for name, (color, hatch) in _LOOK.items():
        width = table[name]
        axes.barh(
            table.index, width, left=left, color=color, hatch=hatch, edgecolor="#555555",
            linewidth=0.8, label=f"{name} ({width.sum()})",
        )  # fmt: skip
        left = left + width
    first = found.drop_duplicates("artefact").set_index("artefact")
    names = [f"{first['work'][a]}: {a} ({first['kind'][a]}s)" for a in table.index]
    axes.set_yticks(range(len(table)), names)
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.set_xlabel(f"published numbers (n = {len(found)})")
    legend_beside(axes, title="status")
    points = table.reset_index().melt("artefact", var_name="status", value_name="n")
    return figure, points[points["n"] > 0].reset_index(drop=True)
