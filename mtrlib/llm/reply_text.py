"""A reply taken apart: JSON objects, and the text outside reasoning, fences and objects."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

# brackets, quotes and emphasis that may stand around a verdict
MARKS = "[\\s*_`\"'“”‘’「」『』【】\\[\\](){}#|]"
CLOSING = "[\\s*_`\"'”’」』】\\])}#|]"  # those that end what stands before

_REASONING = re.compile(r"(</?(?:think|thinking|thought|reasoning)>)", re.IGNORECASE)
_FENCE = re.compile(r"(?:`{3,}|~{3,})(?:(?:json\w*|python|text|txt|plaintext|markdown|yaml)\b)?")
_TAG = re.compile(r"<(score|rating|verdict|answer|choice)>|</\w+>", re.IGNORECASE)
_ANGLES = re.compile(r"<(-?\w[\w./]*)>")  # <4>, but < 4 is another thing
_FLAT_DICT = re.compile(r"\{[^{}\\]*\}")
_PAIRS = json.JSONDecoder(object_pairs_hook=tuple)
_INVISIBLE = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u2060\ufe0f\u20e3"))
_SAME = str.maketrans(
    {"’": "'", "−": "-", "\u3000": " ", "\u2028": "\n", "\x85": "\n"}
    | {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
)


@dataclass(frozen=True, slots=True)
class ReplyParts:
    """What a reply holds outside its reasoning.

    Attributes
    ----------
    objects : JSON objects, each a tuple of (key, value), so that a repeated key shows.
    text : the rest, with plain punctuation and ASCII digits.
    json_first : nothing but markup stands before the first object.
    broken : a reasoning block or an object was opened and never closed.
    """

    objects: tuple[Any, ...]
    text: str
    json_first: bool
    broken: bool


def split_reply(reply: str) -> ReplyParts:
    """Take a reply apart: the whole as JSON first, then without reasoning, then without fences.

    Parameters
    ----------
    reply : as it came; JSON inside a JSON string is unwrapped.

    Returns
    -------
    ReplyParts
        With ``broken`` set where nothing can be read, as the reply stops inside something.

    Notes
    -----
    What stands two braces deep in an object that cannot be read is dropped: it may be a
    draft. What stands one brace deep is text, in which a label can still be read. Text
    before a closing reasoning tag without an opening one is reasoning too, since some chat
    templates put the opening tag into the prompt.
    """
    reply = reply.strip("\ufeff \r\n\t")
    whole = _json(reply)
    if isinstance(whole, str):
        return split_reply(whole)
    if isinstance(whole, tuple) or (isinstance(whole, list) and _tuples(whole)):
        return ReplyParts((whole,), "", json_first=True, broken=False)
    visible = _outside_reasoning(reply)
    if visible is None:
        return ReplyParts((), "", json_first=False, broken=True)
    objects, before, text, broken = _take_objects(_FENCE.sub("\n", visible))
    only_marks = re.fullmatch(rf"{MARKS}*", plain(before)) is not None
    return ReplyParts(tuple(objects), plain(text), bool(objects) and only_marks, broken)


def plain(text: str) -> str:
    """Text without invisible characters; digits, punctuation and line ends in one form.

    Full-width forms become ASCII, "No. 2" becomes "#2" and an answer tag becomes a label on
    a line of its own. Signs that are no decimal digits (½, ②) stay what they are.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_INVISIBLE).translate(_SAME)
    text = "".join(str(int(c)) if c.isdecimal() else c for c in text)
    text = re.sub(r"\bno\.\s*(?=\d)", "#", text, flags=re.IGNORECASE)  # a number, not a "no"
    text = _TAG.sub(lambda tag: f"\n{tag[1]}: " if tag[1] else "\n", text)
    text = _ANGLES.sub(r"\1", text)
    return re.sub(r"\n[\n ]*\n", "\n\n", re.sub(r"[^\S\n]+", " ", text)).strip()


def keyed_values(objects: Iterable[Any], keys: Collection[str]) -> list[Any]:
    """Values under any of ``keys``, at every depth; lists under a key count item by item.

    Parameters
    ----------
    objects : from :class:`ReplyParts`.
    keys : in lower case, with underscores for spaces and hyphens.

    Returns
    -------
    list
        Text, numbers, booleans and None, in no order that matters.
    """
    found: list[Any] = []
    waiting = list(objects)
    while waiting:
        part = waiting.pop(0)
        if isinstance(part, list):
            waiting.extend(part)
        elif isinstance(part, tuple):
            for key, value in part:
                items = value if isinstance(value, list) else [value]
                waiting.extend(item for item in items if isinstance(item, tuple | list))
                if re.sub(r"[\s-]+", "_", str(key).strip().casefold()) in keys:
                    found.extend(item for item in items if not isinstance(item, tuple | list))
    return found


def _json(text: str) -> Any:
    try:
        return _PAIRS.decode(text)
    except (ValueError, RecursionError):
        return None


def _tuples(values: list[Any]) -> bool:
    return any(isinstance(value, tuple) for value in values)


def _outside_reasoning(text: str) -> str | None:
    """Text without reasoning blocks; None where one is never closed."""
    kept: list[str] = []
    inside = False
    for piece in _REASONING.split(text):
        if not _REASONING.fullmatch(piece):
            kept.extend([] if inside else [piece])
        elif piece.startswith("</"):
            if not inside:
                kept.clear()
            inside = False
        else:
            inside = True
    return None if inside else "\n".join(kept)


def _take_objects(text: str) -> tuple[list[Any], str, str, bool]:
    """Objects, the text before the first, all text outside, and whether a brace stays open."""
    objects: list[Any] = []
    kept: list[str] = []
    before, depth, at = text, 0, 0
    for brace in re.finditer(r"[{}]", text):
        start = brace.start()
        if start < at:
            continue
        taken = _object_at(text, start) if brace[0] == "{" and depth == 0 else None
        kept.extend([text[at:start], "\n" if taken else " "] if depth < 2 else [])
        at = start + 1
        if taken:
            before = before if objects else "".join(kept)
            objects.append(taken[0])
            at = taken[1]
        else:
            depth = depth + 1 if brace[0] == "{" else max(0, depth - 1)
    return objects, before, "".join([*kept, text[at:]]), depth > 0


def _object_at(text: str, start: int) -> tuple[Any, int] | None:
    """The object that begins at a brace, in JSON or as a flat Python dict, and its end."""
    try:
        return _PAIRS.raw_decode(text, start)
    except (ValueError, RecursionError):
        pass
    flat = _FLAT_DICT.match(text, start)
    if not flat:
        return None
    try:
        node = ast.parse(flat[0], mode="eval").body
        if not isinstance(node, ast.Dict) or None in node.keys:
            return None
        keys = [ast.literal_eval(key) for key in node.keys if key]
        values = [ast.literal_eval(value) for value in node.values]
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    plain_values = [list(v) if isinstance(v, tuple) else v for v in values]
    return tuple(zip(keys, plain_values, strict=True)), flat.end()
