"""Near-duplicates: shingles by script, exact verification, order, recall, and moved gold."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pytest

from mtrlib.data.schema import Benchmark, Conversation, Passage, Qrels, Turn
from mtrlib.data.shingles import folded, jaccard, shingle_hashes, shingle_set
from mtrlib.errors import InputError
from mtrlib.synthesis.deduplication import Removal, deduplicate, moved_gold
from mtrlib.synthesis.minhash import MOST_HASHES, MinHashIndex, banding


def corpus(*texts: str) -> list[Passage]:
    return [Passage(f"p{i}", text) for i, text in enumerate(texts)]


def pairs(*texts: str, threshold: float = 0.5) -> list[tuple[str, str]]:
    return [(r.removed, r.kept) for r in deduplicate(corpus(*texts), threshold=threshold).removals]


def similarity(a: str, b: str) -> float:
    return jaccard(shingle_set(folded(a)), shingle_set(folded(b)))


def test_case_11_chinese_texts_that_only_look_alike_stay():
    assert pairs("退款七天内到账", "发货三天内到达", "退款七天内到账") == [("p2", "p0")]
    # bigrams of the first two share 天内 and 内到; windows of three share one of nine
    assert similarity("退款七天内到账", "发货三天内到达") == pytest.approx(1 / 9)


@pytest.mark.parametrize("texts", [("退", "货"), ("ab", "cd"), ("!", "?"), ("ไทย", "ลาว")])
def test_texts_shorter_than_a_shingle_are_their_own(texts):
    assert pairs(*texts) == []
    assert pairs(*texts, *texts) == [("p2", "p0"), ("p3", "p1")]


def test_texts_without_any_text_are_not_each_others_copies():
    found = deduplicate(corpus("", " \n", "\u200b", "a"))
    assert len(found.kept) == 4


@pytest.mark.parametrize(
    ("text", "shingles"),
    [
        ("abcdefg", ["abcde", "bcdef", "cdefg"]),
        ("退款七天内", ["退款七", "款七天", "七天内"]),
        ("ab退款cd", ["ab退款", "b退款c", "退款cd"]),
        ("退款abc", ["退款abc"]),  # stretched to the end, or "c" would count for nothing
        ("ab", ["ab"]),
    ],
)
def test_shingles_by_hand(text, shingles):
    alone = [int(shingle_hashes(s)[0]) for s in shingles]
    assert shingle_hashes(text).tolist() == alone
    assert len(set(alone)) == len(shingles)


def test_jaccard_is_that_of_sets_of_text():
    rng = np.random.default_rng(13)
    for _ in range(50):
        one, other = ("".join(rng.choice(list("abc "), 40)).strip() for _ in range(2))
        one, other = folded(one), folded(other)
        a, b = ({t[i : i + 5] for i in range(len(t) - 4)} for t in (one, other))
        assert similarity(one, other) == len(a & b) / len(a | b)


def test_letter_case_white_space_and_unicode_forms_are_set_aside():
    assert folded("Ｃafé\u00a0 \n STRASSE\u200b") == folded("CAFE\u0301 straße")
    (removal,) = deduplicate(corpus("The  Mill\nhouse", "the mill house")).removals
    assert (removal.similarity, removal.exact) == (1.0, True)
    (removal,) = deduplicate(corpus("aaaaaaaa", "aaaaaaaaa")).removals
    assert (removal.similarity, removal.exact) == (1.0, False)


def test_the_first_is_kept_and_the_most_similar_kept_one_is_named():
    base = "the heron waited by the weir until the lock keeper came back from the meadow"
    far = base.replace("heron", "egret").replace("weir", "gate")
    near = base.replace("until", "while")
    assert 0.5 <= similarity(base, far) < similarity(base, near)
    assert pairs(base, far, near) == [("p1", "p0"), ("p2", "p0")]
    assert pairs(near, far, base) == [("p1", "p0"), ("p2", "p0")]
    assert similarity(far, near) < 0.6
    assert pairs(far, near, base, threshold=0.6) == [("p2", "p1")]


def test_a_removed_passage_removes_nothing():
    # a chain: each is like its neighbours only, so the third must stay
    words = [f"word{i:02}" for i in range(60)]
    first, second, third = (" ".join(words[i : i + 40]) for i in (0, 10, 20))
    assert similarity(first, second) >= 0.5 > similarity(first, third)
    assert similarity(second, third) >= 0.5
    assert pairs(first, second, third) == [("p1", "p0")]


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.7, 0.9])
def test_recall_and_no_false_removal(threshold):
    rng = np.random.default_rng(13)
    words = np.array([f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in "rstvz"])
    texts = []
    for _ in range(400):
        original = rng.choice(words, 60)
        copy = original.copy()
        changed = rng.random(60) < rng.uniform(0, 0.7 * (1.05 - threshold))
        copy[changed] = rng.choice(words, int(changed.sum()))
        texts += [" ".join(original), " ".join(copy)]
    found = deduplicate(corpus(*texts), threshold=threshold)
    alike = {f"p{i + 1}" for i in range(0, 800, 2) if similarity(*texts[i : i + 2]) >= threshold}
    removed = {r.removed for r in found.removals}
    assert 100 <= len(alike) <= 380
    assert len(alike & removed) >= 0.99 * len(alike)
    for r in found.removals:
        exact = similarity(texts[int(r.removed[1:])], texts[int(r.kept[1:])])
        assert r.similarity == exact >= threshold


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.5, 0.8, 1.0])
def test_banding_reaches_the_recall_within_the_hashes(threshold):
    bands, rows = banding(threshold, 0.995)
    assert 1 - (1 - threshold**rows) ** bands >= 0.995
    assert bands * rows <= MOST_HASHES


def test_signatures_estimate_the_similarity():
    rng = np.random.default_rng(13)
    index = MinHashIndex(2, threshold=0.5, recall=0.995, rng=rng)
    letters = list("abcdefghijklmnopqrstuvwxyz ")
    errors = []
    for shared in range(0, 1000, 50):
        common = "".join(rng.choice(letters, shared))
        one, other = (common + "".join(rng.choice(letters, 1000 - shared)) for _ in range(2))
        agree = index.signature(shingle_hashes(one)) == index.signature(shingle_hashes(other))
        errors.append(agree.mean() - jaccard(shingle_set(one), shingle_set(other)))
    assert np.std(errors) < 0.03
    assert abs(np.mean(errors)) < 0.02


@pytest.mark.parametrize("threshold", [0, -0.5, 1.01, float("nan"), 0.001])
def test_a_threshold_that_makes_no_sense_is_refused(threshold):
    with pytest.raises(InputError, match="threshold="):
        deduplicate(corpus("a"), threshold=threshold)
    with pytest.raises(InputError, match="recall="):
        banding(0.5, 1.0)


def test_nothing_in_nothing_out():
    found = deduplicate([])
    assert (found.kept, found.removals) == ((), ())
    assert list(found.table()) == ["removed", "kept", "similarity", "exact"]


def test_the_result_does_not_depend_on_the_process(same_in_every_process):
    code = (
        "from mtrlib.data.schema import Passage\n"
        "from mtrlib.synthesis.deduplication import deduplicate\n"
        "texts = [f'{i % 7} mills by the river {i % 3} and a lock' for i in range(60)]\n"
        "print(deduplicate([Passage(str(i), t) for i, t in enumerate(texts)]).removals)"
    )
    output = same_in_every_process(code)
    assert output.count("Removal") > 30


def benchmark(turn: Turn, passages: list[Passage], qrels: dict | None = None) -> Benchmark:
    conversation = Conversation("c", (turn,), topic_switch_turn=None)
    return Benchmark("toy", tuple(passages), (conversation,), Qrels(qrels or {}))


TURN = Turn("c_1", "c", 1, "?", gold=("p2", "p0", "p1"), gold_by_annotator=(("p2",), ("p1", "p2")))


def test_gold_moves_to_the_kept_passage():
    passages = corpus("the mill by the river", "the harbour at noon", "the mill by the river")
    found = deduplicate(passages)
    before = benchmark(TURN, passages, {"c_1": {"p2": 2, "p0": 1, "p1": 1}, "q": {"p2": 0}})
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no gold outside the corpus
        after = moved_gold(before, found.removals)
    assert after.passages == found.kept
    (turn,) = after.turns()
    assert turn.gold == ("p0", "p1")
    assert turn.gold_by_annotator == (("p0",), ("p1", "p0"))
    assert after.qrels.grades("c_1") == {"p0": 2, "p1": 1}
    assert after.qrels.grades("q") == {"p0": 0}
    assert before.qrels.grades("c_1") == {"p2": 2, "p0": 1, "p1": 1}
    assert after.name == before.name


def test_gold_follows_through_several_rounds():
    rounds = [Removal("p2", "p1", 0.6, False), Removal("p1", "p0", 0.7, False)]
    after = moved_gold(benchmark(TURN, corpus("a", "b", "c")), rounds)
    assert [p.passage_id for p in after.passages] == ["p0"]
    assert next(after.turns()).gold == ("p0",)


def test_gold_outside_the_corpus_stays_outside():
    turn = dataclasses.replace(TURN, gold=("gone",), gold_by_annotator=())
    with pytest.warns(UserWarning, match="gone"):
        before = benchmark(turn, corpus("a", "b"))
    with pytest.warns(UserWarning, match="gone"):
        after = moved_gold(before, [Removal("p1", "p0", 1.0, True)])
    assert after.dangling == (("c_1", "gone"),)


def test_removals_of_another_corpus_are_refused():
    with pytest.raises(InputError, match="'x9' was kept"):
        moved_gold(benchmark(TURN, corpus("a", "b", "c")), [Removal("p1", "x9", 1.0, True)])


def test_gold_may_not_leave_the_document_that_is_searched():
    passages = [Passage("p0", "a", document="A"), Passage("p1", "a", document="B")]
    turn = Turn("c_1", "c", 1, "?", gold=("p1",), scope="B")
    with pytest.raises(InputError, match="searches document 'B' only"):
        moved_gold(benchmark(turn, passages), [Removal("p1", "p0", 1.0, True)])
    inside = [dataclasses.replace(p, document="B") for p in passages]
    after = moved_gold(benchmark(turn, inside), [Removal("p1", "p0", 1.0, True)])
    assert next(after.turns()).gold == ("p0",)
