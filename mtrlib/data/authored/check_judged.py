"""Checks of the pools (every candidate judged, gold complete) and of judgements-mini."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from mtrlib.data.authored.records import Authored, Record
from mtrlib.data.schema import Passage
from mtrlib.data.strings import answer_tokens

ITEMS, DAMAGED = 160, 40
METRICS = ("query_evidence", "completeness", "faithfulness", "quality")
DAMAGES = ("swapped_gold", "wrong_fact", "missing_gold", "bad_language")


def needs(found: Authored) -> Iterator[tuple[str, str, set[str], list[list[str]]]]:
    """``(set, query id, gold, alias lists)`` of every turn with gold and every list question."""
    for query_id, _, turn in found.turns():
        yield "mtr-mini", query_id, set(turn["gold"]), turn["answer_strings"]
    for question in found.questions:
        gold = {p for a in question["answers"] for p in a["passages"]}
        aliases = [[a["text"], *a["aliases"]] for a in question["answers"]]
        yield "list-mini", question["question_id"], gold, aliases


def check_judged(found: Authored, passages: Mapping[str, Passage]) -> Iterator[str]:
    """Yield every candidate without a judgement, and every answer string nobody looked at."""
    text = {i: f" {' '.join(answer_tokens(f'{p.title} {p.text}'))} " for i, p in passages.items()}
    for name, query_id, gold, aliases in needs(found):
        pooled = found.judged.get(name, {}).get(query_id)
        if pooled is None:
            yield f"{query_id}: has no judged pool"
            continue
        by_id = {r["passage_id"]: r for r in pooled}
        if len(by_id) != len(pooled):
            yield f"{query_id}: a passage is judged twice"
        for passage_id, record in by_id.items():
            yield from _decision(query_id, passage_id, record, gold, passages)
        yield from (f"{query_id}: gold {g} is not in the judged pool" for g in gold - set(by_id))
        read = {i for i, r in by_id.items() if r["by"] == "read"}
        needles = [f" {' '.join(answer_tokens(a))} " for alias in aliases for a in alias]
        for passage_id in by_id.keys() - gold - read:
            if any(n.strip() and n in text.get(passage_id, "") for n in needles):
                yield f"{query_id}: {passage_id} holds an answer string and was not read"


def _decision(
    query_id: str,
    passage_id: str,
    record: Record,
    gold: set[str],
    passages: Mapping[str, Passage],
) -> Iterator[str]:
    if passage_id not in passages:
        yield f"{query_id}: no passage {passage_id}"
    if record["decision"] not in ("gold", "reject"):
        yield f"{query_id}: {passage_id} is not judged"
    elif (record["decision"] == "gold") != (passage_id in gold):
        yield f"{query_id}: {passage_id} is {record['decision']} in the pool, not in the set"
    if not record["by"] or (record["decision"] == "reject" and not record["reason"]):
        yield f"{query_id}: {passage_id} is rejected without a rule or reason"


def check_judgements(found: Authored, passages: Iterable[str]) -> Iterator[str]:
    """Yield problems of judgements-mini: counts, damage, scale, two ratings for each item."""
    known = set(passages)
    if len(found.items) != ITEMS:
        yield f"judgements-mini: {len(found.items)} items, must be {ITEMS}"
    damaged = Counter(i["damage"] for i in found.items if i["damage"])
    if sum(damaged.values()) != DAMAGED or set(damaged) - set(DAMAGES):
        yield f"judgements-mini: {sum(damaged.values())} damaged items, must be {DAMAGED}"
    pools = {i["item_id"]: i["pool"] for i in found.items}
    for item_id, pool in pools.items():
        yield from (f"{item_id}: no passage {p}" for p in pool if p not in known)
    rated = Counter((r["item_id"], r["metric"], r["rater"]) for r in found.ratings)
    raters = sorted({r["rater"] for r in found.ratings})
    if len(raters) != 2:
        yield f"judgements-mini: {len(raters)} raters, must be 2"
    for item_id in pools:
        for metric in METRICS:
            for rater in raters:
                times = rated[item_id, metric, rater]
                if times != 1:
                    yield f"{item_id}: {metric} by {rater} is rated {times} times"
    for rating in found.ratings:
        yield from _scale(rating, pools)


def _scale(rating: Record, pools: Mapping[str, list[str]]) -> Iterator[str]:
    name, value = f"{rating['item_id']}, {rating['metric']}", rating["rating"]
    if rating["item_id"] not in pools:
        yield f"{name}: no such item"
    elif rating["metric"] == "completeness":
        if value != "none" and value not in pools[rating["item_id"]]:
            yield f"{name}: {value!r} is neither a passage of the pool nor none"
    elif type(value) is not int or not 1 <= value <= 5:
        yield f"{name}: {value!r} is not on the scale of 1 to 5"
