"""Make ``requirements.lock``: every package, direct and indirect, with one exact version.

``uv`` resolves ``pyproject.toml`` (with the ``dev`` extra) once for all supported Pythons and
platforms; what differs between them carries a marker. Two kinds of package are left out, because
which of them is right depends on the machine: GPU runtimes, which a GPU build of torch asks for
by exact version itself, and torch's own local labels such as ``+cpu``.

Run it with ``make lock``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
GPU = re.compile(r"^(nvidia-|cuda-|triton\b|pytorch-triton|intel-.*-runtime)")
PIN = re.compile(r"^[a-z0-9][a-z0-9._-]*==[0-9][^\s+;]*( ; [^#]+)?$")
HEADER = """\
# Exact versions for Python 3.11 to 3.13 on Linux, macOS and Windows, `dev` extra included.
# Made by tools/lock.py from pyproject.toml; refresh with `make lock`, do not edit.
# GPU runtimes are not listed: a GPU build of torch brings the ones it needs.
"""


def clean(resolved: str) -> list[str]:
    """Keep the pins of a resolver's output; fail on a line that is neither pin nor noise."""
    pins = []
    for raw in resolved.splitlines():
        line = re.sub(r"\s+#.*$", "", raw).strip()
        if not line or line.startswith("#") or GPU.match(line):
            continue
        line = re.sub(r"(==[^\s+;]+)\+[^\s;]+", r"\1", line)
        if not PIN.match(line):
            raise SystemExit(f"error: the resolver returned a line that is no plain pin: {line!r}")
        pins.append(line)
    return sorted(set(pins))


def resolve() -> str:
    """Ask uv for newest versions within the bounds; the user's own uv settings are left out."""
    command = [
        *(sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "--extra", "dev"),
        *("--universal", "--python-version", "3.11", "--fork-strategy", "fewest"),
        *("--no-config", "--no-header", "--no-annotate", "--quiet"),
    ]
    # an index set by the user may serve local builds; versions must come from the public registry
    env = {k: v for k, v in os.environ.items() if not re.match(r"UV_.*(INDEX|LINKS|CONSTRAINT)", k)}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"error: uv could not resolve pyproject.toml\n{done.stderr.strip()}")
    return done.stdout


def main() -> None:
    pins = clean(resolve())
    fresh = LOCK.with_name(LOCK.name + ".tmp")
    fresh.write_text(HEADER + "\n".join(pins) + "\n", encoding="utf-8")
    fresh.replace(LOCK)
    print(f"{LOCK.name}: {len(pins)} packages pinned")


if __name__ == "__main__":
    main()
