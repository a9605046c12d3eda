"""The block of ``README.md`` that stands between two marks: made from the matrix, checked."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd

from mtrlib.errors import ComparisonError, InputError
from mtrlib.reporting.matrix import STATUSES, counts

TABLE = "t90_matrix"
BEGIN = "<!-- paper-vs-ours: made by `make refresh` from data/results/t90_matrix.csv -->"
END = "<!-- paper-vs-ours: end -->"


def _block(found: pd.DataFrame) -> str:
    """Markdown: the numbers marked as headlines, then how many have which status.

    Parameters
    ----------
    found : of :func:`mtrlib.reporting.matrix.matrix`.
    """
    shown = found[found["headline"].ne("")]
    lines = [
        "| work | number | paper | ours | ours is from | status | notebook |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in shown.to_dict("records"):
        n = "" if math.isnan(row["n"]) else f" (n = {int(row['n']):,})"
        ours = "" if math.isnan(row["ours"]) else f"{_number(row['ours'], row['unit'])}{n}"
        cells = (
            row["work"],
            row["headline"],
            _number(row["paper"], row["unit"]),
            ours,
            row["setup"],
            row["status"],
            f"`{row['notebook']}`",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", *sentences(found)])


def sentences(found: pd.DataFrame) -> list[str]:
    """How many numbers there are, and what their statuses say; one sentence per kind."""
    table = counts(found).groupby(level="kind", sort=False).sum()
    said = []
    for kind, row in table.iterrows():
        parts = [f"{row[name]} {name}" for name in STATUSES if row[name]]
        said.append(f"Of {row.sum()} published {kind}s: {', '.join(parts)}.")
    return said


def written(text: str, found: pd.DataFrame, where: Path | str = "README.md") -> str:
    """The text with its block made anew.

    Raises
    ------
    InputError
        The marks are not there once, in their order.
    """
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise InputError.at(
            where, None, "the marks of its block are not there once", f"put back {BEGIN} and {END}"
        )
    head, rest = text.split(BEGIN)
    return f"{head}{BEGIN}\n{_block(found)}\n{END}{rest.split(END)[1]}"


def check(text: str, found: pd.DataFrame, where: Path | str = "README.md") -> None:
    """Refuse a text whose block is not the one that the table gives.

    Raises
    ------
    ComparisonError
        Naming the first line that differs.
    """
    fresh = written(text, found, where).splitlines()
    for number, line in enumerate(text.splitlines()):
        if number >= len(fresh) or line != fresh[number]:
            expected = fresh[number] if number < len(fresh) else "nothing"
            raise ComparisonError(
                f"{where}:{number + 1}: {line!r}, but {TABLE} gives {expected!r}. "
                "Mend: make refresh NB=90."
            )
    if len(fresh) > len(text.splitlines()):
        raise ComparisonError(f"{where}: lines of its block are missing. Mend: make refresh NB=90.")


def _number(value: float, unit: str) -> str:
    places = 4 if unit == "share" and abs(value) < 0.01 else 2
    places = 1 if unit in ("points", "score", "count") else places
    return f"{value:,.{places}f}"
