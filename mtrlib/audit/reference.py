"""The reference judge: what two raters said of the items of judgements-mini."""

from __future__ import annotations

from collections.abc import Sequence

from mtrlib.audit.items import AuditItem, ItemSet
from mtrlib.audit.judging import METRICS, NONE, Task
from mtrlib.audit.pair_judge import NOT_APPLICABLE
from mtrlib.data.authored.records import Authored, load_authored
from mtrlib.data.schema import Benchmark
from mtrlib.llm.questions import Verdict

NAME = "judgements-mini"


def judged_items(
    benchmark: Benchmark, authored: Authored | None = None
) -> tuple[ItemSet, dict[str, str]]:
    """The items of judgements-mini over mtr-mini, and how each was damaged.

    Parameters
    ----------
    benchmark : mtr-mini; where it is cut, items whose turn or passages are gone are left out.

    Returns
    -------
    ItemSet, dict
        The rated passage stands as gold, the rest of the stored pool, in its order, as
        negatives; then item id -> damage, ``none`` for intact items. Where the damage is
        ``missing_gold`` or ``swapped_gold`` the raters' pool lacked the rated passage.
    """
    found = authored or load_authored()
    by_id = {p.passage_id: p for p in benchmark.passages}
    turns = {t.query_id: t for t in benchmark.turns()}
    items, damage, used = [], {}, {}
    for record in found.items:
        turn = turns.get(record["query_id"])
        if turn is None or not by_id.keys() >= {record["passage_id"], *record["pool"]}:
            continue
        item_id, passage_id = record["item_id"], record["passage_id"]
        damage[item_id], used[item_id] = record["damage"] or "none", turn
        items.append(
            AuditItem(
                item_id,
                NAME,
                turn.conversation_id,
                turn.turn_number,
                turn.raw_utterance,
                turn.history,
                gold=(by_id[passage_id],),
                negatives=tuple(by_id[p] for p in record["pool"] if p != passage_id),
                answer=record["answer"],
            )
        )
    return ItemSet(NAME, tuple(items), benchmark.passages, turns=used), damage


class ReferenceJudge:
    """Mean of the two ratings; knows the items of judgements-mini and nothing else.

    ``completeness``: the option that both raters picked from the stored pool, ``none`` where
    they found none there; they are ``ambiguous`` where they differ. A pick that is not shown,
    and ``none`` where an option is shown that was not in their pool, are ``not_applicable``:
    they say nothing about these options. So are other metrics and other passages.
    """

    name = "reference"
    metrics = frozenset(METRICS)

    def __init__(self, authored: Authored | None = None) -> None:
        found = authored or load_authored()
        self._passage = {r["item_id"]: r["passage_id"] for r in found.items}
        self._pool = {r["item_id"]: frozenset(r["pool"]) for r in found.items}
        self._ratings: dict[tuple[str, str], list[int | str]] = {}
        for r in found.ratings:
            self._ratings.setdefault((r["item_id"], r["metric"]), []).append(r["rating"])

    def judge(self, tasks: Sequence[Task]) -> list[Verdict]:
        """One verdict per task, in order."""
        return [self._verdict(task) for task in tasks]

    def _verdict(self, task: Task) -> Verdict:
        item_id = task.item.item_id
        ratings = self._ratings.get((item_id, task.metric), [])
        if task.item.benchmark != NAME or not ratings:
            return NOT_APPLICABLE
        if task.metric == "completeness":
            return self._pick(task, {str(r) for r in ratings})
        if task.passage is not None and task.passage.passage_id != self._passage[item_id]:
            return NOT_APPLICABLE
        return Verdict(sum(float(r) for r in ratings) / len(ratings))

    def _pick(self, task: Task, picked: set[str]) -> Verdict:
        if len(picked) > 1:
            return Verdict.missing("ambiguous")
        shown = [p.passage_id for p in task.options]
        (choice,) = picked
        if choice in shown:
            return Verdict(str(shown.index(choice) + 1))
        seen_by_raters = bool(shown) and self._pool[task.item.item_id].issuperset(shown)
        return Verdict(NONE) if choice == NONE and seen_by_raters else NOT_APPLICABLE
