"""Controls are made where a person can use them, and nowhere else."""

from __future__ import annotations

import importlib.util
from types import SimpleNamespace

import pytest

from mtrlib.reporting import live
from mtrlib.reporting.kernel import environment

ASK = "from mtrlib.reporting import live; print(live.is_live())"


def shell(**content: object) -> SimpleNamespace:
    """A shell whose kernel was asked to run a cell by a request of this content."""
    kernel = SimpleNamespace(get_parent=lambda channel: {"content": content} if content else {})
    return SimpleNamespace(kernel=kernel)


@pytest.mark.parametrize(
    ("given", "environ", "expected"),
    [
        (shell(allow_stdin=True), {}, True),
        (shell(allow_stdin=False), {}, False),
        (shell(code="1"), {}, False),
        (shell(), {}, False),
        (shell(allow_stdin=True), {"MTR_PROGRESS_FILE": "/tmp/log"}, False),
        (SimpleNamespace(), {}, False),  # IPython in a terminal
        (None, {}, False),  # no IPython at all
    ],
)
def test_who_is_in_front(given, environ, expected):
    assert live.is_live(given, environ) is expected


def test_without_ipywidgets_nothing_is_live(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert not live.is_live(shell(allow_stdin=True), {})


def test_a_headless_run_gets_a_line_and_no_widget(capsys):
    assert live.turn_panel(None, None) is None
    assert live.rounds_panel(None, None) is None
    assert capsys.readouterr().out.count("nobody to use controls here") == 2


def test_a_person_gets_the_widget(monkeypatch):
    from mtrlib.reporting import playground_widgets

    monkeypatch.setattr(live, "is_live", lambda: True)
    for name in ("turn_panel", "rounds_panel"):
        monkeypatch.setattr(playground_widgets, name, lambda *given: given)
    assert live.turn_panel(1, 2) == (1, 2)
    assert live.rounds_panel(3, 4) == (3, 4)


@pytest.mark.slow
def test_a_real_kernel_tells_a_person_from_a_run(monkeypatch):
    """One kernel, asked as JupyterLab asks and as nbconvert and papermill do."""
    from jupyter_client.manager import start_new_kernel

    monkeypatch.delenv("MTR_PROGRESS_FILE", raising=False)
    manager, client = start_new_kernel(kernel_name="python3")
    printed: list[str] = []

    def keep(message: dict) -> None:
        printed.append(message["content"].get("text", "").strip())

    try:
        for person in (True, False):
            client.execute_interactive(ASK, allow_stdin=person, output_hook=keep, timeout=60)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert [text for text in printed if text] == ["True", "False"]


def test_the_runner_of_this_project_is_no_person(tmp_path):
    given = environment(tmp_path, tmp_path / "x.log")
    assert not live.is_live(shell(allow_stdin=True), given)
