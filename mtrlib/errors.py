"""Errors that a user can act on: each names what is wrong, where, and the mend.

Every class has its own exit code, so that a script can tell a bad file from a dead
endpoint (papermill and make report 1 for everything).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path


class MtrError(Exception):
    """Base of all errors raised on purpose. ``exit_code`` is what a command returns."""

    exit_code = 1


class InputError(MtrError):
    """A file, record, parameter or setting that cannot be used as it is."""

    exit_code = 2

    @classmethod
    def at(cls, path: Path | str, line: int | None, problem: str, mend: str) -> InputError:
        """Build the message ``file:line: problem. Mend: ...`` used everywhere."""
        where = f"{path}:{line}" if line is not None else str(path)
        return cls(f"{where}: {problem}. Mend: {mend}.")


class FetchError(MtrError):
    """A source could not be fetched, or what came is not what was asked for."""

    exit_code = 3


class EndpointError(MtrError):
    """An LLM endpoint failed in a way that a retry cannot cure."""

    exit_code = 4


class CoverageError(MtrError):
    """Too little was judged or answered for the number to be shown."""

    exit_code = 5


class ComparisonError(MtrError):
    """Fresh results differ from the committed ones by more than the tolerance."""

    exit_code = 6


class NotebookError(MtrError):
    """A notebook failed, or does not have the form that the runner relies on."""

    exit_code = 7


def run_main(main: Callable[[], int | None]) -> None:
    """Run a command; turn an :class:`MtrError` into one line and its exit code."""
    try:
        code = main()
    except MtrError as error:
        print(f"error: {error}", file=sys.stderr)
        code = error.exit_code
    except KeyboardInterrupt:
        print("interrupted; finished work is kept, run the same command again", file=sys.stderr)
        code = 130
    sys.exit(code or 0)
