"""Quality of passages: the plug-in form of a filter, and heuristics that need no model."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from mtrlib.data.schema import Passage
from mtrlib.data.script_width import width

FEWEST_LINES = 4  # fewer lines are neither a list nor repetitive
PROSE_WIDTH = 80  # letters from which a line without a full stop still is prose

_ENDS_PROSE = re.compile(r"[.!?…。．！？][\"'”’)\]」』）]*$")
_CELL = re.compile(r"\||\t| {3,}")


@dataclass(frozen=True, slots=True)
class Decision:
    """What a filter says about one passage.

    Attributes
    ----------
    keep : whether the passage stays.
    score : the filter's own scale; higher is better.
    reason : why it goes; empty where it stays.
    """

    keep: bool
    score: float
    reason: str = ""


class QualityFilter(Protocol):
    """Anything with a name that decides about passages.

    ``keep`` returns one :class:`Decision` per passage, in their order. ``name`` stands in the
    curation report.
    """

    @property
    def name(self) -> str:
        """Short name for reports."""

    def keep(self, passages: Sequence[Passage]) -> list[Decision]:
        """Decide about each passage."""


@dataclass(frozen=True)
class Heuristics:
    """Rules on the surface of a text, for any script. A passage goes if it breaks one.

    Attributes
    ----------
    least_width : length in letters of a script with spaces; a dense character (Han, kana,
        Hangul) counts 5/3.
    least_letters : share of letters and their marks in the visible characters.
    most_digits, most_symbols : shares of digits, and of what is neither letter nor digit.
    most_listed : share of lines that are short without ending a sentence, or hold cells of a
        table; looked at from four lines on.
    most_repeated : share of lines that stand in the text before already; from four lines on.

    Notes
    -----
    ``score`` is the share of the six rules that hold. The rules are those of MassiveText in
    kind (Rae et al., 2021, appendix A.1), put in terms that also fit texts without spaces.
    The defaults remove 3 % of the passages of the default corpus: leftovers of a line, lists of
    names and titles, and tables of figures.
    """

    least_width: float = 100
    least_letters: float = 0.6
    most_digits: float = 0.2
    most_symbols: float = 0.25
    most_listed: float = 0.9
    most_repeated: float = 0.3

    @property
    def name(self) -> str:
        """``heuristics``."""
        return "heuristics"

    def keep(self, passages: Sequence[Passage]) -> list[Decision]:
        """Decide about each passage; the reason names each broken rule with what was found."""
        return [self._decision(surface(p.text)) for p in passages]

    def _decision(self, found: dict[str, float]) -> Decision:
        rules = {
            "width": (found["width"] >= self.least_width, "<", self.least_width),
            "letters": (found["letters"] >= self.least_letters, "<", self.least_letters),
            "digits": (found["digits"] <= self.most_digits, ">", self.most_digits),
            "symbols": (found["symbols"] <= self.most_symbols, ">", self.most_symbols),
            "listed": (found["listed"] <= self.most_listed, ">", self.most_listed),
            "repeated": (found["repeated"] <= self.most_repeated, ">", self.most_repeated),
        }
        broken = [
            f"{rule} {found[rule]:.3g} {sign} {limit:g}"
            for rule, (holds, sign, limit) in rules.items()
            if not holds
        ]
        return Decision(not broken, 1 - len(broken) / len(rules), "; ".join(broken))


def surface(text: str) -> dict[str, float]:
    """What :class:`Heuristics` looks at: ``width`` in letters, the rest shares in [0, 1]."""
    kinds = Counter(_kind(c) for c in text if not c.isspace())
    visible = max(kinds.total(), 1)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    listed = repeated = 0.0
    if len(lines) >= FEWEST_LINES:
        listed = sum(map(_is_listed, lines)) / len(lines)
        repeated = 1 - len(set(lines)) / len(lines)
    return {
        "width": width(" ".join(text.split())),
        "letters": kinds["letter"] / visible,
        "digits": kinds["digit"] / visible,
        "symbols": kinds["symbol"] / visible,
        "listed": listed,
        "repeated": repeated,
    }


def _kind(character: str) -> str:
    # M: vowel signs of Thai, Devanagari and others are part of letters
    kind = unicodedata.category(character)[0]
    return {"L": "letter", "M": "letter", "N": "digit"}.get(kind, "symbol")


def _is_listed(line: str) -> bool:
    if _CELL.search(line):
        return True
    return width(line) < PROSE_WIDTH and not _ENDS_PROSE.search(line)
