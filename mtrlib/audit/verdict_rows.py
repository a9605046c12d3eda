"""How a verdict is read: as a number on its scale, or as the passage that its label stood for."""

from __future__ import annotations

import json
import math
from typing import Any

from mtrlib.audit.judging import METRICS, NONE, SCALE, Task
from mtrlib.llm.questions import Verdict

COLUMNS = (
    "set judge metric item_id conversation_id turn_number passage_id value outcome picked "
    "position n_options n_gold shown rotation reason probability"
).split()


def verdict_row(set_name: str, judge: str, task: Task, verdict: Verdict) -> dict[str, Any]:
    """A task and what was said, under the names of ``COLUMNS``; absent fields are left out.

    A number off the scale or a label that was not shown is missing (``out_of_range``): a
    parser should have caught it, and no judge may slip it into a mean.
    """
    read = _read_pick if task.metric == "completeness" else _read_number
    return {
        "set": set_name,
        "judge": judge,
        "metric": task.metric,
        "item_id": task.item.item_id,
        "conversation_id": task.item.conversation_id,
        "turn_number": task.item.turn_number,
        "passage_id": task.passage.passage_id if task.passage else "",
        "outcome": "",
        "picked": "",
        "shown": "",
        "rotation": task.rotation,
        **read(task, verdict),
    }


def _read_number(task: Task, verdict: Verdict) -> dict[str, Any]:
    low, high = SCALE if task.metric in METRICS else (0, 1)
    value = verdict.value
    if value is None:
        return {"value": math.nan, "reason": verdict.reason}
    if isinstance(value, str) or not low <= value <= high:  # NaN fails too
        return {"value": math.nan, "reason": "out_of_range"}
    return {"value": value, "reason": "", "probability": verdict.probabilities.get("yes")}


def _read_pick(task: Task, verdict: Verdict) -> dict[str, Any]:
    """Map a label back through the order that this very task showed."""
    gold = {p.passage_id for p in task.item.gold}
    ids = [p.passage_id for p in task.options]
    fields = {
        "n_options": len(ids),
        "n_gold": len(gold.intersection(ids)),
        "shown": json.dumps(ids, ensure_ascii=False),
        "value": math.nan,
        "reason": verdict.reason,
    }
    if verdict.value is None:
        return fields
    label = str(verdict.value)
    fields["probability"] = verdict.probabilities.get(label)
    if label == NONE:
        return {**fields, "value": 0.0, "outcome": "none"}
    if label not in map(str, range(1, len(ids) + 1)):
        return {**fields, "reason": "out_of_range", "probability": None}
    picked = ids[int(label) - 1]
    return fields | {
        "value": float(picked in gold),
        "outcome": "gold" if picked in gold else "other",
        "picked": picked,
        "position": int(label),
    }
