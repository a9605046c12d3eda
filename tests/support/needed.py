"""What a test needs from outside the repository, or it skips with a reason."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mtrlib.errors import FetchError


def pack(real_data: Path, *names: str) -> Path:
    """A folder or file of the real data."""
    path = real_data.joinpath(*names)
    if not path.exists():
        pytest.skip(f"{'/'.join(names)} is not in the real data")
    return path


@contextmanager
def fetched(what: str) -> Iterator[None]:
    """Inside, models and corpora are fetched; where they cannot be had the test skips."""
    try:
        yield
    except FetchError as error:
        pytest.skip(f"{what} cannot be fetched here: {error}")
