"""Tables that ship with a package and that a user's own file, named by a variable, adds to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from mtrlib.errors import InputError


def table_texts(package: str, name: str, variable: str) -> Iterator[tuple[str, str]]:
    """The text of the built-in file, then that of the user's, each with where it stands.

    Parameters
    ----------
    package, name : the file that ships.
    variable : of the environment, with the path of the user's file; unset or empty = none.

    Raises
    ------
    InputError
        The variable names no file.
    """
    yield files(package).joinpath(name).read_text(encoding="utf-8"), name
    if own := os.environ.get(variable, ""):
        path = Path(own)
        if not path.is_file():
            raise InputError.at(path, None, "no such file", f"check {variable}")
        yield path.read_text(encoding="utf-8-sig"), own
