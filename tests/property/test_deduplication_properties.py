"""What must hold for any corpus and any gold, searched by Hypothesis."""

from __future__ import annotations

import warnings

from hypothesis import given, settings
from hypothesis import strategies as st

from mtrlib.data.schema import Benchmark, Conversation, Passage, Qrels, Turn
from mtrlib.data.shingles import folded, jaccard, shingle_set
from mtrlib.synthesis.chunking import chunk, tidied
from mtrlib.synthesis.deduplication import deduplicate, moved_gold
from mtrlib.synthesis.headings import find_headings

fast = settings(max_examples=80, deadline=None)

parts = st.sampled_from(
    ["mill", " ", "river ", "退款", "七天内到账", "发货", "ไทย", "A", "é", "\n"]
)
texts = st.lists(parts, max_size=12).map("".join) | st.text(max_size=8)
corpora = st.lists(texts, max_size=14).flatmap(
    # some texts a second time, in any place
    lambda found: st.permutations(found + found[: len(found) // 2])
)
thresholds = st.sampled_from([0.2, 0.5, 0.8, 1.0])


def passages_of(bodies: list[str]) -> list[Passage]:
    return [Passage(f"p{i}", body) for i, body in enumerate(bodies)]


def shingles(text: str) -> set[str]:
    """The definition again, in plain Python over sets of text."""
    text = folded(text)
    weight = [5 if "\u3040" <= c <= "\u9fff" or "\uac00" <= c <= "\ud7a3" else 3 for c in text]
    starts = [i for i in range(len(text)) if sum(weight[i:]) >= 15]
    found = []
    for start in starts:
        end = start
        while sum(weight[start:end]) < 15:
            end += 1
        found.append(text[start:end])
    if starts:
        found[-1] = text[starts[-1] :]
    return set(found or ([text] if text else []))


@fast
@given(texts, texts)
def test_similarity_is_that_of_the_definition(one, other):
    a, b = shingles(one), shingles(other)
    expected = len(a & b) / len(a | b) if a & b else 0.0
    assert jaccard(shingle_set(folded(one)), shingle_set(folded(other))) == expected


@fast
@given(corpora, thresholds, st.integers(0, 2**32))
def test_kept_and_removed_are_the_corpus_and_each_removal_is_proved(bodies, threshold, seed):
    passages = passages_of(bodies)
    found = deduplicate(passages, threshold=threshold, seed=seed)
    place = {p.passage_id: i for i, p in enumerate(passages)}
    kept = [p.passage_id for p in found.kept]
    removed = [r.removed for r in found.removals]
    assert kept == sorted(kept, key=place.__getitem__)
    assert removed == sorted(removed, key=place.__getitem__)
    assert sorted(kept + removed) == sorted(place)
    for r in found.removals:
        assert r.kept in kept
        assert place[r.kept] < place[r.removed]
        a, b = (shingles(bodies[place[i]]) for i in (r.removed, r.kept))
        assert r.similarity == len(a & b) / len(a | b) >= threshold
        assert r.exact == (folded(bodies[place[r.removed]]) == folded(bodies[place[r.kept]]))


@fast
@given(corpora, thresholds, st.integers(0, 2**32))
def test_equal_texts_are_always_found(bodies, threshold, seed):
    kept = deduplicate(passages_of(bodies), threshold=threshold, seed=seed).kept
    forms = [folded(p.text) for p in kept if folded(p.text)]
    assert len(forms) == len(set(forms))


@fast
@given(corpora)
def test_a_second_round_at_the_same_threshold_removes_nothing(bodies):
    once = deduplicate(passages_of(bodies))
    assert deduplicate(once.kept).removals == ()


@fast
@given(corpora.filter(len), st.data())
def test_moving_gold_loses_none(bodies, data):
    passages = passages_of(bodies)
    ids = [p.passage_id for p in passages]
    golds = data.draw(st.lists(st.lists(st.sampled_from(ids), max_size=4), min_size=1, max_size=4))
    turns = tuple(
        Turn(f"q{i}", "c", i, "?", gold=tuple(dict.fromkeys(gold))) for i, gold in enumerate(golds)
    )
    grades = {t.query_id: {p: data.draw(st.integers(0, 3)) for p in t.gold} for t in turns}
    before = Benchmark("b", tuple(passages), (Conversation("c", turns),), Qrels(grades))
    found = deduplicate(passages)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # gold outside the corpus warns
        after = moved_gold(before, found.removals)
    assert after.passages == found.kept
    stands_for = {i: i for i in ids} | {r.removed: r.kept for r in found.removals}
    for old, new in zip(before.turns(), after.turns(), strict=True):
        assert set(new.gold) == {stands_for[g] for g in old.gold}
        assert len(new.gold) == len(set(new.gold))
        was = before.qrels.grades(old.query_id)
        now = after.qrels.grades(old.query_id)
        assert set(now) == {stands_for[p] for p in was}
        for kept, grade in now.items():
            assert grade == max(g for p, g in was.items() if stands_for[p] == kept)


documents = st.lists(
    st.sampled_from(
        ["mill ", "river. ", "\n\n", "\n", "## Trade\n", "退款，", "到账。", "x" * 30, "Early\n\n"]
    ),
    max_size=60,
).map("".join)


@fast
@given(documents, st.integers(1, 40), st.integers(0, 30))
def test_chunks_hold_all_text_within_the_bounds(text, least, more):
    most = 2 * least + more
    passages, report = chunk([Passage("d", text)], most=most, least=least)
    whole = tidied(text)
    if len(whole) < least:
        assert not passages
        assert report.characters_kept == 0
        assert report.without_chunk == ("d",)
        return
    visible = "".join(whole.split())
    assert "".join("".join(p.text.split()) for p in passages) == visible
    assert report.characters == report.characters_kept == len(visible)
    for p in passages:
        assert p.text == p.text.strip()
        assert least - 4 <= len(p.text) <= most


@fast
@given(documents)
def test_headings_are_found_where_they_are(text):
    whole = tidied(text)
    for heading in find_headings(whole):
        piece = whole[heading.start : heading.end]
        assert heading.name in piece
        assert not piece.strip().count("\n")
