"""Replies read by kind: JSON plans and standalone queries, lists of variants, single texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from mtrlib.llm.reply_text import keyed_values, split_reply
from mtrlib.rewriting.guards import read_single, text_guard
from mtrlib.rewriting.mentions import plain
from mtrlib.rewriting.rewrites import Task
from mtrlib.rewriting.variant_list import read_variants

Fields = dict[str, Any]

_QUERY = frozenset(
    "standalone_query standalone query rewrite rewritten_query rewritten question "
    "独立问题 独立查询 改写 查询 问题".split()
)
_ENTITIES = frozenset("resolved_entities entities 补全的实体 补全的名称 实体".split())
_CONFIDENCE = frozenset("confidence 置信度".split())
_NEED = frozenset("need_decompose needs_decompose need_decomposition 是否需要拆分".split())
_SINGLE = frozenset("answer_in_single_chunk single_chunk".split())
_PARTS = frozenset("sub_queries subqueries sub_questions 子问题 子查询".split())
_TRUE, _FALSE = {"true", "yes", "是", "需要"}, {"false", "no", "否", "不需要"}


def _read_confidence(values: Collection[Any]) -> float | None:
    """A confidence in [0, 1], or None: none given, not a number, off the scale, or several.

    Nothing is rescaled: 82 may be a percentage and 8 one of ten, so neither is read.
    """
    found = set()
    for value in values:
        if isinstance(value, str):
            try:
                value = float(value.strip())
            except ValueError:
                return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        if not (math.isfinite(value) and 0 <= value <= 1):
            return None
        found.add(float(value))
    return found.pop() if len(found) == 1 else None


def _standalone(reply: str, task: Task) -> Fields:
    """Standalone query, entities and confidence.

    A reply without JSON that is one text is taken as the query; its confidence is then None,
    which counts as low.
    """
    parts = split_reply(reply)
    if not parts.objects:
        text, failed = read_single(reply, task.text)
        failed = failed or _repeats(text, task)
        return {"failed": failed} if failed else {"texts": (text,)}
    queries = {plain(str(v)): v for v in keyed_values(parts.objects, _QUERY)}
    if len(queries) != 1:
        return {"failed": "several queries" if queries else "no standalone query"}
    (text,) = queries.values()
    if failed := text_guard(text, task.text) or _repeats(text, task):
        return {"failed": failed}
    entities = keyed_values(parts.objects, _ENTITIES)
    return {
        "texts": (" ".join(text.split()),),
        "entities": tuple(dict.fromkeys(e.strip() for e in entities if _is_text(e))),
        "confidence": _read_confidence(keyed_values(parts.objects, _CONFIDENCE)),
    }


def _decomposition(reply: str, task: Task) -> Fields:
    """Whether to decompose, and into what; fewer than two usable sub-queries are a failure."""
    parts = split_reply(reply)
    need = _truth(keyed_values(parts.objects, _NEED))
    single = _truth(keyed_values(parts.objects, _SINGLE))
    if need is None:
        return {"failed": "no decision"}
    decided: Fields = {"need_decompose": need, "single_chunk": single}
    if not need:
        return decided
    kept: dict[str, str] = {}
    for text in keyed_values(parts.objects, _PARTS):
        if not text_guard(text, task.text) and plain(text) != plain(task.text):
            kept.setdefault(plain(text), " ".join(text.split()))
    if len(kept) < 2:
        return {**decided, "failed": "fewer than two sub-queries"}
    return {**decided, "texts": tuple(kept.values())}


def _variants(reply: str, task: Task) -> Fields:
    found = read_variants(reply, task.text, task.wanted)
    return {"texts": found.variants, "failed": found.failed, "notes": found.dropped}


def _single(reply: str, task: Task) -> Fields:
    text, failed = read_single(reply, task.text)
    return {"failed": failed} if failed else {"texts": (text,)}


READERS: Mapping[str, Callable[[str, Task], Fields]] = {
    "standalone": _standalone,
    "decomposition": _decomposition,
    "variants": _variants,
    "hypothetical": _single,
    "hypothetical_careful": _single,
    "author_voice": _single,
}


def _truth(values: Sequence[Any]) -> bool | None:
    found = set()
    for value in values:
        word = value.strip().casefold() if isinstance(value, str) else value
        if word is True or word in _TRUE:
            found.add(True)
        elif word is False or word in _FALSE:
            found.add(False)
        else:
            return None
    return found.pop() if len(found) == 1 else None


def _repeats(text: str, task: Task) -> str:
    """A standalone query that is an earlier utterance asks something else again."""
    said = {plain(u.text) for u in task.history} - {plain(task.text)}
    return "repeats the history" if plain(text) in said else ""


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and any(c.isalnum() for c in value)
