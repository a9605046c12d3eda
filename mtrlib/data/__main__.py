"""``python -m mtrlib.data fetch|list|show``: get, list and describe the sources."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from mtrlib.data.corpus import wikipedia_passages
from mtrlib.data.fetch import fetch_all
from mtrlib.data.registry import entry, registry
from mtrlib.errors import run_main


def main() -> int:
    """Parse the command line and run the command."""
    parser = argparse.ArgumentParser(prog="python -m mtrlib.data", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    get = commands.add_parser("fetch", help="fetch or verify; all that the default needs, or NAMES")
    get.add_argument("names", nargs="*")
    commands.add_parser("list", help="one line per source")
    show = commands.add_parser("show", help="one source in full")
    show.add_argument("name")
    asked = parser.parse_args()
    if asked.command == "fetch":
        names = asked.names
        fetch_all([entry(n) for n in names] or [e for e in registry().values() if not e.optional])
        if not names:
            print(f"{'passages':<14} {len(wikipedia_passages()):7,}", flush=True)
    elif asked.command == "list":
        for e in registry().values():
            print(f"{e.name:<14} {e.role:<8} {e.title}")
    else:
        print(json.dumps(asdict(entry(asked.name)), indent=1, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    run_main(main)
