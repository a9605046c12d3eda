"""A guard in the kernel of a proof run: no network but this machine's own.

An audit hook sees every connection, datagram and name look-up that Python makes, whatever library
asks for it, and cannot be taken out again. What a library does with the error (some carry on as if
the host were down) must not hide the attempt, so each one is also written to a file.
Programs that the kernel starts are outside it; for them the proxies and pip's index are set to
nothing (:func:`environment`).
"""

from __future__ import annotations

import ipaddress
import os
import runpy
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

VARIABLE = "MTR_NO_NETWORK"  # the file that attempts are written to
NOWHERE = "http://127.0.0.1:9"  # the discard port: nothing answers there
_LOCAL_NAMES = frozenset(("", "localhost", "localhost.localdomain", "ip6-localhost"))


class NetworkBlockedError(OSError):
    """The network was asked for while a proof run keeps it closed."""


def environment(attempts: Path) -> dict[str, str]:
    """Variables of a guarded kernel; ``attempts`` is the file that attempts are written to."""
    proxies = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy")
    local = "localhost,127.0.0.1,::1"
    return {
        VARIABLE: str(attempts.resolve()),
        "PIP_NO_INDEX": "1",
        **dict.fromkeys(proxies, NOWHERE),
        "no_proxy": local,
        "NO_PROXY": local,
    }


def is_local(host: Any) -> bool:
    """Whether a host, by name or number, is this machine."""
    if host is None:
        return True
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    if text in _LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(text.split("%")[0]).is_loopback
    except ValueError:
        return False


def _hook(attempts: Path) -> Callable[[str, tuple[Any, ...]], None]:
    """Audit hook that refuses all but loopback and sockets of the file system.

    Raises (the hook)
    -----------------
    NetworkBlockedError
        Naming host and what was asked.
    """

    def guard(event: str, args: tuple[Any, ...]) -> None:
        if not event.startswith("socket."):
            return
        host = _host(event, args)
        if host is None or is_local(host):
            return
        with attempts.open("a", encoding="utf-8") as log:
            log.write(f"{event.removeprefix('socket.')} {host}\n")
        raise NetworkBlockedError(f"{event} to {host!r}: the network is closed in a proof run")

    return guard


def _host(event: str, args: tuple[Any, ...]) -> Any:
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        return args[0]
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        connection, address = args[0], args[1]
        if address is None or connection.family not in (socket.AF_INET, socket.AF_INET6):
            return None
        return address[0] if isinstance(address, tuple) else address
    return None


def main() -> None:
    """Close the network if the environment says so, then become the kernel."""
    where = os.environ.get(VARIABLE)
    if where:
        sys.addaudithook(_hook(Path(where)))
    runpy.run_module("ipykernel_launcher", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
