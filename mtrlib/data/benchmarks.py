"""Benchmarks by name or folder, cut to what the profile asks for."""

from __future__ import annotations

from collections.abc import Iterable

from mtrlib import paths
from mtrlib.data.assemble import as_benchmark, read_parts
from mtrlib.data.authored.mtr_mini import mtr_mini
from mtrlib.data.corpus import wikipedia_passages
from mtrlib.data.headings import headings_benchmark
from mtrlib.data.schema import Benchmark
from mtrlib.errors import InputError
from mtrlib.profiles import Profile

NAMES = ("headings", "mtr-mini")


def load_benchmark(name: str, profile: Profile) -> Benchmark:
    """A registered benchmark, or one read from a folder of the user's.

    Parameters
    ----------
    name : one of ``NAMES``, or the path of a file or folder in any format that
        :mod:`mtrlib.data.formats` reads; gold given as text is matched to passages, and the
        match rate is printed.

    Raises
    ------
    InputError
        Neither a known name nor data of a known format.
    """
    if name == "headings":
        return headings_benchmark(
            wikipedia_passages(profile.PASSAGE_LIMIT),
            conversations=profile.CONVERSATION_LIMIT,
            turns=profile.TURN_LIMIT,
        )
    if name == "mtr-mini":
        return mtr_mini(
            wikipedia_passages(),
            conversations=profile.CONVERSATION_LIMIT,
            passage_limit=profile.PASSAGE_LIMIT,
        )
    path = paths.given(name)
    if not path.exists():
        raise InputError(
            f"{name!r} is neither a benchmark ({', '.join(NAMES)}) nor a file or folder. "
            "Mend: check the name or the path."
        )
    benchmark, report = as_benchmark(path.name, read_parts(path))
    if report.total:
        print(f"{path.name}: {report}")
    return benchmark


def load_all(profile: Profile) -> list[Benchmark]:
    """The benchmarks of a profile, in its order."""
    return load_named(profile.BENCHMARKS, profile)


def load_named(names: Iterable[str], profile: Profile) -> list[Benchmark]:
    """Benchmarks by name or folder, in the order given."""
    return [load_benchmark(name, profile) for name in names]


def digests(benchmarks: Iterable[Benchmark]) -> dict[str, str]:
    """Benchmark name -> SHA-256 of its data, for manifests."""
    return {b.name: b.digest() for b in benchmarks}
