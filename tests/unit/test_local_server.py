"""The local server without a model: a stand-in process that answers, hangs or dies."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from mtrlib.errors import EndpointError, InputError
from mtrlib.llm import __main__ as command_line
from mtrlib.llm import convert, local_server, server_state

FAKE = textwrap.dedent("""
    import os, signal, sys
    from http.server import BaseHTTPRequestHandler, HTTPServer
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/health" else 404)
            self.end_headers()
    if "deaf" in sys.argv:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("policy", os.environ.get("OMP_WAIT_POLICY"), "hub off", os.environ["HF_HUB_OFFLINE"])
    print("folder", os.getcwd(), flush=True)
    HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
""")


def fake(port: int, *words: str) -> list[str]:
    return [sys.executable, "-c", FAKE, str(port), *words]


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[local_server.LocalServer]:
    port = local_server.free_port()
    with local_server.started(fake(port), port, tmp_path, limit=20) as found:
        yield found


def test_a_server_answers_inside_the_block_and_is_gone_after_it(tmp_path: Path):
    port = local_server.free_port()
    with local_server.started(fake(port), port, tmp_path, limit=20) as server:
        assert server.base_url == f"http://127.0.0.1:{port}/v1"
        assert server.process.cwd() == str(tmp_path.resolve())
        assert os.getpgid(server.process.pid) == server.process.pid  # not in our group
        with socket.create_connection(("127.0.0.1", port), timeout=2):
            pass
    assert gone(server.process.pid)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=2)


def test_a_server_is_gone_after_an_error_in_the_block(tmp_path: Path):
    port = local_server.free_port()
    with (
        pytest.raises(ZeroDivisionError),
        local_server.started(fake(port), port, tmp_path, limit=20) as server,
    ):
        _ = 1 / 0
    assert gone(server.process.pid)


def test_two_servers_run_side_by_side(server, tmp_path: Path):
    port = local_server.free_port()
    assert port != server.port
    with local_server.started(fake(port), port, tmp_path, limit=20) as other:
        assert other.process.pid != server.process.pid
    assert server.process.is_running()


def test_a_server_that_hears_no_signal_is_killed(tmp_path: Path, monkeypatch):
    brief = tuple((ending, 0.2) for ending, _ in local_server.ENDINGS)
    monkeypatch.setattr(local_server, "ENDINGS", brief)
    port = local_server.free_port()
    with local_server.started(fake(port, "deaf"), port, tmp_path, limit=20) as server:
        pass
    assert server.process.returncode == -signal.SIGKILL
    assert gone(server.process.pid)


def test_a_server_that_dies_shows_the_end_of_its_log(tmp_path: Path):
    code = "print(*('line %d' % i for i in range(99)), sep='\\n'); raise SystemExit(3)"
    started = local_server.started([sys.executable, "-c", code], 1, tmp_path, limit=20)
    with pytest.raises(EndpointError, match="ended with code 3") as caught, started:
        pass
    shown = str(caught.value).splitlines()
    assert shown[-1] == "line 98"
    assert "line 80" in shown and "line 5" not in shown


def test_a_server_that_does_not_answer_in_time_is_ended(tmp_path: Path):
    code = "import time; print('loading', flush=True); time.sleep(60)"
    started = local_server.started([sys.executable, "-c", code], 1, tmp_path, limit=1)
    before = set(psutil.Process().children())
    with pytest.raises(EndpointError, match=r"within 1 s[\s\S]*loading"), started:
        pass
    assert set(psutil.Process().children()) <= before


def test_an_answer_of_another_process_on_the_port_does_not_count(server, tmp_path: Path):
    """As when a port was taken between our look and the start of the server."""
    idle = [sys.executable, "-c", "import time; time.sleep(60)"]
    started = local_server.started(idle, server.port, tmp_path, limit=0.5)
    with pytest.raises(EndpointError, match="did not answer"), started:
        pass


def test_the_server_looks_up_nothing_and_its_threads_wait_politely(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    found = local_server._environment()
    assert found["HF_HUB_OFFLINE"] == found["HF_HUB_DISABLE_UPDATE_CHECK"] == "1"
    assert found["OMP_WAIT_POLICY"] == "PASSIVE"
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    assert local_server._environment()["OMP_WAIT_POLICY"] == "ACTIVE"


def test_the_real_command_names_the_model_without_a_path(monkeypatch, tmp_path: Path):
    seen = {}

    def started(command, port, folder, limit):
        seen.update(command=command, port=port, folder=folder, limit=limit)

    monkeypatch.setattr(local_server, "converted_model", lambda: tmp_path / "smollm2")
    monkeypatch.setattr(local_server, "started", started)
    local_server.smollm2_server(limit=7)
    assert (seen["folder"], seen["limit"]) == (tmp_path, 7)
    assert seen["command"][0] == sys.executable
    assert str(tmp_path) not in " ".join(seen["command"])
    after = seen["command"][seen["command"].index("serve") + 1 :]
    assert after[0] == "smollm2"
    assert after[after.index("--host") + 1] == "127.0.0.1"
    assert after[after.index("--port") + 1] == str(seen["port"])


# The note of a running server


def test_a_noted_server_is_found_until_it_ends(fresh_cache: Path, server):
    assert local_server.address() is None
    with server_state.noted(server.process, server.port):
        assert local_server.address() == server.base_url
        found = server_state.running()
        assert found is not None and found.pid == server.process.pid
    assert local_server.address() is None
    assert not server_state.state_file().exists()


def test_the_note_of_a_server_that_died_is_removed(fresh_cache: Path, server):
    with server_state.noted(server.process, server.port):
        local_server.end(server.process)
        assert local_server.address() is None
        assert not server_state.state_file().exists()


def test_a_server_that_lives_but_does_not_answer_keeps_its_note(fresh_cache: Path, server):
    """It may be busy; `stop` must still find it."""
    with server_state.noted(server.process, local_server.free_port()):
        assert local_server.address() is None
        assert server_state.state_file().exists()


@pytest.mark.parametrize(
    "change", [{"started": 1.0}, {"command": ["python", "other"]}, {"pid": os.getppid()}]
)
def test_another_process_under_the_noted_id_is_never_taken_for_it(
    fresh_cache: Path, server, change, capsys
):
    with server_state.noted(server.process, server.port):
        note = json.loads(server_state.state_file().read_text("utf-8"))
        server_state.state_file().write_text(json.dumps(note | change), "utf-8")
        command_line.main(["stop"])
    assert "no local server" in capsys.readouterr().out
    assert server.process.poll() is None
    assert not server_state.state_file().exists()


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"pid": "x"}', "null"])
def test_a_torn_note_is_as_good_as_none(fresh_cache: Path, text: str):
    server_state.state_file().write_text(text, "utf-8")
    assert local_server.address() is None
    assert not server_state.state_file().exists()


def test_a_server_leaves_the_note_of_a_later_one_alone(fresh_cache: Path, server):
    with server_state.noted(server.process, server.port):
        later = server_state.Running(1, 2.0, ["later"], 3)
        server_state.state_file().write_text(json.dumps(vars(later)), "utf-8")
    assert json.loads(server_state.state_file().read_text("utf-8")) == vars(later)


# The commands

SERVE = f"""
import pathlib
from mtrlib.errors import run_main
from mtrlib.llm import __main__ as command_line, local_server
port = local_server.free_port()
command = [__import__("sys").executable, "-c", {FAKE!r}, str(port)]
command_line.smollm2_server = lambda: local_server.started(command, port, pathlib.Path("."), 20)
run_main(lambda: command_line.main(["serve"]))
"""


@pytest.fixture
def serving(fresh_cache: Path) -> Iterator[subprocess.Popen[str]]:
    """``serve`` in a process of its own, with the stand-in for the model's server."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_for(lambda: local_server.address() or process.poll() is not None)
        yield process
        if process.poll() is None:
            process.send_signal(signal.SIGINT)


def test_serve_prints_an_address_that_others_find_and_stop_ends_it(serving, capsys):
    url = local_server.address()
    assert url is not None
    with pytest.raises(InputError, match=f"already at {url}"):
        command_line.main(["serve"])
    command_line.main(["stop"])
    assert url in capsys.readouterr().out
    said, errors = serving.communicate(timeout=20)
    assert said.startswith(url) and "has ended" in said
    assert not errors
    assert local_server.address() is None
    command_line.main(["stop"])
    assert "no local server is running" in capsys.readouterr().out


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_serve_takes_its_server_along_however_it_is_ended(serving, ending):
    note = server_state.running()
    assert note is not None
    serving.send_signal(ending)
    _, errors = serving.communicate(timeout=20)
    assert (serving.returncode, errors) == (0, "")
    assert gone(note.pid)
    assert not server_state.state_file().exists()


def test_serve_fails_when_its_server_is_killed(serving):
    note = server_state.running()
    assert note is not None
    os.kill(note.pid, signal.SIGKILL)
    _, errors = serving.communicate(timeout=20)
    assert serving.returncode == EndpointError.exit_code
    assert "ended by signal 9" in errors


# The conversion


@pytest.fixture
def no_model(fresh_cache: Path, monkeypatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(convert, "fetch", lambda entry: tmp_path)
    return fresh_cache


def _write(source: Path, target: Path) -> None:
    target.mkdir()
    (target / "config.json").write_text("{}")


def test_the_folder_is_complete_or_absent(no_model: Path, monkeypatch):
    def breaks(source: Path, target: Path) -> None:
        _write(source, target)
        raise RuntimeError("disk full")

    monkeypatch.setattr(convert, "_save_plain", breaks)
    with pytest.raises(RuntimeError):
        convert.convert()
    assert not [p for p in (no_model / "models").rglob("*") if p.is_file()]
    monkeypatch.setattr(convert, "_save_plain", _write)
    folder = convert.convert()
    assert folder.name == "smollm2"
    assert [p.name for p in folder.parent.iterdir()] == ["smollm2"]


def test_what_is_there_is_not_made_again(no_model: Path, monkeypatch):
    monkeypatch.setattr(convert, "_save_plain", _write)
    folder = convert.convert()
    monkeypatch.setattr(convert, "_save_plain", None)
    assert convert.convert() == convert.converted_model() == folder


def test_of_two_that_convert_at_once_the_first_wins(no_model: Path, monkeypatch):
    def overtaken(source: Path, target: Path) -> None:
        _write(source, target)
        _write(source, convert._target())
        (convert._target() / "config.json").write_text("the other's")

    monkeypatch.setattr(convert, "_save_plain", overtaken)
    folder = convert.convert()
    assert (folder / "config.json").read_text() == "the other's"
    assert [p.name for p in folder.parent.iterdir()] == ["smollm2"]


def test_a_new_library_or_a_new_file_gets_a_new_folder(no_model: Path, monkeypatch):
    before = convert._target()
    monkeypatch.setattr(convert, "version", lambda name: "99.0")
    assert convert._target() != before
    assert before.parent.name.startswith("b179c9523d0e-")


def test_a_failed_conversion_says_what_it_last_said(no_model: Path, monkeypatch):
    done = subprocess.CompletedProcess([], -9, "", "Loading\nno memory left\n")
    monkeypatch.setattr(convert.subprocess, "run", lambda *args, **kwargs: done)
    with pytest.raises(EndpointError, match=r"exit code -9\): Loading \| no memory left\. Mend"):
        convert.converted_model()
