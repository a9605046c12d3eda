"""The dump reader on small pages written for the tests."""

from __future__ import annotations

import bz2
from pathlib import Path

import pytest

from mtrlib.data.passages import cut_passages, split_sentences
from mtrlib.data.wikipedia import Article, Block, Section, parse_article, read_dump
from mtrlib.errors import InputError

PAGE = """{{Infobox|name=X}}
'''Bridge''' is a [[span (engineering)|span]] of {{convert|12|km|mi}}.<ref>a source</ref> It is
old ({{IPA|x}}).

== Parts ==
{{Main|Arch}}
{| class="wikitable"
| a table || cell
|}
A bridge has these parts:
* the [[deck]]
* the [[pier#shape|pier]]
The rest is air.

=== Cables ===
Steel [[File:a.png|thumb|a picture]] cables hang.

== See also ==
* [[Tunnel]]

== References ==
{{reflist}}

== Bibliography ==
* A book nobody quotes.
"""


def _dump(*pages: str) -> str:
    space = 'xmlns="http://www.mediawiki.org/xml/export-0.10/"'
    return f"<mediawiki {space}><siteinfo/>{''.join(pages)}</mediawiki>"


def _page(number: int, title: str, text: str, *, ns: int = 0, redirect: bool = False) -> str:
    target = '<redirect title="T" />' if redirect else ""
    return (
        f"<page><title>{title}</title><ns>{ns}</ns><id>{number}</id>{target}"
        f"<revision><id>9</id><text>{text}</text></revision></page>"
    )


def test_keeps_prose_sections_lists_and_links():
    article = parse_article("7", "Bridge", PAGE)
    assert [s.path for s in article.sections] == [(), ("Parts",), ("Parts", "Cables")]
    passages = cut_passages(article)
    lead, parts, cables = passages
    assert lead.text == "Bridge is a span of 12 km. It is old."
    assert lead.links == ("Span (engineering)",)
    assert parts.text == "A bridge has these parts:\n• the deck\n• the pier\nThe rest is air."
    assert parts.links == ("Deck", "Pier")
    assert cables.text == "Steel cables hang."
    assert [p.passage_id for p in passages] == ["7__0", "7__1", "7__2"]


def test_bibliography_before_navigation_is_an_authors_works():
    text = "Lead words stand here.\n== Bibliography ==\n* A first novel, 1930\n== References ==\nx"
    article = parse_article("1", "Author", text)
    assert [s.path for s in article.sections] == [(), ("Bibliography",)]


@pytest.mark.parametrize("compress", [False, True])
def test_dump_skips_redirects_and_other_namespaces(tmp_path: Path, compress: bool):
    text = _dump(
        _page(1, "One", "Some words of text."),
        _page(2, "Two", "#REDIRECT", redirect=True),
        _page(3, "Talk:One", "Chatter.", ns=1),
        _page(4, "Four", "More words of text."),
    )
    path = tmp_path / "dump"
    path.write_bytes(bz2.compress(text.encode()) if compress else text.encode())
    assert [(a.page_id, a.title) for a in read_dump(path)] == [("1", "One"), ("4", "Four")]


def test_cut_dump_names_file_and_mend(tmp_path: Path):
    data = bz2.compress(_dump(_page(1, "One", "word " * 5000)).encode())
    path = tmp_path / "cut.bz2"
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match=r"cut\.bz2: .*Mend: fetch it again"):
        list(read_dump(path))
    with pytest.raises(InputError, match="no such dump"):
        list(read_dump(tmp_path / "absent"))


def test_sentences_ignore_initials_and_abbreviations():
    text = "Dr. A. B. Smith came at 5 p.m. to St. Ives. He left. 他走了。她留下。"
    assert split_sentences(text) == [
        "Dr. A. B. Smith came at 5 p.m. to St. Ives.",
        "He left.",
        "他走了。",
        "她留下。",
    ]


def _article(*blocks: Block) -> Article:
    return Article("1", "T", (Section(("S",), blocks),), ())


def test_passages_of_about_a_hundred_words_never_lose_a_sentence():
    sentences = [f"Sentence number {i} has exactly eight words here." for i in range(60)]
    article = _article(Block("paragraph", " ".join(sentences)))
    passages = cut_passages(article)
    assert " ".join(p.text for p in passages) == " ".join(sentences)
    assert all(80 <= len(p.text.split()) <= 130 for p in passages[:-1])


def test_a_list_that_runs_on_repeats_its_lead_in():
    items = [Block("item", f"item {i} " + "word " * 18) for i in range(20)]
    lead_in = "The following things are listed:"
    article = _article(Block("paragraph", "Opening words. " + lead_in), *items)
    passages = cut_passages(article)
    assert len(passages) > 3
    assert passages[0].text.startswith("Opening words. " + lead_in + "\n• item 0")
    assert all(p.text.startswith(lead_in + "\n•") for p in passages[1:])
    assert sum(p.text.count("• item") for p in passages) == 20


def test_sections_never_share_a_passage():
    sections = tuple(
        Section((name,), (Block("paragraph", f"Only few words about {name}."),)) for name in "abc"
    )
    passages = cut_passages(Article("1", "T", sections, ()))
    assert [p.section for p in passages] == [("a",), ("b",), ("c",)]
