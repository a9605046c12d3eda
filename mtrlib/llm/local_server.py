"""SmolLM2 behind ``transformers serve`` on this machine: started, found again, ended.

The real server for the live path: it speaks System One and plain chat, and ignores
``logprobs``, ``top_logprobs``, ``response_format`` and ``n`` in silence. It holds about 1.1 GB of
memory.
"""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from mtrlib.errors import EndpointError
from mtrlib.llm.convert import converted_model
from mtrlib.llm.server_state import running

HOST = "127.0.0.1"
START_SECONDS = 120.0  # about 10 on an idle machine
LOG_LINES = 20
# each signal, and the seconds it gets before the next, harsher one
ENDINGS = ((signal.SIGINT, 15.0), (signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0))


@dataclass(frozen=True)
class LocalServer:
    """A server process that answers.

    Attributes
    ----------
    process : ours; others may end it meanwhile.
    port : where it listens on 127.0.0.1.
    """

    process: psutil.Popen
    port: int

    @property
    def base_url(self) -> str:
        """Address for an OpenAI client."""
        return base_url(self.port)


@contextmanager
def started(
    command: Sequence[str], port: int, folder: Path, limit: float = START_SECONDS
) -> Iterator[LocalServer]:
    """A server process: it answers inside the ``with`` block and is gone after it.

    Parameters
    ----------
    command : starts a server that listens on ``port`` and answers ``/health``.
    port : a free port of 127.0.0.1.
    folder : working directory of the process.
    limit : seconds within which it must answer.

    Raises
    ------
    EndpointError
        It ended or did not answer in time; the message holds the end of its log.
    """
    # a file, not a pipe: nobody reads along, and a full pipe would stop the server
    with tempfile.NamedTemporaryFile(prefix="mtr-server-", suffix=".log") as log:
        process = psutil.Popen(
            list(command),
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C in a terminal or kernel is ours to pass on
        )
        try:
            _wait_until_ready(process, port, limit, Path(log.name))
            yield LocalServer(process, port)
        finally:
            end(process)


@contextmanager
def serve(limit: float = START_SECONDS) -> Iterator[str]:
    """Base URL of a server of one's own for the length of the ``with`` block.

    Every call has its own process and port, so several can run side by side.

    Parameters
    ----------
    limit : seconds within which it must answer; the one-time conversion does not count.

    Raises
    ------
    FetchError, EndpointError
        As :func:`mtrlib.llm.convert.converted_model` and :func:`started`.
    """
    with smollm2_server(limit) as server:
        yield server.base_url


def smollm2_server(limit: float = START_SECONDS) -> AbstractContextManager[LocalServer]:
    """As :func:`serve`, but with the process at hand.

    It runs in the folder above the model and is given a relative name, so that the name
    under which the model is served carries no path of this machine.
    """
    model = converted_model()
    port = free_port()
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", model.name]
    command += ["--device", "cpu", "--host", HOST, "--port", str(port)]
    return started(command, port, model.parent, limit)


def address() -> str | None:
    """Base URL of the server that ``make llm`` keeps running, or None where none answers."""
    found = running()
    return base_url(found.port) if found and _answers(found.port) else None


def base_url(port: int) -> str:
    """Address of a local server for an OpenAI client."""
    return f"http://{HOST}:{port}/v1"


def end(process: psutil.Process) -> None:
    """End one process: SIGINT, which lets a server finish, later SIGTERM, at last SIGKILL."""
    for ending, patience in ENDINGS:
        try:
            process.send_signal(ending)
            process.wait(patience)
        except psutil.NoSuchProcess:
            return
        except psutil.TimeoutExpired:
            continue
        return


def free_port() -> int:
    """A port of 127.0.0.1 on which nobody listens now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _environment() -> dict[str, str]:
    """Ours, with every look-up on the network off.

    Threads that wait by spinning make each other wait on a busy machine: a judgement then took
    8 s in place of 1 s (two cores, two other processes).
    """
    off = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_UPDATE_CHECK": "1"}
    return {"OMP_WAIT_POLICY": "PASSIVE", **os.environ, **off}


def _wait_until_ready(process: psutil.Popen, port: int, limit: float, log: Path) -> None:
    deadline = time.monotonic() + limit
    while not (_listens(process, port) and _answers(port)):
        code = process.poll()
        if code is None and time.monotonic() < deadline:
            time.sleep(0.1)
            continue
        what = f"did not answer within {limit:g} s" if code is None else f"ended with code {code}"
        lines = log.read_text("utf-8", errors="replace").splitlines()[-LOG_LINES:]
        raise EndpointError(
            f"the local server on port {port} {what}. Mend: see the end of its log below; "
            "`make env` brings the packages that it needs.\n"
            + ("\n".join(lines) or "(the log is empty)")
        )


def _listens(process: psutil.Process, port: int) -> bool:
    """Whether this very process has the port: another may have taken it in between."""
    try:
        found = process.net_connections("tcp4")
    except psutil.Error:
        return False
    return any(c.status == psutil.CONN_LISTEN and c.laddr.port == port for c in found)


def _answers(port: int) -> bool:
    """Whether a server on the port says that it is well. Proxies play no part."""
    connection = http.client.HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
