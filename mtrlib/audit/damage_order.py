"""What can be damaged in a benchmark, in the seeded order in which doses take it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import zip_longest

from mtrlib.audit.candidates import stable_key
from mtrlib.data.matching import normalised
from mtrlib.data.schema import Benchmark, Turn

Change = tuple[str, str]  # query id, and the passage or query id that it is about


def reachable_gold(benchmark: Benchmark) -> dict[str, tuple[str, ...]]:
    """Gold in the corpus by query id, in the turn's order; turns without any are absent."""
    known = {p.passage_id for p in benchmark.passages}
    found = {}
    for turn in benchmark.turns():
        marked = benchmark.qrels.gold(turn.query_id) & known
        first = [g for g in turn.gold if g in marked]
        if marked:
            found[turn.query_id] = (*first, *sorted(marked.difference(first)))
    return found


def answered(benchmark: Benchmark) -> list[Turn]:
    """Turns that have an answer and gold in the corpus, so that the answer can be checked."""
    gold = reachable_gold(benchmark)
    return [t for t in benchmark.turns() if t.query_id in gold and (t.answer or "").strip()]


def noise_order(
    benchmark: Benchmark, rejected: Mapping[str, Sequence[str]], *, seed: int
) -> list[Change]:
    """Passages that may be planted: one for every turn, then a second one, and so on."""
    text = {p.passage_id: normalised(p.text) for p in benchmark.passages}
    article = {p.passage_id: p.document or p.title for p in benchmark.passages}
    of_article: dict[str, list[str]] = defaultdict(list)
    for passage_id, name in article.items():
        of_article[name].append(passage_id)
    plantable = {}
    for query_id, gold in reachable_gold(benchmark).items():
        judged = [p for p in rejected.get(query_id, ()) if p in text]
        neighbours = [p for g in gold if article[g] for p in of_article[article[g]]]
        marked = benchmark.qrels.gold(query_id)
        texts = {text[g] for g in gold}  # a copy of gold supports as well as gold
        plantable[query_id] = [
            p
            for p in dict.fromkeys(judged or neighbours)
            if p not in marked and text[p] not in texts
        ]
    return _by_rounds(plantable, "noise", seed)


def sparsity_order(benchmark: Benchmark, *, seed: int) -> list[Change]:
    """Gold that may be unmarked, one per turn and round; each turn keeps one passage."""
    gold = reachable_gold(benchmark)
    return _by_rounds({q: list(marked) for q, marked in gold.items()}, "sparsity", seed, spared=1)


def answer_order(benchmark: Benchmark, *, seed: int) -> list[Change]:
    """Turns that may get a foreign answer, and the turn that it comes from.

    The donor is another turn of the conversation that shares no gold and says something else.
    """
    gold = reachable_gold(benchmark)
    of_conversation: dict[str, list[Turn]] = defaultdict(list)
    for turn in answered(benchmark):
        of_conversation[turn.conversation_id].append(turn)
    found = []
    for turn in answered(benchmark):
        donors = [
            other.query_id
            for other in of_conversation[turn.conversation_id]
            if not set(gold[other.query_id]) & set(gold[turn.query_id])
            and normalised(other.answer or "") != normalised(turn.answer or "")
        ]
        if donors:
            first = min(donors, key=lambda d: stable_key(seed, "donor", turn.query_id, d))
            found.append((turn.query_id, first))
    return sorted(found, key=lambda change: stable_key(seed, "unfaithful", change[0]))


def language_order(benchmark: Benchmark, *, seed: int) -> list[Change]:
    """Turns whose answer may be spoiled."""
    found = [(t.query_id, "") for t in answered(benchmark)]
    return sorted(found, key=lambda change: stable_key(seed, "language", change[0]))


def _by_rounds(
    plantable: Mapping[str, Sequence[str]], kind: str, seed: int, spared: int = 0
) -> list[Change]:
    """Spread changes over turns: each round takes one passage of every turn that has any left."""
    turns = sorted(plantable, key=lambda q: stable_key(seed, kind, q))
    columns = []
    for q in turns:
        passages = sorted(plantable[q], key=lambda p: stable_key(seed, kind, q, p))
        columns.append([(q, p) for p in passages[: len(passages) - spared]])
    return [change for row in zip_longest(*columns) for change in row if change is not None]
