"""House style of the figures, and what several of them share.

Every figure is one function in a ``*_plots`` module and returns the figure and the points it
shows. One palette and one set of markers throughout: colours that colour-blind readers tell
apart, and shapes that survive a greyscale print.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# Okabe and Ito 2008, darkest first so that the order also reads in grey
PALETTE = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", ":", "-.")  # for lines that cross or coincide
CJK_FONTS = (
    "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Micro Hei",
    "Microsoft YaHei", "PingFang SC", "Hiragino Sans GB", "SimHei",
    "Noto Sans CJK JP", "Noto Sans JP", "Yu Gothic", "Hiragino Sans",
    "Noto Sans CJK KR", "Noto Sans KR", "Malgun Gothic", "Apple SD Gothic Neo",
)  # fmt: skip


def house_style() -> None:
    """Set matplotlib's defaults for this project; called by every figure."""
    import matplotlib
    from matplotlib import font_manager

    installed = {font.name for font in font_manager.fontManager.ttflist}
    cjk = [name for name in CJK_FONTS if name in installed]
    matplotlib.rcParams.update(
        {
            "font.family": ["DejaVu Sans", *cjk],
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.grid.axis": "y",
            "grid.alpha": 0.3,
            "legend.frameon": False,
            "svg.hashsalt": "mtrlib",
        }
    )


def system_styles(systems: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Keywords ``color`` and ``marker`` of each system, by its place in the list."""
    return {system: nth_style(i) for i, system in enumerate(systems)}


def nth_style(i: int) -> dict[str, Any]:
    """Keywords ``color`` and ``marker`` of the i-th line or system, from 0."""
    return {"color": PALETTE[i % len(PALETTE)], "marker": MARKERS[i % len(MARKERS)]}


def reach(value: Any, rows: pd.DataFrame, scale: float = 1.0) -> list[Any]:
    """Arms of error bars, from ``value`` to ``ci_low`` and ``ci_high`` of the rows.

    Parameters
    ----------
    scale : of the value; 100 where it is in percent and the rows hold fractions.
    """
    return [value - scale * rows["ci_low"], scale * rows["ci_high"] - value]


def banded_line(
    axes: Axes, line: pd.DataFrame, dashes: str, name: str, color: Any, **style: Any
) -> None:
    """Percentages along the turns, with their intervals as a band.

    Parameters
    ----------
    line : ``turn_number, value, ci_low, ci_high`` (fractions), in the order of the turns.
    """
    turn, value = line["turn_number"].to_numpy(), 100 * line["value"].to_numpy()
    axes.plot(turn, value, dashes, label=name, markersize=4, color=color, **style)
    low, high = 100 * line["ci_low"].to_numpy(), 100 * line["ci_high"].to_numpy()
    axes.fill_between(turn, low, high, color=color, alpha=0.12, linewidth=0)


def legend_beside(axes: Axes, **more: Any) -> None:
    """A legend to the right of the axes, half way up."""
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), **more)


def percent_axis(axes: Axes, label: str) -> None:
    """Label the y axis, from 0 to 100 percent."""
    axes.set_ylabel(f"{label} (%)")
    axes.set_ylim(0, 100)
