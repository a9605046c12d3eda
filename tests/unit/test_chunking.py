"""Chunking: bounds, borders, headings with their text, nothing lost; and what the paper loses."""

from __future__ import annotations

import random

import pytest

from mtrlib.data.schema import Passage
from mtrlib.errors import InputError
from mtrlib.synthesis.chunking import chunk, tidied
from mtrlib.synthesis.headings import find_headings, open_path
from mtrlib.synthesis.published_chunking import published_chunks

WORDS = "river mill heron reed lantern harbour orchard gravel copper meadow".split()


def prose(characters: int, seed: int = 0) -> str:
    """One paragraph of sentences of about seven words, cut to a length."""
    rng = random.Random(seed)
    text = ""
    while len(text) < characters:
        text += " ".join(rng.choice(WORDS) for _ in range(7)).capitalize() + ". "
    return text[: characters - 1].rstrip(" .") + "."


def visible(text: str) -> str:
    return "".join(text.split())


def texts_of(text: str, **bounds: int) -> list[str]:
    return [p.text for p in chunk([Passage("d", text)], **bounds)[0]]


def test_ids_and_fields():
    document = Passage("d7", prose(5000), "Mills", document="other", source="f:3")
    passages, report = chunk([document])
    assert [p.passage_id for p in passages] == ["d7__0", "d7__1", "d7__2"]
    assert {(p.title, p.document, p.source) for p in passages} == {("Mills", "d7", "f:3")}
    assert (report.documents, report.chunks, report.without_chunk) == (1, 3, ())


@pytest.mark.parametrize("characters", [1024, 2047, 2048, 2049, 2050, 3071, 3072, 4097, 9000])
def test_chunks_keep_the_bounds_and_all_text(characters):
    text = tidied("\n\n".join([prose(characters // 3, seed) for seed in range(3)]))
    text += "x" * (characters - len(text))
    found = texts_of(text)
    assert visible("".join(found)) == visible(text)
    assert all(1024 - 2 <= len(t) <= 2048 for t in found)


def test_a_short_document_is_reported_and_a_short_rest_is_shared_out():
    passages, report = chunk([Passage("a", prose(1023)), Passage("b", prose(2100))])
    assert report.without_chunk == ("a",)
    assert [p.passage_id for p in passages] == ["b__0", "b__1"]
    assert report.characters - report.characters_kept == len(visible(prose(1023)))
    assert report.table().loc["characters", "lost"] == len(visible(prose(1023)))


def test_the_best_border_between_the_bounds_is_taken():
    rest = prose(1400, 9)
    paragraph = f"{prose(1100, 1)}\n\n{prose(500, 2)}\n{prose(300, 3)} {rest}"
    assert texts_of(paragraph)[0] == prose(1100, 1)
    line = f"{prose(600, 1)}\n\n{prose(900, 2)}\n{prose(300, 3)} {rest}"
    assert texts_of(line)[0].endswith(prose(900, 2))
    sentence = f"{prose(600, 1)}\n\n{prose(3000, 2)}"
    assert texts_of(sentence)[0].endswith(".")
    comma = "x" * 1200 + ", " + "y" * 300 + " " + "z" * 1400
    assert texts_of(comma)[0] == "x" * 1200 + ","
    assert len(texts_of("x" * 3000)[0]) == 3000 - 1024


def test_a_point_inside_a_number_is_no_border():
    text = "x" * 1030 + " 3.5" + "y" * 3000
    assert texts_of(text)[0] == "x" * 1030


def test_chinese_is_cut_at_its_own_marks():
    sentence = "这座水磨坊建于河边，由当地居民共同维护。"
    found = texts_of(sentence * 200)
    assert visible("".join(found)) == sentence * 200
    assert all(t.endswith("。") for t in found)


@pytest.mark.parametrize("mark", ["## Early years", "== Early years ==", "Early years"])
def test_a_heading_goes_to_the_chunk_of_its_text(mark):
    text = f"{prose(1900, 1)}\n\n{mark}\n\n{prose(1500, 2)}"
    passages, report = chunk([Passage("d", text)])
    assert [p.text for p in passages] == [prose(1900, 1), f"{mark}\n\n{prose(1500, 2)}"]
    assert (report.headings, report.headings_kept) == (1, 1)
    assert [p.section for p in passages] == [(), ()]
    published, lost = chunk([Passage("d", text)], paper_compatible=True)
    assert len(published) == 2
    assert not any(mark in p.text for p in published)
    assert (lost.headings, lost.headings_kept) == (1, 0)


def test_headings_one_after_another_stay_together():
    text = f"{prose(1900, 1)}\n\n## History\n\n### Early years\n\n{prose(1500, 2)}"
    assert texts_of(text)[1].startswith("## History\n\n### Early years\n\nR")


def test_a_chunk_knows_the_headings_that_were_opened_before_it():
    text = (
        f"## History\n\n{prose(1500, 1)}\n\n### Early years\n\n{prose(3200, 2)}"
        f"\n\n## Trade\n\n{prose(1500, 3)}"
    )
    passages, report = chunk([Passage("d", text, section=("Mills",))])
    assert [p.section for p in passages] == [
        ("Mills",), ("Mills", "History"), ("Mills", "History", "Early years"), ("Mills",),
    ]  # fmt: skip
    assert passages[-1].text.startswith("## Trade")
    assert (report.headings, report.headings_kept) == (3, 3)


def test_a_document_of_nothing_but_headings_is_still_cut():
    text = "\n\n".join(f"Heading {WORDS[i % 10]}" for i in range(300))
    found = texts_of(text)
    assert visible("".join(found)) == visible(text)
    assert all(len(t) <= 2048 for t in found)


def test_what_is_a_heading():
    text = (
        "Opening\nThis is prose.\n\nNot a heading.\n\n• item\n\n"
        "One two three four five six\n\n历史\n\n= no =\n\n==Trade==\n### Deep ###\n123"
    )
    assert [(h.level, h.name) for h in find_headings(text)] == [
        (1, "Opening"), (1, "历史"), (1, "= no ="), (1, "Trade"), (3, "Deep ###"),
    ]  # fmt: skip
    assert not find_headings(
        "这座水磨坊建于河边由当地居民共同维护它从未停止运转直到铁路来到这里以后才关闭"
    )
    assert not find_headings("")


def test_open_path_closes_what_a_higher_heading_ends():
    headings = find_headings("# A\n\n## B\n\n### C\n\n## D\n\n")
    assert open_path(headings) == ("A", "D")
    assert open_path(headings[:3]) == ("A", "B", "C")


def test_white_space_is_put_in_order_first():
    assert tidied(" a \t b\r\nc \n\n\n\n d\u00a0e\u2028f ") == "a b\nc\n\nd e f"


@pytest.mark.parametrize(("least", "most"), [(0, 10), (6, 11), (1024, 2047)])
def test_bounds_without_room_are_refused(least, most):
    with pytest.raises(InputError, match="at least twice"):
        chunk([], least=least, most=most)


def test_no_documents():
    passages, report = chunk([])
    assert passages == []
    assert report.table()["total"].sum() == 0


def test_the_published_splitting_by_hand():
    # pieces join up to 12; the last piece of a longer one is not joined with what follows
    text = "aaaa bbbb\n\ncccc dddd eeee ffff\n\ngg"
    assert published_chunks(text, most=12, least=1) == ["aaaa bbbb", "cccc dddd", "eeee ffff", "gg"]
    assert published_chunks(text, most=12, least=9) == ["aaaa bbbb", "cccc dddd", "eeee ffff"]
    # marks stay with what follows, so that a chunk lacks its last full stop
    assert published_chunks("aaaa.bbbb.cccc", most=9, least=1) == ["aaaa.bbbb", ".cccc"]
    assert published_chunks("ab", most=1, least=1) == ["a", "b"]
    assert published_chunks("", most=5, least=1) == []
