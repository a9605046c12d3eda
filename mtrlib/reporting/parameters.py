"""Notebook parameters given from outside: text or a file in, typed values out.

The type of a parameter is that of the literal its notebook declares. Text is never
guessed at: ``007`` and ``1.10`` stay as typed for a text parameter, and are refused for one
of another type that they do not spell.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from mtrlib.errors import InputError

TYPES = (bool, int, float, str)


class Typed(str):
    """A value as typed on the command line, whose type is still open."""

    __slots__ = ()


_ONE = re.compile(r"""\s*([^\s=]+)=("[^"]*"|'[^']*'|\[[^\]]*\]|[^\s"'\[]\S*|)(?=\s|$)""")


def parse_text(text: str) -> dict[str, Any]:
    """Read ``K=10 SEED=3 BENCHMARKS=[headings,mtr-mini]``; quotes keep spaces together.

    Raises
    ------
    InputError
        Something that is not ``NAME=value``, or a name given twice.
    """
    given: dict[str, Any] = {}
    text = text.strip()
    position = 0
    while position < len(text):
        match = _ONE.match(text, position)
        if match is None:
            raise InputError(
                f"parameters {text!r}: cannot read {text[position:].strip()!r}. "
                "Mend: write NAME=value, lists as NAME=[a,b], text with spaces in quotes."
            )
        name, value = match.groups()
        if name in given:
            raise InputError(f"parameters {text!r}: {name} is given twice. Mend: give it once.")
        given[name] = Typed(value[1:-1] if value[:1] in ("'", '"') else value)
        position = match.end()
    return given


def read_file(path: Path | str) -> dict[str, Any]:
    """Read a YAML or JSON mapping of names to values, types as the file has them.

    Raises
    ------
    InputError
        No such file, not readable as its format, or not a mapping of names.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError.at(path, None, "no such file", "check the path")
    try:
        text = path.read_text(encoding="utf-8-sig")
        given = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    except (yaml.YAMLError, ValueError) as error:
        raise InputError.at(
            path, None, f"not readable ({str(error).splitlines()[0]})", "write valid YAML or JSON"
        ) from None
    if given is None:
        return {}
    if not isinstance(given, dict) or not all(isinstance(name, str) for name in given):
        raise InputError.at(path, None, "not a mapping of names to values", "write `K: 10` lines")
    return given


def assign(
    declared: Mapping[str, Mapping[str, Any]], given: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Give each notebook the parameters that it declares, in its own types.

    Parameters
    ----------
    declared : notebook name -> its declared names and default values.
    given : names and values from :func:`parse_text` or :func:`read_file`.

    Returns
    -------
    Notebook name -> the values that differ from its own defaults.

    Raises
    ------
    InputError
        A name that no notebook declares, or a value of another type.
    """
    known = {name for names in declared.values() for name in names}
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name.upper(), sorted(known), n=1)
            raise InputError(
                f"{name!r} is a parameter of no selected notebook. "
                f"{f'Did you mean {near[0]}? ' if near else ''}"
                f"Known parameters: {', '.join(sorted(known))}."
            )
    assigned = {}
    for notebook, defaults in declared.items():
        values = {n: coerce(n, given[n], defaults[n]) for n in given if n in defaults}
        assigned[notebook] = {n: v for n, v in values.items() if v != defaults[n]}
    return assigned


def coerce(name: str, value: Any, default: Any) -> Any:
    """Value in the type of the declared default.

    Raises
    ------
    InputError
        Naming the type that was given and the one that is declared.
    """
    if isinstance(value, Typed):
        read = _read(str(value), default)
    elif isinstance(default, list | tuple):
        is_texts = isinstance(value, list | tuple) and all(type(v) is str for v in value)
        read = list(value) if is_texts else None
    elif type(default) is float and type(value) is int:
        read = float(value)
    else:
        read = value if type(value) is type(default) else None
    if read is None:
        raise InputError(
            f"{name}={value!r} is {_type_name(value)}, but the notebook declares "
            f"{_type_name(default)} ({name} = {default!r})."
        )
    return type(default)(read)


def _type_name(value: Any) -> str:
    """Name of a value's type in messages."""
    if isinstance(value, list | tuple):
        return "a list of text" if all(isinstance(v, str) for v in value) else "a list"
    named = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}
    return named.get(str if isinstance(value, Typed) else type(value), type(value).__name__)


def is_declarable(value: Any) -> bool:
    """Whether a literal has one of the types that can be given from outside."""
    if isinstance(value, list | tuple):
        return all(type(v) is str for v in value)
    return type(value) in TYPES


def _read(text: str, default: Any) -> Any:
    if isinstance(default, list | tuple):
        if not (text.startswith("[") and text.endswith("]")):
            return None
        items = [item.strip().strip("\"'") for item in text[1:-1].split(",")]
        return [] if items == [""] else items
    if type(default) is bool:
        return {"true": True, "false": False}.get(text.lower())
    if type(default) is int:
        return int(text) if re.fullmatch(r"[+-]?\d+", text, re.ASCII) else None
    if type(default) is float:
        try:
            number = float(text)
        except ValueError:
            return None
        return number if math.isfinite(number) else None
    return text
