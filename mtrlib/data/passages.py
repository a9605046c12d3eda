"""Cut articles into passages of about 100 words, never across a section.

Borders fall between paragraphs where that comes out near the aim, else between
sentences. List items stay with their lead-in: where a list runs on into the next
passage, its lead-in sentence is repeated there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from mtrlib.data.schema import Passage
from mtrlib.data.wikipedia import LINK, LINK_CLOSE, LINK_OPEN, Article, Section

AIM, LEAST, MOST = 100, 40, 130  # words
FEWEST = 3  # a "passage" of fewer words is a leftover of a dropped table
LEAD_IN_MOST = 40  # a longer sentence before a list is prose, not a lead-in

_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|St|Sr|Jr|Prof|Gen|Col|Lt|Capt|Sen|Rep|Gov|vs|etc|ca|cf|al|No|"
    r"Vol|vol|pp|fl|Inc|Ltd|Co|Bros|approx|est|i\.e|e\.g|c|b|d|r)|\.[A-Za-z])\.[\"')\]”’]*$"
)
_MARK = f"(?:{LINK_OPEN}\\d+{LINK_CLOSE})*"
_BORDER = re.compile(
    rf"(?<=[.!?])[\"')\]”’]*\s+(?={_MARK}[\"'(\[“‘]*{_MARK}[A-Z0-9À-Þ\u3040-\u9fff])|(?<=[。！？])"
)


def split_sentences(text: str) -> list[str]:
    """Sentences of a paragraph; joined by spaces they give the paragraph back.

    Borders follow ``.``, ``!``, ``?`` before a capital or digit, and the CJK full stops.
    Initials and common abbreviations do not end a sentence.
    """
    sentences: list[str] = []
    start = 0
    for border in _BORDER.finditer(text):
        piece = text[start : border.end()].strip()
        if not piece or _ABBREVIATION.search(LINK.sub("", piece)):
            continue
        sentences.append(piece)
        start = border.end()
    tail = text[start:].strip()
    return [*sentences, tail] if tail else sentences


def cut_passages(article: Article) -> list[Passage]:
    """Passages of an article in order, ids ``<page_id>__<n>`` with n from 0."""
    passages: list[Passage] = []
    for section in article.sections:
        for text in _cut(section):
            links = dict.fromkeys(article.links[int(i)] for i in LINK.findall(text))
            passages.append(
                Passage(
                    passage_id=f"{article.page_id}__{len(passages)}",
                    text=LINK.sub("", text),
                    title=article.title,
                    section=section.path,
                    links=tuple(links),
                )
            )
    return passages


def _cut(section: Section) -> Iterator[str]:
    """Fill passages greedily with sentences and list items."""
    parts: list[str] = []  # of the passage being filled
    size = 0
    finished: list[str] = []

    def close() -> None:
        nonlocal parts, size
        if parts:
            finished.append(_join(parts))
        parts, size = [], 0

    lead_in = ""
    for position, block in enumerate(section.blocks):
        is_item = block.kind == "item"
        units = [block.text] if is_item else split_sentences(block.text)
        opens_list = (
            not is_item
            and position + 1 < len(section.blocks)
            and section.blocks[position + 1].kind == "item"
        )
        if not is_item:
            lead_in = units[-1] if opens_list and _words(units[-1]) <= LEAD_IN_MOST else ""
            if size + _words(block.text) > MOST and size >= AIM * 0.7:
                close()  # a paragraph border near the aim
        for index, unit in enumerate(units):
            words = _words(unit)
            # the lead-in itself opens the next passage rather than end this one
            is_lead_in = bool(lead_in) and not is_item and index == len(units) - 1
            reserve = _words(section.blocks[position + 1].text) if is_lead_in else 0
            if size and size + words + reserve > MOST and size >= LEAST:
                close()
                if is_item and lead_in:
                    parts, size = [lead_in], _words(lead_in)
            parts.append(f"• {unit}" if is_item else unit)
            size += words
            if size >= AIM and not is_lead_in:
                close()
                if is_item and lead_in and _more_items(section, position):
                    parts, size = [lead_in], _words(lead_in)
    close()
    yield from (text for text in _merge_short_tail(finished) if _words(text) >= FEWEST)


def _more_items(section: Section, position: int) -> bool:
    following = section.blocks[position + 1 : position + 2]
    return bool(following) and following[0].kind == "item"


def _merge_short_tail(texts: list[str]) -> list[str]:
    if (
        len(texts) > 1
        and _words(texts[-1]) < LEAST
        and _words(texts[-2]) + _words(texts[-1]) <= 160
    ):
        return [*texts[:-2], _join(texts[-2:])]
    return texts


def _join(parts: list[str]) -> str:
    """Prose runs on with spaces; list items stand on lines of their own."""
    out = parts[0]
    for before, part in pairwise(parts):
        out += ("\n" if "•" in (before[0], part[0]) else " ") + part
    return out


def _words(text: str) -> int:
    return len(LINK.sub("", text).split())
