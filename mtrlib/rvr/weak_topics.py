"""Topics for weak list questions: stretches of a corpus that several passages speak about."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest

from mtrlib.data.passages import split_sentences
from mtrlib.data.schema import Passage

FEWEST, MOST = 2, 20  # gold passages of a weak question
SHORT, LONG = 5, 28  # words of a lead sentence
AT_ONCE = 3  # list items in one question
_COPULA = re.compile(r"^.{1,120}?\b(?:is|are|was|were)\b\s+(?=(?:an?|the|one|any|some)\b)", re.I)
_HEAD = re.compile(r"^(.{2,60}?)(?:\s[–—-]\s|[:;,(.]|\s(?:is|are|was|were)\s|$)")


@dataclass(frozen=True, slots=True)
class Topic:
    """Something to ask about.

    Attributes
    ----------
    kind : key of :data:`mtrlib.rvr.weak_wordings.WORDINGS`.
    gold : ids of the passages that speak about it, in the order of the corpus.
    """

    kind: str
    text: str
    title: str
    gold: tuple[str, ...]


def topics(passages: Sequence[Passage]) -> Iterator[Topic]:
    """All topics of two to twenty passages, source by source.

    *heading*: a section with what stands below it. *link*: a target that several passages of
    one article link to. *mention*: a target that passages of several articles link to.
    *lead*: the first sentence of a section; its own passage is no gold, so that words alone
    do not find the answer. *list*: a section whose list runs over several passages. *items*:
    a few entries of lists that stand in different passages.

    Parameters
    ----------
    passages : articles contiguous, in reading order, as the Wikipedia reader gives them.
    """
    found = (*_headings(passages), *_links(passages), *_leads(passages), *_lists(passages))
    for topic in found:
        if FEWEST <= len(topic.gold) <= MOST and topic.text.strip():
            yield topic


def _headings(passages: Sequence[Passage]) -> Iterator[Topic]:
    below: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for p in passages:
        for depth in range(1, len(p.section) + 1):
            below[p.title, p.section[:depth]].append(p.passage_id)
    for (title, path), gold in below.items():
        yield Topic("heading", path[-1], title, tuple(gold))


def _links(passages: Sequence[Passage]) -> Iterator[Topic]:
    inside: dict[tuple[str, str], list[str]] = defaultdict(list)
    articles: dict[str, set[str]] = defaultdict(set)
    everywhere: dict[str, list[str]] = defaultdict(list)
    for p in passages:
        for target in dict.fromkeys(p.links):
            inside[p.title, target].append(p.passage_id)
            articles[target].add(p.title)
            everywhere[target].append(p.passage_id)
    for (title, target), gold in inside.items():
        yield Topic("link", target, title, tuple(gold))
    for target, gold in everywhere.items():
        if len(articles[target]) > 1:
            yield Topic("mention", target, "", tuple(gold))


def _leads(passages: Sequence[Passage]) -> Iterator[Topic]:
    for (title, _), group in groupby(passages, key=lambda p: (p.title, p.section)):
        first, *others = group
        sentence = next(iter(split_sentences(first.text.partition("\n")[0])), "")
        if not SHORT <= len(sentence.split()) <= LONG or sentence.startswith("•"):
            continue
        said = _COPULA.sub("", sentence).rstrip(".!?: ")
        text = said if len(said.split()) >= SHORT else sentence.rstrip(".!?: ")
        yield Topic("lead", text, title, tuple(p.passage_id for p in others))


def _lists(passages: Sequence[Passage]) -> Iterator[Topic]:
    listed = [p for p in passages if "•" in p.text]
    for (title, section), group in groupby(listed, key=lambda p: (p.title, p.section)):
        gold = tuple(p.passage_id for p in group)
        if section:
            yield Topic("list", section[-1], title, gold)
    for (title, _), group in groupby(listed, key=lambda p: (p.title, p.section[:1])):
        yield from _items(title, list(group))


def _items(title: str, group: list[Passage]) -> Iterator[Topic]:
    """Entries of the lists of one main section, three at a time, each from another passage."""
    heads = {p.passage_id: list(dict.fromkeys(_item_heads(p.text))) for p in group}
    for level in zip_longest(*heads.values()):
        row = [(h, pid) for h, pid in zip(level, heads, strict=True) if h]
        for start in range(0, len(row) - FEWEST + 1, AT_ONCE):
            names, gold = zip(*row[start : start + AT_ONCE], strict=True)
            if len(names) >= FEWEST:
                yield Topic("items", " and ".join((", ".join(names[:-1]), names[-1])), title, gold)


def _item_heads(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        found = _HEAD.match(line[1:].strip()) if line.startswith("•") else None
        if found and len(found[1].split()) <= 8:
            yield found[1].strip("\"'“”‘’ ")
