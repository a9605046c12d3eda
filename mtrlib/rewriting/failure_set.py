"""The failure set in people's hands: a file to label and correct, and the labels read back.

Seed 004 asks for a set of failures with a label each, at least 30 a label, instead of one recall
figure. The rules' label is shown as a suggestion, because people correct faster than they
label; how often they did is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from mtrlib.data.jsonl import read_jsonl, text_id, write_jsonl
from mtrlib.data.schema import Passage, Qrels, Turn
from mtrlib.errors import InputError
from mtrlib.rewriting.labels import LABELS, UNATTRIBUTED, Attribution

LAST_UTTERANCES = 4  # of the history, shown so that people see what a pronoun means
FIELDS = ("query_id", "suggested", "label", "rater")


@dataclass(frozen=True)
class LabelledFailures:
    """What people said.

    Attributes
    ----------
    labels : query id -> label; several raters must agree, else the query is in ``disputed``.
    suggested : query id -> what the rules had said.
    n_open : lines without a label.
    disputed : queries that raters labelled differently.
    """

    labels: Mapping[str, str]
    suggested: Mapping[str, str]
    n_open: int
    disputed: tuple[str, ...]

    @property
    def agreement(self) -> float:
        """Share of labelled queries in which people kept the suggestion; NaN without any."""
        if not self.labels:
            return float("nan")
        kept = sum(self.suggested[q] == label for q, label in self.labels.items())
        return kept / len(self.labels)

    def table(self) -> pd.DataFrame:
        """Suggested x given labels, counts."""
        names = [*LABELS, UNATTRIBUTED]
        counts = Counter((self.suggested[q], label) for q, label in self.labels.items())
        rows = [[counts[s, label] for label in LABELS] for s in names]
        return pd.DataFrame(rows, index=names, columns=list(LABELS)).rename_axis("suggested")


def write_failures(
    path: Path | str,
    found: Attribution,
    turns: Sequence[Turn],
    qrels: Qrels,
    passages: Mapping[str, Passage],
) -> int:
    """Write one line per failing query, sorted by id; returns how many.

    ``label`` and ``rater`` are to be filled in: one of the five labels. Gold is shown by id,
    title and section; its text stays in the corpus.
    """
    by_id = {t.query_id: t for t in turns}
    rows = []
    for query_id in sorted(map(str, found.failures.index)):
        failure, turn = found.failures.loc[query_id], by_id[query_id]
        gold = [passages[g] for g in sorted(qrels.gold(query_id)) if g in passages]
        rows.append(
            {
                "query_id": query_id,
                "system": found.system,
                "text": failure["text"],
                "history": [f"{u.role}: {u.text}" for u in turn.history[-LAST_UTTERANCES:]],
                "gold": [
                    {"passage_id": p.passage_id, "title": p.title, "section": list(p.section)}
                    for p in gold
                ],
                "signs": [label for label in LABELS if failure[label]],
                "suggested": failure["primary"],
                "label": "",
                "rater": "",
            }
        )
    return write_jsonl(path, rows)


def read_failures(path: Path | str) -> LabelledFailures:
    """Read a filled file; a line per query, or several of different raters.

    Raises
    ------
    InputError
        Names file, line and mend: a field missing, a label that is none of the five, a label
        without rater, a query twice by one rater, or two suggestions for one query.
    """
    given: dict[str, dict[str, str]] = {}
    suggested: dict[str, str] = {}
    lines: dict[tuple[str, str], int] = {}
    n_open = 0
    for line, record in read_jsonl(path):
        query_id, label, rater = _checked(record, path, line)
        said = str(record["suggested"])
        if suggested.setdefault(query_id, said) != said:
            raise InputError.at(
                path, line, f"another suggestion for {query_id!r}", "keep it as it was written"
            )
        if not label:
            n_open += 1
            continue
        if (query_id, rater) in lines:
            raise InputError.at(
                path,
                line,
                f"{rater!r} has labelled {query_id!r} before (line {lines[query_id, rater]})",
                "keep one line per query and rater",
            )
        lines[query_id, rater] = line
        given.setdefault(query_id, {})[rater] = label
    agreed = {q: set(by.values()) for q, by in given.items()}
    return LabelledFailures(
        {q: labels.pop() for q, labels in agreed.items() if len(labels) == 1},
        suggested,
        n_open,
        tuple(sorted(q for q, labels in agreed.items() if len(labels) > 1)),
    )


def _checked(record: Mapping[str, Any], path: Path | str, line: int) -> tuple[str, str, str]:
    absent = [f for f in FIELDS if f not in record]
    if absent:
        raise InputError.at(path, line, f"no field {absent[0]!r}", "keep the fields as written")
    query_id = text_id(record["query_id"], path, line, "query_id")
    label, rater = (str(record[f] or "").strip() for f in ("label", "rater"))
    label = label.casefold().replace(" ", "_")
    if label and label not in LABELS:
        raise InputError.at(
            path, line, f"label {record['label']!r}", f"use one of {', '.join(LABELS)}, or none"
        )
    if label and not rater:
        raise InputError.at(path, line, "a label without rater", "name who labelled")
    if record["suggested"] not in (*LABELS, UNATTRIBUTED):
        raise InputError.at(
            path, line, f"suggested {record['suggested']!r}", "keep it as it was written"
        )
    return query_id, label, rater
