"""What must hold for every order of options and every damaged copy, searched by Hypothesis."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from mtrlib.audit.candidates import options, shown_order
from mtrlib.audit.damage import KINDS, damaged
from mtrlib.audit.items import AuditItem
from mtrlib.data.schema import Benchmark, Conversation, Passage, Turn

fast = settings(max_examples=60, deadline=None)

texts = st.text(alphabet="ab cd 网关限流，。", min_size=0, max_size=30)
names = st.text(min_size=0, max_size=8)
seeds = st.integers(0, 2**40)


def passages_of(prefix: str, bodies: list[str]) -> tuple[Passage, ...]:
    return tuple(Passage(f"{prefix}{i}", body) for i, body in enumerate(bodies))


@fast
@given(st.integers(1, 9), names, names, seeds)
def test_all_rotations_put_each_passage_once_in_each_place(n, item_id, judge, seed) -> None:
    passages = passages_of("p", [""] * n)
    orders = [shown_order(item_id, judge, passages, seed=seed, rotation=r) for r in range(n)]
    for place in range(n):
        assert Counter(order[place] for order in orders) == Counter(passages)
    assert shown_order(item_id, judge, passages[::-1], seed=seed, rotation=n) == orders[0]


@fast
@given(st.lists(texts, min_size=1, max_size=5), st.lists(texts, max_size=8), st.integers(2, 6))
def test_options_hold_gold_and_no_copy_of_it(gold, negatives, most) -> None:
    item = AuditItem("i", "s", "c", 1, "?", (), passages_of("g", gold),
                     passages_of("n", negatives))  # fmt: skip
    shown, report = options(item, most=most)
    assert len(shown) <= most
    marked = [p for p in shown if p.passage_id.startswith("g")]
    assert len(marked) == min(len(gold), most - 1)
    others = [p for p in shown if p.passage_id.startswith("n")]
    assert not {p.text for p in others} & set(gold)
    assert [p.passage_id for p in others] == list(report.different)[: most - len(marked)]
    counted = (*report.exact, *report.near, *report.different)
    assert sorted(counted) == sorted(p.passage_id for p in item.negatives)


@st.composite
def benchmarks(draw: st.DrawFn) -> Benchmark:
    sizes = draw(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=1,
                          max_size=4))  # fmt: skip
    turns = [
        [
            Turn(f"q{c}_{t}", f"c{c}", t, "?", answer=f"answer 回答 {c} {t}",
                 gold=tuple(f"p{c}_{t}_{i}" for i in range(size)))
            for t, size in enumerate(row)
        ]
        for c, row in enumerate(sizes)
    ]  # fmt: skip
    passages = [
        Passage(f"p{c}_{t}_{i}", f"段落 {c} {t} {i}", title=f"A{c}")
        for c, row in enumerate(sizes)
        for t in range(len(row))
        for i in range(12)
    ]
    return Benchmark(
        "b", tuple(passages), tuple(Conversation(f"c{c}", tuple(r)) for c, r in enumerate(turns))
    )


@fast
@given(benchmarks(), st.sampled_from(KINDS), st.floats(0, 0.5), st.floats(0, 0.5), seeds)
def test_doses_are_nested_and_reach_their_rate_within_one_unit(b, kind, rate, other, seed) -> None:
    low, high = (damaged(b, kind, r, seed=seed) for r in sorted((rate, other)))
    assert high.planted[: len(low.planted)] == low.planted
    assert len(set(high.planted)) == len(high.planted)
    gold = [t.gold for t in b.turns() if t.gold]
    units = {
        "noise": sum(map(len, gold)) + len(high.planted),
        "sparsity": sum(map(len, gold)),
    }.get(kind, len(gold))
    assert high.reached == (len(high.planted) / units if units else 0)
    most = damaged(b, kind, 0.95, seed=seed)
    if units and len(high.planted) < len(most.planted):
        assert abs(high.reached - high.rate) <= 1 / units
    else:
        assert high.reached <= high.rate + (1 / units if units else 0)
