"""The guard of a proof run lets this machine through and nothing else."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from mtrlib.reporting import network_guard

TRY = """
import socket, sys
from pathlib import Path
from mtrlib.reporting import network_guard
sys.addaudithook(network_guard._hook(Path(sys.argv[1])))
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(("localhost", server.getsockname()[1])).close()
left, right = socket.socketpair()
left.send(b"x")
for attempt in (
    lambda: socket.create_connection(("192.0.2.1", 80), timeout=1),
    lambda: socket.getaddrinfo("example.org", 443),
    lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.2", 53)),
    lambda: __import__("urllib.request").request.urlopen("http://example.net/", timeout=1),
):
    try:
        attempt()
    except OSError as error:
        print(type(error).__name__)
    else:
        print("reached")
"""


def test_loopback_passes_and_every_other_attempt_is_refused_and_written(tmp_path: Path) -> None:
    attempts = tmp_path / "attempts.log"
    ran = subprocess.run(
        [sys.executable, "-c", TRY, str(attempts)],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": ""},  # no proxy of the user's
    )
    assert "reached" not in ran.stdout
    assert ran.stdout.split().count("NetworkBlockedError") >= 3
    tried = attempts.read_text("utf-8").splitlines()
    assert tried[:3] == [
        "getaddrinfo 192.0.2.1",
        "getaddrinfo example.org",
        "sendto 192.0.2.2",
    ]
    assert any("example.net" in line for line in tried[3:])


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.9.1", "::1", b"localhost", None])
def test_this_machine_is_local(host: object) -> None:
    assert network_guard.is_local(host)


@pytest.mark.parametrize("host", ["0.0.0.1", "192.168.0.1", "example.org", "localhost.example.org"])
def test_other_machines_are_not(host: object) -> None:
    assert not network_guard.is_local(host)


def test_children_find_no_index_and_no_proxy(tmp_path: Path) -> None:
    set_ = network_guard.environment(tmp_path / "a.log")
    assert set_["PIP_NO_INDEX"] == "1"
    assert set_["https_proxy"] == network_guard.NOWHERE
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", 9), timeout=1)  # what NOWHERE names
