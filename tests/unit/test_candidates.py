"""Options of the distinguishability test: order, rotations, several gold, copies of gold."""

from __future__ import annotations

import pytest

from mtrlib.audit.candidates import options, shown_order
from mtrlib.audit.items import AuditItem, ItemSet
from mtrlib.audit.judging import Judge, Task
from mtrlib.audit.metrics import judgements
from mtrlib.audit.positions import position_statistics
from mtrlib.data.schema import Passage
from mtrlib.errors import InputError
from mtrlib.llm.questions import Verdict

# Case 06
GOLD = Passage("d1", "网关限流默认每秒一百次。")
OTHERS = (Passage("d2", "网关支持按租户配置限流。"), Passage("d3", "默认超时为三十秒。"))
ITEM = AuditItem(
    "q", "case", "c", 1, "网关限流默认值是多少", gold=(GOLD,), negatives=OTHERS
)  # fmt: skip
CASE_06 = ItemSet("case", (ITEM,), (GOLD, *OTHERS))


class AlwaysFirst:
    name = "always_first"
    metrics = frozenset({"completeness"})

    def judge(self, tasks: list[Task]) -> list[Verdict]:
        return [Verdict("1") for _ in tasks]


class Honest(AlwaysFirst):
    name = "honest"

    def judge(self, tasks: list[Task]) -> list[Verdict]:
        return [Verdict(str(1 + [p.text for p in task.options].index(GOLD.text))) for task in tasks]


def completeness(judge: Judge, seed: int = 0, rotations: int = 1) -> list[float]:
    table = judgements(CASE_06, judge, ["completeness"], seed=seed, rotations=rotations)
    return table["value"].tolist()


@pytest.mark.parametrize("seed", range(10))
def test_case_06_rotations(seed) -> None:
    first = completeness(AlwaysFirst(), seed, rotations=3)
    honest = completeness(Honest(), seed, rotations=3)
    assert (sum(first), len(first)) == (1, 3)
    assert (sum(honest), len(honest)) == (3, 3)


def test_case_06_seeded_orders() -> None:
    first = [v for seed in range(300) for v in completeness(AlwaysFirst(), seed)]
    honest = [v for seed in range(300) for v in completeness(Honest(), seed)]
    assert 0.25 <= sum(first) / 300 <= 0.42
    assert sum(honest) == 300


def test_case_06_the_same_seed_gives_the_same_order_in_every_process(same_in_every_process) -> None:
    code = (
        "from mtrlib.audit.candidates import shown_order\n"
        "from mtrlib.data.schema import Passage\n"
        "passages = [Passage(n, '') for n in {f'p{i}' for i in range(30)} | {'问'}]\n"
        "for seed in range(5):\n"
        "    print([p.passage_id for p in shown_order('q', '法官', passages, seed=seed)])"
    )
    output = same_in_every_process(code)
    assert len(set(output.splitlines())) == 5


def test_case_06_position_table() -> None:
    table = judgements(CASE_06, AlwaysFirst(), ["completeness"], seed=1, rotations=3)
    found = position_statistics(table)
    assert found["position"].tolist() == [1, 2, 3]
    assert found["n_picked"].tolist() == [3, 0, 0]
    assert found["expected"].tolist() == pytest.approx([1, 1, 1])


def test_judges_and_items_have_orders_of_their_own() -> None:
    passages = [Passage(f"p{i}", "") for i in range(8)]
    orders = {
        shown_order(item, judge, passages, seed=1) for item in "abc" for judge in ("x", "y", "z")
    }
    assert len(orders) == 9
    assert shown_order("ab", "c", passages, seed=1) != shown_order("a", "bc", passages, seed=1)


def test_an_order_does_not_depend_on_the_order_given() -> None:
    passages = [Passage(f"p{i}", "") for i in range(8)]
    assert shown_order("q", "j", passages, seed=3) == shown_order("q", "j", passages[::-1], seed=3)


def test_a_passage_offered_twice_is_refused() -> None:
    with pytest.raises(InputError, match="item q: a passage is offered twice"):
        shown_order("q", "j", [GOLD, GOLD], seed=1)
    assert shown_order("q", "j", [], seed=1, rotation=2) == ()


def item(gold: list[str], negatives: list[str]) -> AuditItem:
    return AuditItem(
        "q", "set", "c", 1, "?",
        gold=tuple(Passage(f"g{i}", text) for i, text in enumerate(gold, start=1)),
        negatives=tuple(Passage(f"n{i}", text) for i, text in enumerate(negatives, start=1)),
    )  # fmt: skip


def ids(passages: tuple[Passage, ...]) -> list[str]:
    return [p.passage_id for p in passages]


WORDS = "the old mill by the river was rebuilt by two brothers in the spring of that year".split()
LONG = " ".join(WORDS * 3)
CHINESE = "网关限流的默认值是每秒一百次，超过之后返回错误码，租户可以在控制台里单独修改这个数值。"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (LONG, "exact"),
        (f"  {LONG.upper()}\n", "exact"),
        (LONG.replace("the", "the\N{ZERO WIDTH SPACE}", 1), "exact"),
        (LONG + " again", "near"),
        (LONG.replace("brothers", "sisters"), "different"),
        ("a mill", "different"),
        ("", "different"),
    ],
)
def test_copies_of_gold_are_no_negatives(text, kind) -> None:
    passages, report = options(item([LONG], [text, "the weir is new"]), most=8)
    assert getattr(report, kind)[0] == "n1"
    assert ids(passages) == (["g1", "n1", "n2"] if kind == "different" else ["g1", "n2"])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (CHINESE.replace("，", "； "), "near"),  # shingles leave punctuation out
        (CHINESE, "exact"),
        (CHINESE + "完", "near"),
        (OTHERS[0].text, "different"),
    ],
)
def test_copies_of_chinese_gold(text, kind) -> None:
    _, report = options(item([CHINESE], [text]), most=8)
    assert getattr(report, kind) == ("n1",)


def test_a_copy_of_any_gold_counts_even_of_gold_that_has_no_place() -> None:
    one = item(["first text", "second text", "third text"], ["third text", "fourth text"])
    passages, report = options(one, most=3)
    assert ids(passages) == ["g1", "g2", "n2"]
    assert (report.exact, report.different) == (("n1",), ("n2",))


def test_gold_leaves_one_place_for_a_negative() -> None:
    many = item([f"gold {i}" for i in range(9)], [f"other {i}" for i in range(9)])
    passages, _ = options(many, most=8)
    assert ids(passages) == [*(f"g{i}" for i in range(1, 8)), "n1"]
    assert ids(options(item(["gold"], [f"other {i}" for i in range(9)]), most=4)[0]) == [
        "g1", "n1", "n2", "n3",
    ]  # fmt: skip
    with pytest.raises(InputError, match="most=1"):
        options(many, most=1)
