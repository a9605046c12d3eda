"""What a judge is asked and what every judge, model or rule, must offer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from mtrlib.audit.items import AuditItem
from mtrlib.data.schema import Passage
from mtrlib.llm.questions import Verdict

# the four of MTR-Suite, section 3, then the two that its code has and switches off
METRICS = ("query_evidence", "completeness", "faithfulness", "quality")
SWITCHED_OFF = ("atomicity", "explicit_reference")
EVIDENCE_METRICS = METRICS[:3]  # what a judge without language skill can try
SCALE = (1, 5)
LEVELS = ("not at all", "hardly", "partly", "nearly", "fully")
NONE = "none"  # the label of "no option fits"


@dataclass(frozen=True)
class Task:
    """One question to a judge.

    Attributes
    ----------
    metric : one of ``METRICS`` or ``SWITCHED_OFF``.
    passage : the gold passage to judge (``query_evidence``, ``faithfulness``, ``quality``).
    options : passages in the order shown (``completeness``); the labels are "1", "2", ...
    rotation : which rotation of the order this is.
    """

    metric: str
    item: AuditItem
    passage: Passage | None = None
    options: tuple[Passage, ...] = ()
    rotation: int = 0


class Judge(Protocol):
    """Gives verdicts on the metrics it names."""

    name: str
    metrics: frozenset[str]

    def judge(self, tasks: Sequence[Task]) -> list[Verdict]:
        """One verdict per task, in order.

        ``query_evidence``, ``faithfulness``, ``quality``: a number on ``SCALE``, with
        ``probabilities["yes"]`` where the judge estimates the probability that the passage
        supports. ``completeness``: a label, ``"1"`` for the first option shown, or ``none``.
        ``atomicity``, ``explicit_reference``: 1.0 (single; no wording of that kind) or 0.0.
        A task it cannot judge is missing, with the reason ``not_applicable``.
        """
