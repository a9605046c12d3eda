"""``python -m mtrlib.data fetch|list|show|check|cards``: get, list, describe, validate data."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from mtrlib.data.cards import dataset_card, write_cards
from mtrlib.data.corpus import wikipedia_passages
from mtrlib.data.fetch import fetch, fetch_all
from mtrlib.data.formats import formats
from mtrlib.data.inspection import inspect_dataset
from mtrlib.data.registry import entry, registry
from mtrlib.errors import InputError, run_main


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line and run the command."""
    parser = argparse.ArgumentParser(prog="python -m mtrlib.data", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    get = commands.add_parser("fetch", help="fetch or verify; all that the default needs, or NAMES")
    get.add_argument("names", nargs="*")
    commands.add_parser("list", help="sources, datasets and the formats that can be read")
    show = commands.add_parser("show", help="one source or dataset in full")
    show.add_argument("name")
    commands.add_parser("cards", help="renew data/cards from the registry")
    check = commands.add_parser("check", help="validate a dataset of the registry, or your own")
    check.add_argument("target", help="name in the registry, or a file or folder")
    asked = parser.parse_args(arguments)
    if asked.command == "fetch":
        _fetch(asked.names)
    elif asked.command == "list":
        _list()
    elif asked.command == "show":
        _show(asked.name)
    elif asked.command == "cards":
        print(f"{write_cards()} cards written")
    else:
        return _check(asked.target)
    return 0


def _fetch(names: list[str]) -> None:
    fetch_all([entry(n) for n in names] or [e for e in registry().values() if not e.optional])
    if not names:
        print(f"{'passages':<14} {len(wikipedia_passages()):7,}", flush=True)


def _show(name: str) -> None:
    found = entry(name)
    if found.role == "dataset":
        print(dataset_card(found))
    else:
        print(json.dumps(asdict(found), indent=1, ensure_ascii=False))


def _list() -> None:
    for e in registry().values():
        print(f"{e.name:<22} {e.role:<8} {e.title}")
    print("\nformats that can be read:")
    for f in formats().values():
        print(f"{f.name:<22} {f.seen:<17} {f.title}")


def _check(target: str) -> int:
    """Print the report; exit code 2 when the data cannot be measured with."""
    path = Path(target)
    if not path.exists():
        if target not in registry():
            raise InputError(f"{target!r} is neither a file or folder nor a name in the registry.")
        path = fetch(entry(target))
    found = inspect_dataset(path)
    print("\n".join(found.lines()))
    return 2 if found.stop else 0


if __name__ == "__main__":
    run_main(main)
