"""Whether somebody sits in front of the notebook: controls are for them, tables for everybody.

Widgets are no part of a committed page: without a running kernel they show nothing. So a notebook
builds them only where they work, and shows a fixed example as plain tables everywhere.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mtrlib.reporting.playground import Desk, Look
    from mtrlib.reporting.playground_rounds import Asked
    from mtrlib.reporting.rvr_grid import Grid


def is_live(shell: Any = None, environ: Mapping[str, str] | None = None) -> bool:
    """Whether widgets can be shown and used here.

    Parameters
    ----------
    shell : the IPython shell; the running one if None.
    environ : environment variables; those of the process if None.

    Notes
    -----
    Every request to run a cell says whether its sender can be asked for input (``allow_stdin`` of
    the Jupyter messaging protocol). JupyterLab, Notebook and editors can; papermill, nbconvert
    and other runs without a person say no. That is what is read here, so a headless run is told
    apart whichever tool makes it. The runner of this project also names ``MTR_PROGRESS_FILE``. A
    plain interpreter, a terminal and a machine without ipywidgets show no widgets either.
    """
    given = os.environ if environ is None else environ
    if given.get("MTR_PROGRESS_FILE") or importlib.util.find_spec("ipywidgets") is None:
        return False
    if shell is None:
        from IPython.core.getipython import get_ipython

        shell = get_ipython()
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return False
    request = kernel.get_parent("shell")
    return bool(request.get("content", {}).get("allow_stdin", False))


def turn_panel(desk: Desk, look: Look) -> Any:
    """Controls of :func:`mtrlib.reporting.playground_widgets.turn_panel` where they work.

    Returns
    -------
    A widget for the end of a cell; None without a person in front, and a line that says so.
    """
    if not is_live():
        return _nobody()
    from mtrlib.reporting.playground_widgets import turn_panel as build

    return build(desk, look)


def rounds_panel(grid: Grid, asked: Asked) -> Any:
    """Controls of :func:`mtrlib.reporting.playground_widgets.rounds_panel` where they work.

    Returns
    -------
    As :func:`turn_panel`.
    """
    if not is_live():
        return _nobody()
    from mtrlib.reporting.playground_widgets import rounds_panel as build

    return build(grid, asked)


def _nobody() -> None:
    print("nobody to use controls here: the example below stands for them")
