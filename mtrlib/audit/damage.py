"""Damaged copies of a benchmark: a known dose of one fault, to see which metric feels it."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mtrlib.audit.bad_language import spoiled
from mtrlib.audit.damage_order import (
    Change,
    answer_order,
    answered,
    language_order,
    noise_order,
    reachable_gold,
    sparsity_order,
)
from mtrlib.data.schema import Benchmark, Qrels, Turn
from mtrlib.errors import InputError

KINDS = ("noise", "sparsity", "unfaithful", "language")


@dataclass(frozen=True)
class Damage:
    """A damaged copy and what was done to it.

    Attributes
    ----------
    benchmark : the copy, named ``<name>+<kind><percent>``.
    rate, reached : asked for and got, fractions; less is got where the set gives no more.
    planted : ``(query_id, passage_id)`` added (noise) or unmarked (sparsity); ``(query_id,
        query_id of the turn whose answer it got)`` (unfaithful); ``(query_id, "")``
        (language). The copy of a lower rate has the first of them.
    """

    benchmark: Benchmark
    kind: str
    rate: float
    reached: float
    planted: tuple[Change, ...]


def damaged(
    benchmark: Benchmark,
    kind: str,
    rate: float,
    *,
    seed: int,
    rejected: Mapping[str, Sequence[str]] | None = None,
) -> Damage:
    """Copy a benchmark with one kind of damage; all other fields stay as they are.

    Doses are nested: with the same seed, what is damaged at 10% is damaged at 20% too.

    Parameters
    ----------
    kind : ``noise`` marks further passages until they are this share of all gold;
        ``sparsity`` unmarks this share of the gold, never the last of a turn;
        ``unfaithful`` gives this share of the answered turns the answer of another turn of
        their conversation with other gold; ``language`` spoils the wording of this share of
        the answers. Only gold in the corpus counts, and only answers of turns that have some.
    rate : fraction, from 0 to below 1.
    seed : seed of the order in which turns and passages are taken.
    rejected : query id -> passages judged not to support, for ``noise``. A turn without any
        in the corpus gets unmarked passages of the articles of its gold, which may support.

    Raises
    ------
    InputError
        Unknown kind, or a rate out of range.

    Notes
    -----
    Histories keep the sound answers, so that one damaged answer touches one turn. Passages
    planted stand behind the turn's own gold and never repeat its text.
    """
    if kind not in KINDS:
        raise InputError(f"damage {kind!r} is unknown. Known kinds: {', '.join(KINDS)}.")
    if not 0 <= rate < 1:
        raise InputError(f"rate={rate} of {kind} must be a fraction, 0 or more and below 1.")
    n_gold = sum(len(gold) for gold in reachable_gold(benchmark).values())
    n_answers = len(answered(benchmark))
    # what may be damaged in order, and how many of it make the rate
    possible, n = {
        "noise": lambda: (
            noise_order(benchmark, rejected or {}, seed=seed),
            n_gold * rate / (1 - rate),  # n / (n_gold + n) = rate
        ),
        "sparsity": lambda: (sparsity_order(benchmark, seed=seed), n_gold * rate),
        "unfaithful": lambda: (answer_order(benchmark, seed=seed), n_answers * rate),
        "language": lambda: (language_order(benchmark, seed=seed), n_answers * rate),
    }[kind]()
    planted = tuple(possible[: round(n)])
    total = {"noise": n_gold + len(planted), "sparsity": n_gold}.get(kind, n_answers)
    reached = len(planted) / total if total else 0.0
    return Damage(_copy(benchmark, kind, rate, planted, seed), kind, rate, reached, planted)


def _copy(
    benchmark: Benchmark, kind: str, rate: float, planted: Sequence[Change], seed: int
) -> Benchmark:
    changes: dict[str, list[str]] = defaultdict(list)
    for query_id, about in planted:
        changes[query_id].append(about)
    answers = {t.query_id: t.answer for t in benchmark.turns()}
    grades = {q: dict(benchmark.qrels.grades(q)) for q in benchmark.qrels}

    def turn_of(turn: Turn) -> Turn:
        about = changes.get(turn.query_id)
        if about is None:
            return turn
        if kind == "unfaithful":
            return dataclasses.replace(turn, answer=answers[about[0]])
        if kind == "language":
            return dataclasses.replace(turn, answer=spoiled(turn.answer or "", seed=seed))
        return _with_gold(turn, grades[turn.query_id], kind, about)

    conversations = tuple(
        dataclasses.replace(c, turns=tuple(turn_of(t) for t in c.turns))
        for c in benchmark.conversations
    )
    name = f"{benchmark.name}+{kind}{100 * rate:g}"
    return Benchmark(name, benchmark.passages, conversations, Qrels(grades))


def _with_gold(turn: Turn, grades: dict[str, int], kind: str, about: Sequence[str]) -> Turn:
    """Mark or unmark passages in a turn, for each of its annotators, and in its ``grades``."""
    if kind == "noise":
        grades |= dict.fromkeys(about, 1)
    else:
        for passage_id in about:
            grades.pop(passage_id)

    def changed(marked: tuple[str, ...]) -> tuple[str, ...]:
        if kind == "noise":
            return (*marked, *about)
        return tuple(p for p in marked if p not in about)

    return dataclasses.replace(
        turn,
        gold=changed(turn.gold),
        gold_by_annotator=tuple(changed(marked) for marked in turn.gold_by_annotator),
    )
