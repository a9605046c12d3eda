"""JupyterLab opens on the index, with the kernel of this interpreter, whatever port is free."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests

from mtrlib import paths
from mtrlib.reporting import lab

OTHER = {"argv": ["other-python", "{connection_file}"], "display_name": "x", "language": "python"}


@pytest.fixture
def foreign_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A python3 of some other environment, in the folder that Jupyter looks into first."""
    for name in ("python3", "other"):
        folder = tmp_path / "kernels" / name
        folder.mkdir(parents=True)
        (folder / "kernel.json").write_text(json.dumps(OTHER))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    return tmp_path


def test_python3_is_this_interpreter_and_other_kernels_stay(foreign_kernel: Path):
    from jupyter_client.kernelspec import KernelSpecManager

    # without our manager the foreign one would be taken
    assert KernelSpecManager().get_kernel_spec("python3").argv[0] == "other-python"
    kernels = lab.OwnKernel()
    assert kernels.get_kernel_spec("python3").argv[0] == sys.executable
    assert kernels.get_kernel_spec("other").argv[0] == "other-python"
    listed = kernels.get_all_specs()
    assert listed["python3"]["spec"]["argv"][0] == sys.executable
    assert "other" in listed


def test_options_of_the_reader_come_last_and_replace_ours():
    ours = lab.arguments()
    assert ours[0] == f"--ServerApp.root_dir={paths.notebooks()}"
    assert "--LabApp.default_url=/lab/tree/index.ipynb" in ours
    assert lab.arguments(["--port=9"]) == [*ours, "--port=9"]
    for option in ("--ServerApp.root_dir=/x", "--notebook-dir=/x"):
        assert lab.arguments([option]) == [*ours[1:], option]


@pytest.mark.slow
def test_the_server_answers_on_a_port_that_was_not_taken(foreign_kernel: Path, tmp_path: Path):
    runtime = tmp_path / "runtime"
    env = {
        **os.environ,
        "JUPYTER_RUNTIME_DIR": str(runtime),
        "JUPYTER_CONFIG_DIR": str(tmp_path / "config"),
        "JUPYTER_DATA_DIR": str(tmp_path / "data"),
    }
    options = ["--no-browser", "--IdentityProvider.token=secret"]
    if getattr(os, "geteuid", lambda: 1)() == 0:
        options.append("--allow-root")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "mtrlib.reporting.lab", f"--port={port}", *options]
        server = subprocess.Popen(
            command, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            base = _url(runtime, server)
            assert f":{port}/" not in base
            _answers(base)
        finally:
            server.terminate()
            server.wait(timeout=30)


def _url(runtime: Path, server: subprocess.Popen, seconds: float = 90) -> str:
    """Address of the server, from the file that it writes once it listens."""
    until = time.monotonic() + seconds
    file = runtime / f"jpserver-{server.pid}.json"
    while not file.is_file():
        assert server.poll() is None, f"JupyterLab ended with {server.returncode}"
        assert time.monotonic() < until, "JupyterLab did not start in time"
        time.sleep(0.2)
    return json.loads(file.read_text(encoding="utf-8"))["url"]


def _answers(base: str) -> None:
    header = {"Authorization": "token secret"}

    def get(path: str) -> requests.Response:
        return requests.get(base + path, headers=header, timeout=30)

    first = get("")
    assert first.status_code == 200 and first.url.endswith("/lab/tree/index.ipynb")
    contents = get("api/contents/index.ipynb")
    assert contents.status_code == 200 and contents.json()["type"] == "notebook"
    kernels = get("api/kernelspecs").json()
    assert kernels["kernelspecs"]["python3"]["spec"]["argv"][0] == sys.executable
    assert requests.get(base + "api/contents", timeout=30).status_code == 403
