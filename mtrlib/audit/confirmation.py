"""Suspected missing gold in people's hands: lists to fill in, and verdicts read back.

MTR-Suite, section 3, had people confirm 300 flagged cases (98% confirmed, Fleiss' kappa .92).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from mtrlib.audit.items import ItemSet
from mtrlib.data.jsonl import read_jsonl, text_id, write_jsonl
from mtrlib.errors import InputError
from mtrlib.evaluation.calibration import wilson_interval
from mtrlib.evaluation.reliability import fleiss_kappa, rating_counts

VERDICTS = ("yes", "no")  # does the passage answer the question, given the history?
OPENING_WORDS = 12
_CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # written without spaces, or nearly
_WORD = re.compile(rf"[{_CJK}]|[^\s{_CJK}]+")


@dataclass(frozen=True)
class Confirmation:
    """What people said of suspected missing gold.

    Attributes
    ----------
    share, low, high : confirmed by more than half of their raters, of the pairs rated; Wilson
        interval, which takes pairs as independent.
    n, n_open : pairs with a verdict, and without one.
    n_raters : people.
    kappa : Fleiss, over pairs with two or more raters; NaN where there are none or all
        verdicts are alike.
    confirmed : ``(item_id, passage_id)``, sorted.
    """

    share: float
    low: float
    high: float
    n: int
    n_open: int
    n_raters: int
    kappa: float
    confirmed: tuple[tuple[str, str], ...]


def write_suspects(path: Path | str, found: pd.DataFrame, items: ItemSet) -> int:
    """Write suspects for people to fill in ``verdict`` (yes or no) and ``rater``; returns how many.

    Each line has the ids, the question, the title and the first twelve words of the passage,
    and the titles of the marked passages. The judge's p and rank are left out and lines are
    sorted by id: who sees that a model is sure agrees with it more easily.

    Raises
    ------
    InputError
        A suspect whose turn or passage is not in ``items``.
    """
    by_item = {item.item_id: item for item in items.items}
    by_passage = {p.passage_id: p for p in items.passages}
    rows = []
    for item_id, passage_id in sorted(zip(found["item_id"], found["passage_id"], strict=True)):
        if item_id not in by_item or passage_id not in by_passage:
            raise InputError(
                f"suspect {passage_id!r} of {item_id!r} is not in {items.name}. Mend: give the "
                "items that the pairs were made of."
            )
        passage, item = by_passage[passage_id], by_item[item_id]
        rows.append(
            {
                "item_id": item_id,
                "passage_id": passage_id,
                "question": item.question,
                "title": passage.title,
                "opening": opening(passage.text),
                "marked": [{"passage_id": g.passage_id, "title": g.title} for g in item.gold],
                "verdict": "",
                "rater": "",
            }
        )
    return write_jsonl(path, rows)


def opening(text: str) -> str:
    """The first twelve words; a Chinese, Japanese or Korean character counts as a word."""
    words = list(_WORD.finditer(text))
    if len(words) <= OPENING_WORDS:
        return text.strip()
    return text[words[0].start() : words[OPENING_WORDS - 1].end()] + " ..."


def read_confirmed(paths: Iterable[Path | str], *, confidence: float = 0.95) -> Confirmation:
    """Read filled lists, of one or several raters.

    A line without a verdict is open. A pair is confirmed where more than half of its raters
    say yes; a draw is not.

    Raises
    ------
    InputError
        Names file and line: a verdict other than yes or no, a verdict without rater, a field
        missing, or a pair that a rater judged twice.
    """
    rows: list[tuple[str, str, str, str]] = []
    pairs: set[tuple[str, str]] = set()
    seen: dict[tuple[tuple[str, str], str], str] = {}
    for path in paths:
        for line, record in read_jsonl(path):
            pair, rater, verdict = _verdict(record, path, line)
            pairs.add(pair)
            if not verdict:
                continue
            if (pair, rater) in seen:
                raise InputError.at(
                    path,
                    line,
                    f"{rater!r} has judged passage {pair[1]!r} of {pair[0]!r} before "
                    f"({seen[pair, rater]})",
                    "keep one line per pair and rater",
                )
            seen[pair, rater] = f"{path}:{line}"
            rows.append((*pair, rater, verdict))
    if not rows:
        return Confirmation(math.nan, 0.0, 1.0, 0, len(pairs), 0, math.nan, ())
    table = pd.DataFrame(rows, columns=["item_id", "passage_id", "rater", "verdict"])
    wide = table.pivot(index=["item_id", "passage_id"], columns="rater", values="verdict")
    yes, rated = (wide == "yes").sum(axis=1), wide.notna().sum(axis=1)
    confirmed = tuple((str(i), str(p)) for i, p in wide.index[2 * yes > rated].sort_values())
    n = len(wide)
    low, high = wilson_interval(len(confirmed), n, confidence)
    kappa = fleiss_kappa(rating_counts(wide.reset_index(drop=True)))
    return Confirmation(
        len(confirmed) / n, low, high, n, len(pairs) - n, wide.shape[1], kappa, confirmed
    )


def _verdict(
    record: dict[str, Any], path: Path | str, line: int
) -> tuple[tuple[str, str], str, str]:
    absent = [f for f in ("item_id", "passage_id", "verdict", "rater") if f not in record]
    if absent:
        raise InputError.at(path, line, f"no field {absent[0]!r}", "keep the fields as written")
    item_id, passage_id = (text_id(record[f], path, line, f) for f in ("item_id", "passage_id"))
    verdict, rater = (str(record[f] or "").strip() for f in ("verdict", "rater"))
    verdict = verdict.lower()
    if verdict and verdict not in VERDICTS:
        raise InputError.at(
            path, line, f"verdict {record['verdict']!r}", 'write "yes" or "no", or leave it empty'
        )
    if verdict and not rater:
        raise InputError.at(path, line, "a verdict without rater", "name who judged")
    return (item_id, passage_id), rater, verdict
