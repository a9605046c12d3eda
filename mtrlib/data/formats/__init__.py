"""One reader per published format, all yielding :mod:`mtrlib.data.schema` and ``tasks``.

A module of this package that reads a format has a tuple ``FORMATS``. :func:`recognise` asks
them in order; the general ones come last, so that a set's own reader wins.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from pathlib import Path

from mtrlib.data.formats.base import Format
from mtrlib.errors import InputError

MODULES = (
    "mtr_bench",
    "chatrag_bench",
    "qrecc",
    "topiocqa",
    "quac",
    "coqa",
    "doc2dial",
    "inscit",
    "coral",
    "cast",
    "ikat",
    "mtrag",
    "qampari",
    "quest",
    "webqsp",
    "romqa",
    "limit",
    "ambignq",
    "dpr",
    "fanoutqa",
    "strategyqa",
    "break_qdmr",
    "begin",
    "ragchecker",
    "mtrag_ratings",
    "alce",
    "cranfield",
    "squad",
    "conversational",
    "beir",
    "trec",
    "column_map",
)


@lru_cache(maxsize=1)
def formats() -> dict[str, Format]:
    """All formats by name, in the order in which they are asked."""
    found: dict[str, Format] = {}
    for module in MODULES:
        for each in import_module(f"mtrlib.data.formats.{module}").FORMATS:
            if each.name in found:
                raise InputError(f"format {each.name!r} is declared twice (in {module}).")
            found[each.name] = each
    return found


def recognise(path: Path | str) -> Format:
    """The format of a file or folder.

    Raises
    ------
    InputError
        No such path, or none of the readers knows it.
    """
    path = Path(path)
    if not path.exists():
        raise InputError.at(path, None, "no such file or folder", "check the path")
    for each in formats().values():
        if each.recognises(path):
            return each
    raise InputError.at(
        path,
        None,
        "none of the readers knows this layout",
        "describe its columns in a columns.yaml beside it (docs in formats/column_map.py)",
    )
