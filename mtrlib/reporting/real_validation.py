"""``make real``: the judges that need no LLM against people, RVR and rewriting, on real sets.

Results go to ``data/results/real`` (:mod:`mtrlib.reporting.real_results`, which also says what
each figure is). A pack that is not there is skipped and named.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from mtrlib import profiles
from mtrlib.audit.judges import build_judges
from mtrlib.data.benchmarks import load_benchmark
from mtrlib.errors import InputError, run_main
from mtrlib.profiles import Profile
from mtrlib.reporting import real_inscit, real_rewriting, real_rvr, real_sets, results
from mtrlib.reporting.real_comparison import (
    CROSS_FITTED,
    compared,
    people_of_mtrag,
    pool_rows,
    two_annotators,
)
from mtrlib.reporting.real_results import save_real
from mtrlib.reporting.real_sets import Rated, verdicts

JUDGES = ("lexical", "minilm", "feature")


@dataclass(frozen=True)
class _Measurement:
    """Tables by name, and by part of a pack how much was judged."""

    tables: dict[str, pd.DataFrame]
    counts: dict[str, dict[str, int]]


def _measure(packs: Mapping[str, Path], profile: Profile) -> _Measurement:
    """All tables that these packs allow.

    Parameters
    ----------
    packs : folder by name of the pack, as :func:`mtrlib.reporting.real_sets.packs`.
    """
    sets = list(_rated_sets(packs))
    found = None
    if "inscit" in packs:
        found = real_inscit.pools(load_benchmark(str(packs["inscit"]), profile))
    everything = [*sets, *([found.rated()] if found else [])]
    judges = build_judges(JUDGES, [rated.items for rated in everything], profile)
    rows, tables, counts = [], {}, {}
    for rated in everything:
        judged = {judge.name: verdicts(judge, rated.tasks) for judge in judges}
        if found and rated.pack == "inscit":
            judged[CROSS_FITTED] = real_inscit.cross_fitted(found, profile)
            rows += pool_rows(found, judged, profile)
            judged[CROSS_FITTED] = real_inscit.cross_fitted(found, profile, gold="first")
            tables = {
                "recovery": real_inscit.hidden_annotator(found, judged, profile.CONFIDENCE),
                "capture_recapture": two_annotators(found.benchmark, profile),
            }
        else:
            rows += compared(rated, judged, profile)
        counts[rated.part] = _counts(rated)
        print(f"{rated.part}: {counts[rated.part]}", flush=True)
    if "mtrag_human" in packs:
        rows.append(people_of_mtrag(packs["mtrag_human"], profile))
    if "inscit" in packs:
        tables |= real_rvr.measure(packs["inscit"], profile)
    tables |= real_rewriting.measure(packs, profile)
    return _Measurement({"validation": pd.concat(rows, ignore_index=True), **tables}, counts)


def main() -> None:
    """Measure on the packs that are there and write the tables.

    Raises
    ------
    InputError
        No pack at all.
    """
    profile, packs = profiles.load("default"), real_sets.packs()
    skipped = [name for name in real_sets.FILES if name not in packs]
    for name in skipped:
        print(f"{name}: skipped, the pack is not there (MTR_REAL_DATA)")
    if not packs:
        raise InputError("no pack of real data. Mend: set MTR_REAL_DATA to their folder.")
    measured = _measure(packs, profile)
    about = {
        "date": datetime.now(UTC).date().isoformat(),
        "packs": {name: _digests(name, folder) for name, folder in packs.items()},
        "counts": measured.counts,
        "skipped": skipped,
        "judges": [*JUDGES, *([CROSS_FITTED] if "inscit" in packs else [])],
        "seed": profile.SEED,
        "settings": {"RESAMPLES": profile.RESAMPLES, "CONFIDENCE": profile.CONFIDENCE},
        "versions": results.versions(),
    }
    for line in save_real(measured.tables, about):
        print(line)


def _rated_sets(packs: Mapping[str, Path]) -> Iterator[Rated]:
    if "mtrag_human" in packs:
        yield real_sets.mtrag_human(packs["mtrag_human"])
    if "begin" in packs:
        yield from real_sets.begin_sets(packs["begin"])
    if "clapnq" in packs:
        yield real_sets.clapnq(packs["clapnq"])


def _counts(rated: Rated) -> dict[str, int]:
    return {
        "rated": len(rated.people),
        "judged_pairs": len(rated.tasks),
        "passages": len(rated.items.passages),
        "resampled_units": rated.people["group"].nunique(),
    }


def _digests(name: str, folder: Path) -> dict[str, str]:
    """SHA-256 of each file that is read."""
    files = real_sets.FILES[name]
    return {file: hashlib.sha256((folder / file).read_bytes()).hexdigest() for file in files}


if __name__ == "__main__":
    run_main(main)
