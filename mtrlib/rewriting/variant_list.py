"""A list of variants read out of a reply (case 07; pitfall 21)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mtrlib.llm.reply_text import split_reply
from mtrlib.rewriting.guards import bare, is_talk, text_guard, visible_text
from mtrlib.rewriting.mentions import plain

# a small model goes on with answers of its own; they are no queries
_ANSWER = re.compile(
    r"^\W*(?:(?:a|answers?|solution|explanation|note)\s*[:：]|(?:the |my )?answer (?:is|to)\b"
    r"|(?:答案?|解释|说明)\s*(?:[:：]|是))",
    re.IGNORECASE,
)
_MARK = re.compile(
    r"^\s*(?:>\s*)?(?:\*\*|__)?(?:"
    r"\(?\d{1,2}\s*[)）、．:：]|\d{1,2}\.(?!\d)|（\d{1,2}）|[①-⑳]|[-*•‣·–](?=\s)"
    r"|(?:variant|query|version|rewrite|改写|变体|查询|版本|问法)\s*(?:\d{1,2}|[一二三四五])\s*[:：.、)]"
    r")(?:\*\*|__)?\s*(?P<text>.*)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class VariantList:
    """Usable variants of one reply, in its order.

    Attributes
    ----------
    wanted : as asked; ``variants`` may hold fewer, never more.
    dropped : ``reason: text`` of each line or item left out.
    failed : why the whole reply is none, or "".
    """

    variants: tuple[str, ...]
    wanted: int
    dropped: tuple[str, ...] = ()
    failed: str = ""


def read_variants(reply: str, original: str, wanted: int) -> VariantList:
    r"""Read a list of variants out of a reply.

    Marked lines (numbers, bullets, "variant 2:") where there are any, else all lines; the items
    of a list in JSON where the reply has one. Blank lines, openings, closings, repeats, copies
    of the original and lines in another script are dropped; a number in the middle of a line
    splits nothing.

    Parameters
    ----------
    original : the query; a variant equal to it, case and punctuation aside, is a copy.
    wanted : variants beyond this number are dropped too.

    Examples
    --------
    >>> read_variants("Sure!\n1. tide tables\n2. tide tables\n3) v2. of tides", "x", 3).variants
    ('tide tables', 'v2. of tides')
    """
    text, failed = visible_text(reply)
    if failed:
        return VariantList((), wanted, failed=failed)
    kept: dict[str, str] = {}
    dropped = []
    items, trusted = _items(reply, text)
    for line in items:
        if _ANSWER.search(line):
            dropped.append(f"an answer: {line.strip()}")
            continue
        shown = bare(line)
        # a marked line is an item, whatever it begins with
        talk = not trusted and is_talk(shown)
        problem = "opening or closing" if talk else _line_problem(shown, original, kept)
        if not problem and len(kept) >= wanted:
            problem = "more than wanted"
        if problem:
            dropped.append(f"{problem}: {shown}")
        else:
            kept[plain(shown)] = shown
    failed = "" if kept else "no usable variant"
    return VariantList(tuple(kept.values()), wanted, tuple(dropped), failed)


def _items(reply: str, text: str) -> tuple[list[str], bool]:
    """The candidate lines of a reply, and whether JSON or marks say that they are items."""
    listed = _json_strings(split_reply(reply).objects)
    if listed:
        return listed, True
    whole = re.fullmatch(r"\[\s*(\".*\")\s*,?\s*\]", text, re.S)  # a bare JSON list
    if whole:
        return re.findall(r"\"((?:[^\"\\]|\\.)*)\"", whole[1]), True
    lines = text.splitlines()
    marked = [m["text"] for line in lines if (m := _MARK.match(line))]
    return marked or lines, bool(marked)


def _json_strings(objects: Sequence[object]) -> list[str]:
    """Texts of lists inside JSON objects, at any depth; none if an object has no list."""
    found: list[str] = []
    waiting: list[object] = list(objects)
    while waiting:
        part = waiting.pop(0)
        if isinstance(part, list):
            found += [item for item in part if isinstance(item, str)]
            waiting += [item for item in part if not isinstance(item, str)]
        elif isinstance(part, tuple):
            waiting += [pair[1] for pair in part if isinstance(pair, tuple) and len(pair) == 2]
    return found


def _line_problem(text: str, original: str, kept: dict[str, str]) -> str:
    if not any(c.isalpha() for c in text):
        return "blank"
    if plain(text) == plain(original):
        return "copy of the original"
    if plain(text) in kept:
        return "repeat"
    return text_guard(text, original)
