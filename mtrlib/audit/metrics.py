"""From items to tasks, and from verdicts to a table: one row per task, nothing dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from mtrlib.audit.candidates import options, shown_order
from mtrlib.audit.items import AuditItem, ItemSet
from mtrlib.audit.judging import METRICS, SWITCHED_OFF, Judge, Task
from mtrlib.audit.verdict_rows import COLUMNS, verdict_row
from mtrlib.errors import InputError
from mtrlib.llm.questions import Verdict

NEED_ANSWER = ("faithfulness", "quality")
PER_PASSAGE = ("query_evidence", "faithfulness")  # one task for each gold passage


def tasks(
    item_set: ItemSet,
    metric: str,
    judge: str,
    *,
    seed: int,
    most_options: int = 8,
    rotations: int = 1,
) -> list[Task]:
    """Questions of one metric over a set, for one judge.

    Parameters
    ----------
    metric : ``query_evidence`` and ``faithfulness`` ask about every gold passage,
        ``quality`` shows the first one, ``completeness`` asks once per rotation, the two of
        ``SWITCHED_OFF`` once per item.
    judge : name of the judge; part of the order of options.
    seed : seed of that order.
    most_options : passages that ``completeness`` shows at most, gold among them.
    rotations : orders per item of ``completeness``; as many as there are options put each
        option once in each place, and more are not asked.

    Raises
    ------
    InputError
        Unknown metric, or fewer than one rotation.

    See Also
    --------
    left_out : items that give no task.

    References
    ----------
    MTR-Suite, section 3.
    """
    if metric not in (*METRICS, *SWITCHED_OFF):
        known = ", ".join((*METRICS, *SWITCHED_OFF))
        raise InputError(f"metric {metric!r} is unknown. Known metrics: {known}.")
    if rotations < 1:
        raise InputError(f"rotations={rotations}. Mend: ask for at least 1 order per item.")
    found = []
    for item in item_set.items:
        if _why_left_out(item, metric, most_options):
            continue
        if metric == "completeness":
            passages, _ = options(item, most=most_options)
            for r in range(min(rotations, len(passages))):
                shown = shown_order(item.item_id, judge, passages, seed=seed, rotation=r)
                found.append(Task(metric, item, options=shown, rotation=r))
        elif metric in PER_PASSAGE:
            found += [Task(metric, item, passage) for passage in item.gold]
        else:
            found.append(Task(metric, item, item.gold[0] if metric == "quality" else None))
    return found


def left_out(
    item_set: ItemSet, metrics: Sequence[str] = METRICS, *, most_options: int = 8
) -> pd.DataFrame:
    """Items that give no task, counted by metric and reason: ``metric, reason, n_items``."""
    counts = Counter(
        (metric, reason)
        for metric in metrics
        for item in item_set.items
        if (reason := _why_left_out(item, metric, most_options))
    )
    rows = [(metric, reason, n) for (metric, reason), n in counts.items()]
    return pd.DataFrame(rows, columns=["metric", "reason", "n_items"])


def judgements(
    item_set: ItemSet,
    judge: Judge,
    metrics: Sequence[str] = METRICS,
    *,
    seed: int,
    most_options: int = 8,
    rotations: int = 1,
) -> pd.DataFrame:
    """Ask a judge about a set. Parameters as :func:`tasks`.

    Metrics that the judge does not name are not asked and come out as ``not_applicable``.

    Returns
    -------
    DataFrame
        One row per task: ``set, judge, metric, item_id, conversation_id, turn_number,
        passage_id`` (the gold passage judged, "" for none), ``value`` (1 to 5;
        ``completeness`` 1.0 for gold and 0.0 for another or none; missing NaN), ``outcome``
        (``gold``, ``other``, ``none`` or "" where nothing could be read or picked),
        ``picked`` (passage id), ``position`` (of the pick, from 1), ``n_options``,
        ``n_gold`` (gold among the options), ``shown`` (ids in the order shown, as JSON),
        ``rotation``, ``reason`` (why there is no value) and ``probability`` (of yes, or of
        the pick, where the judge gives it).

    Raises
    ------
    InputError
        A judge that returns another number of verdicts than it got tasks.
    """
    how: dict[str, int] = {"seed": seed, "most_options": most_options, "rotations": rotations}
    todo = [task for m in metrics for task in tasks(item_set, m, judge.name, **how)]
    asked = [task for task in todo if task.metric in judge.metrics]
    verdicts = judge.judge(asked) if asked else []
    if len(verdicts) != len(asked):
        raise InputError(
            f"judge {judge.name}: {len(verdicts)} verdicts for {len(asked)} tasks of "
            f"{item_set.name}. Mend: the judge must return one verdict per task, in order."
        )
    answers = iter(verdicts)
    rows = []
    for task in todo:
        told = next(answers) if task.metric in judge.metrics else None
        verdict = told or Verdict.missing("not_applicable")
        rows.append(verdict_row(item_set.name, judge.name, task, verdict))
    table = pd.DataFrame(rows, columns=COLUMNS)
    whole = dict.fromkeys(("position", "n_options", "n_gold"), "Int64")
    return table.astype({**whole, "value": float, "probability": float})


def _why_left_out(item: AuditItem, metric: str, most_options: int) -> str:
    """Why an item gives no task of a metric; "" where it does."""
    if metric in NEED_ANSWER and not (item.answer or "").strip():
        return "no answer"
    if metric == "completeness":
        if not item.negatives:
            return "no hard negative"
        if not options(item, most=most_options)[1].different:
            return "every hard negative copies gold"
    return ""
