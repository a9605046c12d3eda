"""Labels of failing queries: what each means, how many there are, which occur together."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from mtrlib.errors import InputError

LABELS = (
    "ranking",
    "missing_context",
    "underspecified",
    "expression_gap",
    "vocabulary_mismatch",
)  # in the order of precedence
UNATTRIBUTED = "unattributed"
REMEDY = {
    "ranking": "a reranker; rewriting makes it worse",
    "missing_context": "coreference resolution",
    "underspecified": "decomposition",
    "expression_gap": "HyDE",
    "vocabulary_mismatch": "multi-query + BM25 hybrid",
    UNATTRIBUTED: "read the cases",
}


@dataclass(frozen=True, eq=False)
class Attribution:
    """Labels of the failing queries of one retriever and query text.

    Attributes
    ----------
    failures : indexed by ``query_id``: ``text``, one boolean column per label, ``primary``,
        ``gold_rank`` (of the first gold or near copy in the first ``deep``; missing = none).
    n_queries : with gold; ``n_without_gold`` were left out.
    n_near_copy : queries that found no gold but a near copy of it among the first k: no
        failures for this table.
    least : examples below which a label is too small to decide on.
    """

    system: str
    failures: pd.DataFrame
    n_queries: int
    n_without_gold: int
    n_near_copy: int
    least: int

    def counts(self) -> pd.DataFrame:
        """Per label: ``primary, any`` (queries), ``share`` of failures, ``note, remedy``."""
        rows = []
        for label in (*LABELS, UNATTRIBUTED):
            primary = int((self.failures["primary"] == label).sum())
            every = primary if label == UNATTRIBUTED else int(self.failures[label].sum())
            share = primary / len(self.failures) if len(self.failures) else float("nan")
            note = "" if primary >= self.least else "too few to decide on"
            rows.append((label, primary, every, share, note, REMEDY[label]))
        columns = ["label", "primary", "any", "share", "note", "remedy"]
        return pd.DataFrame(rows, columns=columns).set_index("label")

    def matrix(self) -> pd.DataFrame:
        """Label x label: failures that carry both; the diagonal is ``any`` of the counts."""
        signs = self.failures[list(LABELS)].astype(int)
        return signs.T @ signs

    def queries(self, label: str) -> list[str]:
        """Failing queries with this primary label."""
        return [str(q) for q in self.failures.index[self.failures["primary"] == label]]

    def groups(self) -> dict[str, list[str]]:
        """Primary label -> its failing queries; labels without any are left out."""
        found = {label: self.queries(label) for label in (*LABELS, UNATTRIBUTED)}
        return {label: queries for label, queries in found.items() if queries}

    def relabelled(self, labels: Mapping[str, str]) -> Attribution:
        """The same with the primary labels that people gave; others stay.

        Raises
        ------
        InputError
            A query that is no failure here, or an unknown label.
        """
        for query_id, label in labels.items():
            if query_id not in self.failures.index or label not in (*LABELS, UNATTRIBUTED):
                raise InputError(
                    f"{query_id!r} labelled {label!r}: no failing query, or no label. Mend: "
                    f"label the failure set of this retriever; labels are {', '.join(LABELS)}."
                )
        changed = self.failures.copy()
        for query_id, label in labels.items():
            changed.loc[query_id, "primary"] = label
            if label != UNATTRIBUTED:
                changed.loc[query_id, label] = True
        return dataclasses.replace(self, failures=changed)
