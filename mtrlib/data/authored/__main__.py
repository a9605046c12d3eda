"""``python -m mtrlib.data.authored check [--write-cards]``: are the authored sets sound?"""

from __future__ import annotations

import argparse
import json

from mtrlib.data.authored.check import check, check_cards, statistics, write_cards
from mtrlib.data.authored.records import load_authored
from mtrlib.data.corpus import wikipedia_passages
from mtrlib.errors import InputError, run_main

SHOWN = 40


def main() -> int:
    """Check everything, print statistics, fail on the first problem found."""
    parser = argparse.ArgumentParser(prog="python -m mtrlib.data.authored", description=__doc__)
    parser.add_argument("command", choices=["check"])
    parser.add_argument("--write-cards", action="store_true", help="renew the cards' statistics")
    args = parser.parse_args()
    found, passages = load_authored(), wikipedia_passages()
    stats = statistics(found, passages)
    if args.write_cards:
        write_cards(stats)
    problems = [*check(found, passages), *check_cards(stats)]
    for name, values in stats.items():
        print(f"{name}: {json.dumps(values)}")
    if problems:
        listed = "\n  ".join(problems[:SHOWN])
        more = f"\n  ... and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        raise InputError(f"{len(problems)} problems in data/authored:\n  {listed}{more}")
    print("authored sets: all checks pass")
    return 0


if __name__ == "__main__":
    run_main(main)
