"""Prompt files: two parts, named fields, and a version that is part of every request's key.

A file ``prompts/<name>.<language>.txt`` holds the template of the state, a line ``---``, and
the instruction. Only the fields that the caller fills are replaced; marks like ``[3]`` and
braces in their values stay as they are.
"""

from __future__ import annotations

import hashlib
import string
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mtrlib.data.schema import Utterance
from mtrlib.errors import InputError

LONGEST = 6000  # characters of a passage that a prompt shows
FOLDER = Path(__file__).parent / "prompts"

_WORDS = {
    "en": {
        "user": "User: ",
        "agent": "Assistant: ",
        "passage": "Passage {n}: ",
        "nothing": "(nothing yet)",
    },
    "zh": {"user": "用户：", "agent": "助手：", "passage": "文段 {n}：", "nothing": "（尚无）"},
}


@dataclass(frozen=True, slots=True)
class Prompt:
    r"""A prompt in one language.

    Attributes
    ----------
    version : file name and the first 12 hex digits of the SHA-256 of its text.
    text : the whole file, line ends as ``\n``.
    """

    name: str
    version: str
    text: str

    @property
    def fields(self) -> frozenset[str]:
        """Names that :meth:`fill` wants."""
        parts = string.Formatter().parse(self.text)
        return frozenset(name for _, name, _, _ in parts if name is not None)

    def fill(self, **fields: str) -> tuple[str, str]:
        """State and instruction with all fields in place.

        Raises
        ------
        InputError
            A field is missing, or is none of the file's.
        """
        missing = sorted(self.fields.difference(fields))
        unknown = sorted(set(fields) - self.fields)
        if missing or unknown:
            raise InputError(
                f"prompt {self.version}: missing fields {missing}, unknown fields {unknown}. "
                f"Mend: fill exactly {sorted(self.fields)}."
            )
        state, instruction = self.text.split("\n---\n")
        return state.strip().format(**fields), instruction.strip().format(**fields)


def load_prompt(name: str, language: str = "en", folder: Path = FOLDER) -> Prompt:
    """Read and check one prompt file.

    Raises
    ------
    InputError
        No such file; not two parts; a field that is not a plain name.
    """
    path = folder / f"{name}.{language}.txt"
    if not path.is_file():
        known = sorted(p.name for p in folder.glob("*.txt"))
        raise InputError.at(path, None, "no such prompt", f"use one of {', '.join(known)}")
    text = path.read_text("utf-8-sig")
    if text.count("\n---\n") != 1:
        raise InputError.at(
            path, None, "not two parts", "put one line --- between state and instruction"
        )
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    prompt = Prompt(name, f"{path.name}@{digest}", text)
    _check_fields(path, text)
    return prompt


def dialogue(history: Sequence[Utterance], language: str = "en") -> str:
    """One line per utterance, oldest first: ``User: …``, ``Assistant: …``; or ``(nothing yet)``.

    The current question is not part of it: the prompt files show that in a field of its own.
    """
    words = _words(language)
    return "\n".join(words[u.role] + u.text for u in history) or words["nothing"]


def shortened(text: str, longest: int = LONGEST) -> str:
    """The text, or its beginning up to a border between words and an ellipsis.

    A prompt must fit the model; callers count how often this cut something.
    """
    return text if len(text) <= longest else text[:longest].rsplit(maxsplit=1)[0] + " …"


def numbered(passages: Sequence[str], language: str = "en") -> str:
    """Passages under the labels 1, 2, … in the order given, with an empty line between them.

    The number stands in words in front and not in brackets, which would look like the
    citation marks that texts carry.
    """
    mark = _words(language)["passage"]
    shown = [mark.format(n=n) + text for n, text in enumerate(passages, start=1)]
    return "\n\n".join(shown)


def _words(language: str) -> dict[str, str]:
    if language not in _WORDS:
        raise InputError(f"no prompts in {language!r}. Mend: use one of {', '.join(_WORDS)}.")
    return _WORDS[language]


def _check_fields(path: Path, text: str) -> None:
    try:
        parts = list(string.Formatter().parse(text))
    except ValueError as error:
        raise InputError.at(
            path, None, f"braces do not match ({error})", "write {{ and }} for plain braces"
        ) from error
    for _, name, spec, conversion in parts:
        if name is not None and (not name.isidentifier() or spec or conversion):
            raise InputError.at(
                path, None, f"{{{name}}} is no plain field", "write {name}, without any more"
            )
