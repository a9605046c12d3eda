"""The kernel of a notebook run: this interpreter, a fixed environment, signs of life."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

import mtrlib
from mtrlib.reporting import network_guard

if TYPE_CHECKING:
    from jupyter_client.kernelspec import KernelSpec

PROGRESS_SECONDS = 5.0
LAUNCHER = "ipykernel_launcher"


def own_spec(module: str = LAUNCHER, env: Mapping[str, str] | None = None) -> KernelSpec:
    """Kernel that runs a module of :data:`sys.executable`, with variables added."""
    from ipykernel.kernelspec import RESOURCES, get_kernel_dict
    from jupyter_client.kernelspec import KernelSpec

    # jupyter_client fills in $NAME
    plain = {name: value.replace("$", "$$") for name, value in (env or {}).items()}
    argv = [sys.executable, "-m", module, "-f", "{connection_file}"]
    own = {"resource_dir": RESOURCES, "argv": argv, "env": plain}
    return KernelSpec(**{**get_kernel_dict(), **own})


def manager_class(env: Mapping[str, str], messages: IO[bytes]) -> type:
    """Kernel manager that starts ``sys.executable``.

    A user may have installed ``python3`` as a kernel of some other environment; which
    interpreter runs must not depend on it.

    Parameters
    ----------
    env : variables added to those of this process.
    messages : takes what the kernel itself writes to stderr, also when it dies.
    """
    from jupyter_client.manager import AsyncKernelManager

    guarded = network_guard.VARIABLE in env
    spec = own_spec(network_guard.__name__ if guarded else LAUNCHER, env)

    class ThisInterpreter(AsyncKernelManager):
        @property
        def kernel_spec(self) -> KernelSpec:
            return spec

        def start_kernel(self, *args: Any, **options: Any) -> Any:
            return super().start_kernel(*args, **{"stderr": messages, **options})

    return ThisInterpreter


def environment(build: Path, log: Path, *, network: bool = True) -> dict[str, str]:
    """Variables that a run sets: equal bytes for equal input, and where things go.

    Parameters
    ----------
    build : folder that holds the folders of all tags.
    log : the library appends a line of progress to it now and then.
    network : off, the kernel reaches this machine alone, and attempts are written beside the
        log, see :func:`attempts_file`.
    """
    library = str(Path(mtrlib.__file__).resolve().parent.parent)
    return {
        "PYTHONHASHSEED": "0",
        "SOURCE_DATE_EPOCH": "0",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "PYTHONPATH": os.pathsep.join(filter(None, [library, os.environ.get("PYTHONPATH")])),
        "MTR_BUILD": str(build.resolve()),
        "MTR_PROGRESS_FILE": str(log.resolve()),
        **({} if network else network_guard.environment(attempts_file(log))),
    }


def attempts_file(log: Path) -> Path:
    """Where a kernel without network writes what it tried to reach."""
    return log.with_suffix(".network.log")


class Follower:
    """While open, prints the newest line of a growing file every few seconds."""

    def __init__(self, path: Path, label: str, seconds: float = PROGRESS_SECONDS) -> None:
        self._path, self._label, self._seconds = path, label, seconds
        self._read = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> Follower:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _follow(self) -> None:
        while not self._ended.wait(self._seconds):
            line = self._newest()
            if line:
                print(f"  {self._label}: {line}", flush=True)

    def _newest(self) -> str:
        if not self._path.is_file():
            return ""
        with self._path.open("rb") as log:
            log.seek(self._read)
            whole, end, _ = log.read().rpartition(b"\n")  # a line still being written waits
        self._read += len(whole) + len(end)
        lines = whole.decode("utf-8", errors="replace").split("\n")
        return lines[-1].strip()


def peak_mb() -> int:
    """Largest resident size of any child process so far, in MB; 0 where unknown."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return peak // (1024 * 1024) if sys.platform == "darwin" else peak // 1024
