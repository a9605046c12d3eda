"""StrategyQA: yes/no questions whose strategy is implicit, with human decompositions.

Facts of the format
    A JSON list: ``qid, term, description, question, answer (true or false), facts[],
    decomposition[], evidence[annotator][step][...]``. Steps refer to earlier ones as ``#1``.
    What an annotator marked for a step mixes lists of paragraph ids (``Title-4``) with
    the words ``operation`` (a step of logic) and ``no_evidence`` (nothing was found).
    Three annotators, four for a few questions. ``Decomposition.evidence`` is, per step, the
    union over annotators in order of appearance; the two words leave it empty. The test file
    has neither decompositions nor evidence. No paragraph text comes with the set.

Source: Geva et al. 2021; github.com/eladsegal/strategyqa, MIT.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mtrlib.data.formats.base import Format, fields, head, records
from mtrlib.data.formats.nested import names_all
from mtrlib.data.tasks import Decomposition
from mtrlib.errors import InputError

WORDS = {"operation", "no_evidence"}


def read_decompositions(path: Path | str) -> Iterator[Decomposition]:
    """Questions with their steps; ``answer`` is yes or no.

    Raises
    ------
    InputError
        A missing or mistyped field, evidence of an unknown shape or for another number of
        steps; file and record are named.
    """
    path = Path(path)
    for source, record in records(path):
        qid, question = fields(record, source, path, "qid", "question", kinds=(str,))
        steps, evidence = fields(record, source, path, "decomposition", "evidence", kinds=(list,))
        (answer,) = fields(record, source, path, "answer", kinds=(bool,))
        yield Decomposition(
            qid,
            question,
            tuple(steps),
            _evidence(evidence, len(steps), source, path),
            "yes" if answer else "no",
            source,
        )


def _evidence(
    annotators: Any, n_steps: int, source: str, path: Path
) -> tuple[tuple[str, ...], ...]:
    union: list[dict[str, None]] = [{} for _ in range(n_steps)]
    for annotator in annotators:
        if len(annotator) != n_steps:
            raise InputError(
                f"{path}: {source}: evidence for {len(annotator)} steps, but there are {n_steps}. "
                "Mend: use the set's own file."
            )
        for found, step in zip(union, annotator, strict=True):
            for marked in step:
                if isinstance(marked, list) and all(isinstance(m, str) for m in marked):
                    found |= dict.fromkeys(marked)
                elif not isinstance(marked, str) or marked not in WORDS:
                    raise InputError(
                        f"{path}: {source}: evidence {str(marked)[:40]!r}. "
                        f"Mend: lists of paragraph ids, or {' or '.join(sorted(WORDS))}."
                    )
    return tuple(tuple(found) for found in union)


def _recognises(path: Path) -> bool:
    start = head(path, 1 << 14) if path.suffix == ".json" else ""
    return names_all(start, "qid", "term", "decomposition", "facts")


FORMAT = Format(
    name="strategyqa",
    title="StrategyQA: yes/no questions with human decompositions",
    seen="real record",
    recognises=_recognises,
    decompositions=read_decompositions,
)
FORMATS = (FORMAT,)
