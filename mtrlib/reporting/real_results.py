"""What ``make real`` measured, written and read back: ``data/results/real``."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import pandas as pd

from mtrlib import paths
from mtrlib.reporting import results

FOLDER = "real"
ABOUT = {
    "validation": (
        "Judges without an LLM against people. mtrag_human: human = mean rating of an answer; "
        "judged = faithfulness of the answer to the gold passages of its task, mean or best of "
        "them. Its completeness is that of the ANSWER, another thing than the evidence "
        "completeness of MTR-Suite; faithfulness is only a proxy there. The rows of `people` "
        "say how far raters agree among themselves; pearson_left_out is each rating against the "
        "mean of the others on its answer. begin: 1 = fully attributable to the knowledge. "
        "clapnq: 1 = answerable from the one passage shown. inscit_pools: gold against the first "
        "ten of four retrievers asked with the last turn; inscit_hard_pairs: gold against the "
        "unmarked passage that BM25 ranks first, against which what resembles BM25 must lose. "
        "Rows named after a retriever are its own score. `verdict` says what is compared: the "
        "score (the rating, 1 to 5, that MTR-Eval averages) or the probability that a "
        "calibrated judge gives. `feature` learnt from mtr-mini alone; `feature cross-fitted` "
        "from the pools of INSCIT, each conversation judged by a model that did not see it. "
        "Unmarked passages count as wrong although some are missing gold. Intervals resample "
        "conversations (begin and clapnq: passages)."
    ),
    "recovery": (
        "INSCIT turns on which both annotators marked something, the second one hidden. "
        "Candidates: what the first marked and the first ten of four retrievers. Suspects are "
        "sorted by the judge's support, at most three a turn. Recall is of all that only the "
        "second marked, also where no retriever finds it (n_hidden_found of n_hidden). The "
        "second annotator is not complete either, so that precision is a lower bound. "
        "`feature cross-fitted` learnt from the first annotator alone, in the other "
        "conversations."
    ),
    "capture_recapture": (
        "Share of the relevant passages that the annotators of INSCIT marked, estimated from "
        "their overlap. Two lists cannot tell how dependent the annotators are: a range over "
        "assumed odds ratios, each row with its assumption, and no lower bound."
    ),
    "rvr_inscit": (
        "RVR on the turns of INSCIT dev with three or more gold passages, asked by the last turn; "
        "judges read the history. Retrievers trained and thresholds set on list-mini, so both are "
        "carried over. Rules by passages: INSCIT names no answers to look for."
    ),
    "rvr_savings": (
        "Verifier calls saved on list-mini test and the same turns of INSCIT together, untrained "
        "retrievers, rule by passages; 90% paired intervals over questions. Probabilities of the "
        "cheap scorer come from list-mini's calibration questions."
    ),
    "rewriting_mtrag": (
        "Retrieval tasks of MTRAG whose gold lies in the corpora of the packs, searched over both. "
        "The last turn against the set's own LLM rewrite: change of Recall@20 in points with its "
        "tier, failures by label, and the rewrite taken as coreference resolution: net benefit. "
        "MTRAG gives no confidence; 0.9 was put in, so that `never` "
        "replaces every triggered turn. Intervals resample conversations."
    ),
}


def save_real(tables: Mapping[str, pd.DataFrame], manifest: Mapping[str, Any]) -> list[str]:
    """Write each table as CSV and its manifest as JSON, and say so in a line for each.

    Parameters
    ----------
    tables : by name, one of ``ABOUT``.
    manifest : what all of them share: date, packs, judges, settings.
    """
    folder = paths.results() / FOLDER
    for name, frame in tables.items():
        table = results.csv_bytes(frame)
        about = {
            "name": name,
            "mode": "measured",
            "notes": ABOUT[name],
            "rows": len(frame),
            "columns": {column: str(kind) for column, kind in frame.dtypes.items()},
            "sha256": hashlib.sha256(table).hexdigest(),
            **manifest,
        }
        results.write_atomically(folder / f"{name}.csv", table)
        results.write_atomically(folder / f"{name}.json", results.json_bytes(about))
    return [f"data/results/{FOLDER}/{name}.csv: {len(t)} rows" for name, t in tables.items()]


def real_tables() -> dict[str, pd.DataFrame]:
    """The committed tables by name, see ``ABOUT``.

    Returns
    -------
    dict
        Tables with the manifest in ``attrs``; those that were not measured (their pack was
        missing) are absent.

    Raises
    ------
    InputError
        A table was changed after it was written.
    """
    found = {}
    for name in ABOUT:
        if (paths.results() / FOLDER / f"{name}.json").is_file():
            found[name], manifest = results.load(name, paths.results() / FOLDER)
            found[name].attrs.update(manifest)
    return found
