"""What the readers of multi-answer sets share; a helper, not a format of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mtrlib.data.tasks import Answer
from mtrlib.errors import InputError

_MEND = "Mend: check that the file is of this format and version."
_SPLITS = ("train", "dev", "val", "test")


def as_answer(forms: Iterable[Any], where: str, passages: Iterable[str] = ()) -> Answer:
    """An answer from its forms: the first becomes its text, further ones its aliases.

    Whole numbers become text; blank and repeated forms are dropped, since a blank alias would
    match every passage. Commas inside a form stay: a form is never split.

    Raises
    ------
    InputError
        A form that is neither text nor a whole number, or no form that is not blank.
    """
    found: dict[str, None] = {}
    for form in forms:
        if isinstance(form, bool) or not isinstance(form, str | int):
            raise InputError(f"{where}: answer {form!r} is no text. {_MEND}")
        if text := str(form).strip():
            found[text] = None
    if not found:
        raise InputError(f"{where}: an answer without any text. {_MEND}")
    text, *aliases = found
    return Answer(text, tuple(aliases), tuple(dict.fromkeys(passages)))


def listed(value: Any, name: str, where: str, kind: type = dict) -> list[Any]:
    """A list of which every item is of ``kind``; None is an empty list.

    Raises
    ------
    InputError
        Anything else.
    """
    items = [] if value is None else value
    if not isinstance(items, list) or not all(isinstance(i, kind) for i in items):
        raise InputError(f"{where}: {name} is no list of {kind.__name__}. {_MEND}")
    return items


def question_text(value: Any, where: str) -> str:
    """The words of a question without outer white space.

    Raises
    ------
    InputError
        No text, or blank text.
    """
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where}: question is {value!r}, expected text. {_MEND}")
    return value.strip()


def split_in_name(path: Path) -> str:
    """``train``, ``dev``, ``val`` or ``test`` if that is a part of the file name, else ""."""
    parts = re.split(r"[._-]", path.name.lower())
    return next((split for split in _SPLITS if split in parts), "")
