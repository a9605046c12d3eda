"""All checks of the authored sets, and the statistics that their data cards must show."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scipy.stats import binomtest

from mtrlib import paths
from mtrlib.data.authored.check_conversations import check_conversations
from mtrlib.data.authored.check_judged import check_judged, check_judgements
from mtrlib.data.authored.check_lists import check_lists, main_articles, weak_questions
from mtrlib.data.authored.check_rewrites import check_rewrites
from mtrlib.data.authored.records import Authored
from mtrlib.data.authored.wording import CopyCheck
from mtrlib.data.schema import Passage

_STATS = re.compile(r"<!-- statistics -->\s*```json\n(.*?)```", re.DOTALL)


def check(found: Authored, passages: Sequence[Passage]) -> list[str]:
    """Every problem of the four sets, worst kinds first; empty when all is well."""
    by_id = {p.passage_id: p for p in passages}
    copies = CopyCheck(passages)
    return [
        *check_conversations(found, by_id, copies),
        *check_lists(found, by_id, copies),
        *check_rewrites(found, copies),
        *check_judged(found, by_id),
        *check_judgements(found, by_id),
    ]


def statistics(found: Authored, passages: Sequence[Passage]) -> dict[str, dict[str, Any]]:
    """Counts of each set, as its data card shows them."""
    by_id = {p.passage_id: p for p in passages}
    turns = [turn for _, _, turn in found.turns()]
    labels = Counter(label for turn in turns for label in turn["labels"])
    answers = [len(q["answers"]) for q in found.questions]
    return {
        "mtr-mini": {
            "conversations": len(found.conversations),
            "turns": len(turns),
            "articles_with_gold": len({by_id[g].title for t in turns for g in t["gold"]}),
            "turns_with_two_or_more_gold": sum(len(t["gold"]) > 1 for t in turns),
            "gold_per_answerable_turn": _mean([len(t["gold"]) for t in turns if t["gold"]]),
            "labels": dict(sorted(labels.items())),
            **_pool_statistics(found.judged.get("mtr-mini", {})),
            "rule_audit": _rule_audit(found.rule_audit),
        },
        "list-mini": {
            "questions": dict(sorted(Counter(q["split"] for q in found.questions).items())),
            "kinds": dict(sorted(Counter(q["kind"] for q in found.questions).items())),
            "answers_per_question": _mean(answers),
            "main_articles_of_test": len(main_articles(found, "test")),
            "weak_training_questions_at_least": weak_questions(found, by_id),
            **_pool_statistics(found.judged.get("list-mini", {})),
        },
        "rewrites-mini": {
            "turns": len(found.rewrites),
            "need_decompose": sum(
                r["decomposition"]["need_decompose"] for r in found.rewrites.values()
            ),
            "need_decompose_and_single_chunk": sum(
                r["decomposition"]["need_decompose"]
                and r["decomposition"]["answer_in_single_chunk"]
                for r in found.rewrites.values()
            ),
            "confidence_below_0.6": sum(
                r["standalone"]["confidence"] < 0.6 for r in found.rewrites.values()
            ),
        },
        "judgements-mini": {
            "items": len(found.items),
            "damage": dict(sorted(Counter(i["damage"] or "none" for i in found.items).items())),
            "ratings": len(found.ratings),
            "raters": sorted({r["rater"] for r in found.ratings}),
        },
    }


def _pool_statistics(judged: Mapping[str, list[dict[str, Any]]]) -> dict[str, Any]:
    rows = [row for pooled in judged.values() for row in pooled]
    return {
        "pooled_passages": len(rows),
        "pooled_per_query": _mean([len(p) for p in judged.values()]),
        "gold_in_pools": sum(r["decision"] == "gold" for r in rows),
        "judged_by": dict(sorted(Counter(r["by"] for r in rows).items())),
    }


def _rule_audit(audit: Mapping[str, Any]) -> dict[str, Any]:
    """Share of unread rejects that were wrong in the sample that was read, with its interval."""
    if not audit:
        return {}
    wrong, read = len(audit["wrong"]), audit["read"]
    interval = binomtest(wrong, read).proportion_ci(method="exact")
    return {
        "read": read,
        "wrong": wrong,
        "error_rate_95": [round(interval.low, 4), round(interval.high, 4)],
    }


def _mean(values: Sequence[int]) -> float:
    return round(sum(values) / len(values), 2) if values else 0.0


def card_path(name: str) -> Path:
    """The data card of a set."""
    return paths.root() / "data" / "authored" / name / "README.md"


def check_cards(stats: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Differences between the statistics and the block that each card shows."""
    problems = []
    for name, fresh in stats.items():
        path = card_path(name)
        block = _STATS.search(path.read_text(encoding="utf-8")) if path.is_file() else None
        if block is None:
            problems.append(f"{name}: its data card shows no statistics")
        elif json.loads(block[1]) != json.loads(json.dumps(fresh)):
            problems.append(f"{name}: the statistics of its data card are not those of the data")
    return problems


def write_cards(stats: Mapping[str, Mapping[str, Any]]) -> None:
    """Put fresh statistics into the cards; the words around them stay."""
    for name, fresh in stats.items():
        path = card_path(name)
        text = path.read_text(encoding="utf-8")
        block = f"<!-- statistics -->\n```json\n{json.dumps(fresh, indent=1)}\n```"
        path.write_text(_STATS.sub(lambda _: block, text), encoding="utf-8")  # noqa: B023
