"""Damaged copies: rates, nested doses, what is touched and what is not."""

from __future__ import annotations

import dataclasses

import pytest

from mtrlib.audit.bad_language import spoiled
from mtrlib.audit.damage import KINDS, damaged
from mtrlib.data.schema import Benchmark, Conversation, Passage, Qrels, Turn, Utterance
from mtrlib.errors import InputError

N_CONVERSATIONS, N_TURNS = 5, 4


def turn(c: int, t: int) -> Turn:
    gold = tuple(f"p{c}_{t}_{i}" for i in range(1 + t % 4))
    answers = [
        f"The answer {t} is that the mills were rebuilt in {1850 + t}.",
        f"磨坊在{t}年重建了。",
    ]
    return Turn(
        f"q{c}_{t}", f"c{c}", t, f"question {t}?",
        history=(Utterance("user", "前一个问题"),),
        gold=gold,
        rewrite="self-contained",
        answer=answers[c % 2],
        gold_by_annotator=(gold, gold[:1]),
    )  # fmt: skip


PASSAGES = tuple(
    Passage(f"p{c}_{t}_{i}", f"text {c} {t} {i}", title=f"article {c}")
    for c in range(N_CONVERSATIONS)
    for t in range(1, N_TURNS + 1)
    for i in range(8)
)
SET = Benchmark(
    "toy",
    PASSAGES,
    tuple(
        Conversation(f"c{c}", tuple(turn(c, t) for t in range(1, N_TURNS + 1)))
        for c in range(N_CONVERSATIONS)
    ),
)
N_GOLD = sum(len(t.gold) for t in SET.turns())
N_ANSWERS = N_CONVERSATIONS * N_TURNS


def by_id(benchmark: Benchmark) -> dict[str, Turn]:
    return {t.query_id: t for t in benchmark.turns()}


@pytest.mark.parametrize("kind", KINDS)
def test_the_original_stays_and_a_rate_of_0_changes_nothing(kind) -> None:
    before = SET.digest()
    none = damaged(SET, kind, 0.0, seed=1)
    damaged(SET, kind, 0.4, seed=1)
    assert SET.digest() == before
    assert none.benchmark == dataclasses.replace(
        SET, name=f"toy+{kind}0", qrels=none.benchmark.qrels
    )
    assert none.planted == ()
    assert (none.rate, none.reached) == (0, 0)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("noise", {"gold", "gold_by_annotator"}),
        ("sparsity", {"gold", "gold_by_annotator"}),
        ("unfaithful", {"answer"}),
        ("language", {"answer"}),
    ],
)
def test_only_its_own_fields_and_turns_are_touched(kind, fields) -> None:
    found = damaged(SET, kind, 0.4, seed=1)
    old, new = by_id(SET), by_id(found.benchmark)
    hit = {q for q, _ in found.planted}
    assert hit
    for query_id, before in old.items():
        after = new[query_id]
        changed = {
            f.name
            for f in dataclasses.fields(Turn)
            if getattr(before, f.name) != getattr(after, f.name)
        }
        assert changed == (fields if query_id in hit else set())
    assert found.benchmark.passages is SET.passages
    assert found.benchmark.name == f"toy+{kind}40"


def test_noise_adds_rejected_passages_behind_the_gold() -> None:
    rejected = {t.query_id: [f"p{i}_1_7" for i in range(5)] + ["gone"] for t in SET.turns()}
    found = damaged(SET, "noise", 0.4, seed=1, rejected=rejected)
    assert found.reached == pytest.approx(len(found.planted) / (N_GOLD + len(found.planted)))
    assert found.reached == pytest.approx(0.4, abs=1 / N_GOLD)
    added = dict(found.planted)
    assert set(added.values()) <= {f"p{i}_1_7" for i in range(5)}
    for query_id, after in by_id(found.benchmark).items():
        before = by_id(SET)[query_id]
        planted = [p for q, p in found.planted if q == query_id]
        assert after.gold == (*before.gold, *planted)
        assert set(after.gold_by_annotator[0]) == set(after.gold)
        assert found.benchmark.qrels.gold(query_id) == set(after.gold)


def test_noise_spreads_over_turns_before_it_doubles() -> None:
    found = damaged(SET, "noise", 0.2, seed=1)
    assert len({q for q, _ in found.planted}) == len(found.planted) <= N_ANSWERS


def test_noise_without_rejected_takes_the_same_article_and_never_a_copy() -> None:
    article = {p.passage_id: p.title for p in PASSAGES}
    found = damaged(SET, "noise", 0.4, seed=1)
    for query_id, passage_id in found.planted:
        assert article[passage_id] == f"article {query_id[1]}"
    twins = (Passage("g", "黄金"), Passage("copy", " 黄金 "), Passage("other", "别的"))
    turns = (Turn("q", "c", 1, "?", gold=("g",)),)
    one = Benchmark("one", tuple(dataclasses.replace(p, title="A") for p in twins),
                    (Conversation("c", turns),))  # fmt: skip
    assert damaged(one, "noise", 0.9, seed=1).planted == (("q", "other"),)


def test_sparsity_leaves_a_passage_to_every_turn_and_says_what_it_reached() -> None:
    found = damaged(SET, "sparsity", 0.4, seed=1)
    assert found.reached == pytest.approx(0.4, abs=1 / N_GOLD)
    most = damaged(SET, "sparsity", 0.9, seed=1)
    assert most.reached == (N_GOLD - N_ANSWERS) / N_GOLD < 0.9
    for t in most.benchmark.turns():
        assert len(t.gold) == 1
        assert most.benchmark.qrels.gold(t.query_id) == set(t.gold)
        assert set().union(*t.gold_by_annotator) <= set(t.gold)


def test_sparsity_does_not_count_gold_outside_the_corpus() -> None:
    with pytest.warns(UserWarning, match="not in the corpus"):
        set_ = Benchmark("s", PASSAGES[:2], (Conversation("c", (
            Turn("q", "c", 1, "?", gold=("lost", PASSAGES[0].passage_id)),
        )),))  # fmt: skip
    with pytest.warns(UserWarning, match="not in the corpus"):
        found = damaged(set_, "sparsity", 0.9, seed=1)
    assert found.planted == ()


def test_unfaithful_answers_come_from_other_gold_of_the_conversation() -> None:
    found = damaged(SET, "unfaithful", 0.4, seed=1)
    assert len(found.planted) == 0.4 * N_ANSWERS
    old, new = by_id(SET), by_id(found.benchmark)
    for query_id, donor in found.planted:
        assert new[query_id].answer == old[donor].answer != old[query_id].answer
        assert old[donor].conversation_id == old[query_id].conversation_id
        assert not set(old[donor].gold) & set(old[query_id].gold)


def test_a_turn_without_a_donor_keeps_its_answer() -> None:
    same = tuple(Turn(f"q{i}", "c", i, "?", gold=("p0_1_0",), answer=f"yes {i}") for i in (1, 2))
    found = damaged(Benchmark("s", PASSAGES, (Conversation("c", same),)), "unfaithful", 0.9, seed=1)
    assert (found.planted, found.reached) == ((), 0)


def test_language_changes_the_words_and_keeps_the_numbers() -> None:
    found = damaged(SET, "language", 0.4, seed=1)
    old, new = by_id(SET), by_id(found.benchmark)
    for query_id, _ in found.planted:
        assert new[query_id].answer != old[query_id].answer
    english = next(new[q].answer for q, _ in found.planted if new[q].answer.isascii())
    assert "185" in english
    assert "mills" not in english
    assert "the" not in english.lower().split()


@pytest.mark.parametrize(
    "text",
    ["Paris", "巴黎", "Paris.", "Yes, in 1851.", "用户可以在控制台里修改LDAP timeout的数值。"],
)
def test_even_a_short_answer_is_spoiled_alike_each_time(text) -> None:
    assert spoiled(text, seed=1) == spoiled(text, seed=1) != text
    assert spoiled("", seed=1) == ""


def test_a_shuffle_always_changes_the_order() -> None:
    for seed in range(8):
        assert spoiled("Austin Texas", seed=seed) == "Texas Texas Austin"


def test_spoiled_text_keeps_names_marks_and_latin_words_apart() -> None:
    found = spoiled("Ada Lovelace, who lived in London, walked there 3.5 miles.", seed=2)
    assert {"Ada", "Lovelace", "London", "3.5"} <= set(found.replace(",", "").rstrip(".").split())
    assert found.count(",") == 2
    assert "walked" not in found
    assert "  " not in found
    mixed = spoiled("用户修改LDAP timeout的数值", seed=1)
    assert "LDAP" in mixed
    assert "timeout" in mixed
    assert "的" not in mixed


@pytest.mark.parametrize("kind", KINDS)
def test_other_seeds_damage_other_turns(kind) -> None:
    first, again, other = (damaged(SET, kind, 0.2, seed=s).planted for s in (1, 1, 2))
    assert first == again != other
    assert {q for q, _ in first} != {q for q, _ in other}


def test_graded_judgements_keep_their_grades() -> None:
    grades = {t.query_id: dict.fromkeys(t.gold, 2) | {"p0_1_7": 0} for t in SET.turns()}
    graded = dataclasses.replace(SET, qrels=Qrels(grades))
    found = damaged(graded, "noise", 0.4, seed=1)
    planted = set(found.planted)
    for query_id in grades:
        for passage_id, grade in found.benchmark.qrels.grades(query_id).items():
            expected = 1 if (query_id, passage_id) in planted else grades[query_id][passage_id]
            assert grade == expected


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(InputError, match="'rust' is unknown"):
        damaged(SET, "rust", 0.1, seed=1)
    for rate in (-0.1, 1.0):
        with pytest.raises(InputError, match="rate="):
            damaged(SET, "noise", rate, seed=1)
