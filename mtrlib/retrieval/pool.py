"""``python -m mtrlib.retrieval.pool``: candidates for the gold of the authored sets.

The pool is what the MTR paper says human annotators lack: the whole corpus in view. For
every turn and list question it is the union of the first 10 passages of all four
retrievers for the standalone query (or the question) and of the first 5 for the raw
utterance and the author voice. A rule may reject a candidate only when it belongs to
another article than the gold and holds neither an answer string nor an entity of the
turn; everything else must be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mtrlib import profiles
from mtrlib.data.authored import records
from mtrlib.data.authored.records import Authored, Record
from mtrlib.data.corpus import wikipedia_passages
from mtrlib.data.schema import Passage
from mtrlib.data.strings import answer_tokens
from mtrlib.errors import run_main
from mtrlib.retrieval.search import searcher

RETRIEVERS = ("bm25", "static-256", "splade-tiny", "minilm")
DEPTH = {"question": 10, "raw": 5, "author_voice": 5}
RULE = "other_article"  # no answer string, no entity of the turn, another article than the gold


@dataclass(frozen=True)
class Need:
    """What is asked: query texts by kind, gold so far, answer strings and entities."""

    name: str
    query_id: str
    texts: Mapping[str, str]
    gold: tuple[str, ...]
    strings: tuple[str, ...]
    entities: tuple[str, ...]


def _needs(found: Authored) -> Iterator[Need]:
    """One need for each turn and each list question."""
    for query_id, _, turn in found.turns():
        rewrite = found.rewrites[query_id]
        standalone = rewrite["standalone"]
        yield Need(
            "mtr-mini",
            query_id,
            {
                "question": standalone["query"],
                "raw": turn["raw_utterance"],
                "author_voice": rewrite["author_voice"],
            },
            tuple(turn["gold"]),
            tuple(a for aliases in turn["answer_strings"] for a in aliases),
            (*standalone["entities"], *_names(standalone["query"])),
        )
    for question in found.questions:
        yield Need(
            "list-mini",
            question["question_id"],
            {"question": question["question"]},
            tuple(dict.fromkeys(p for a in question["answers"] for p in a["passages"])),
            tuple(form for a in question["answers"] for form in (a["text"], *a["aliases"])),
            (*question["main_articles"], *_names(question["question"])),
        )


def _names(text: str) -> list[str]:
    """Capitalised runs of a question, its first word aside."""
    return re.findall(r"(?<=\s)[A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+)*", text)


def pool(found: Authored, passages: Sequence[Passage]) -> dict[str, list[str]]:
    """Candidates by query id, sorted; gold is always among them."""
    wanted = list(_needs(found))
    pooled: dict[str, set[str]] = {need.query_id: set(need.gold) for need in wanted}
    for name in RETRIEVERS:
        retriever = searcher(name, passages)
        for kind, depth in DEPTH.items():
            queries = {n.query_id: n.texts[kind] for n in wanted if kind in n.texts}
            run = retriever.search(queries, depth)
            for query_id in queries:
                pooled[query_id].update(run.ids(query_id, depth))
    return {query_id: sorted(ids) for query_id, ids in pooled.items()}


class Rule:
    """Decides what needs no reading: nothing in a passage that points at the turn."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        self._passages = {p.passage_id: p for p in passages}
        self._text = {i: _padded(f"{p.title} {p.text}") for i, p in self._passages.items()}

    def rejects(self, passage_id: str, need: Need) -> bool:
        """Whether the rule may reject the candidate without reading."""
        if not need.gold or passage_id in need.gold:
            return False
        title = self._passages[passage_id].title
        if title in {self._passages[g].title for g in need.gold}:
            return False
        needles = (_padded(n) for n in (*need.strings, *need.entities))
        return not any(n.strip() and n in self._text[passage_id] for n in needles)


def _padded(text: str) -> str:
    return f" {' '.join(answer_tokens(text))} "


def candidates(
    found: Authored, passages: Sequence[Passage], decided: Mapping[str, Mapping[str, Record]]
) -> Iterator[tuple[str, Record]]:
    """``(set name, {query_id, pooled})`` with earlier decisions kept and the rule applied.

    A candidate that neither the rule nor an earlier reading decides has decision None.
    """
    pooled = pool(found, passages)
    rule = Rule(passages)
    for need in _needs(found):
        known = decided.get(need.query_id, {})
        rows = []
        for passage_id in sorted({*pooled[need.query_id], *need.gold}):
            row = known.get(passage_id)
            if passage_id in need.gold:
                row = {"decision": "gold", "by": "read", "reason": "answers", **(row or {})}
                row["decision"], row["by"] = "gold", "read"
            elif row is None or row["by"] != "read":
                by_rule = rule.rejects(passage_id, need)
                row = {
                    "decision": "reject" if by_rule else None,
                    "by": RULE if by_rule else None,
                    "reason": "other_entity" if by_rule else None,
                }
            rows.append({**row, "passage_id": passage_id})
        yield need.name, {"query_id": need.query_id, "pooled": rows}


def main() -> int:
    """Renew both pools; print how many candidates still have to be read."""
    profiles.load("default")
    found, passages = records.load_authored(), wikipedia_passages()
    decided = {
        query_id: {row["passage_id"]: row for row in pooled}
        for by_query in found.judged.values()
        for query_id, pooled in by_query.items()
    }
    sets: dict[str, list[Record]] = {"mtr-mini": [], "list-mini": []}
    for name, record in candidates(found, passages, decided):
        sets[name].append(record)
    for name, rows in sets.items():
        records.write_judged(records.folder() / name / "judged.jsonl.gz", rows)
        everything = [row for record in rows for row in record["pooled"]]
        unread = sum(row["decision"] is None for row in everything)
        print(f"{name}: {len(everything)} candidates, {unread} still to be read")
    return 0


if __name__ == "__main__":
    run_main(main)
