"""The thresholds of query rewriting, read from ``data/gates.yaml`` or a file of the user's."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from mtrlib import paths
from mtrlib.errors import InputError


@dataclass(frozen=True)
class OracleGate:
    """Borders of the tiers of the upper bound, in percentage points."""

    low_points: float
    high_points: float


@dataclass(frozen=True)
class FusionGate:
    """Constant of RRF, and passages in the fused list and in the prompt."""

    rrf_k: float
    top_n: int
    prompt_size: int


@dataclass(frozen=True)
class DecompositionGate:
    """Overlap is a fraction of the shorter list, the gain of coverage is relative."""

    overlap_max: float
    chunk_tokens: int
    coverage_gain_above: float


@dataclass(frozen=True)
class MultiQueryGate:
    """In-prompt rates are fractions, similarities cosines, the bound is in points."""

    variants: int
    variants_warn_above: int
    similarity_max: float
    in_prompt_noise_below: float
    in_prompt_launch_above: float
    in_prompt_good_above: float
    bound_above_points: float
    label: str


@dataclass(frozen=True)
class HydeGate:
    """Contamination is a fraction of the passages on the HyDE path."""

    per_path: int
    contamination_careful_above: float
    contamination_launch_below: float
    added_p99_ms: tuple[float, float]
    repeats_in_parts: int


@dataclass(frozen=True)
class CoreferenceGate:
    """Rates are fractions; ``turns`` of the history are shown to the rewriter."""

    turns: int
    confidence_min: float
    over_completion_above: float
    hit_rate_launch_above: float


@dataclass(frozen=True)
class NetGate:
    """Weights of the net benefit."""

    noise_weight: float
    ndcg_weight: float


@dataclass(frozen=True)
class Gates:
    """All thresholds; ``source`` names the file they were read from."""

    oracle: OracleGate
    labels_min_examples: int
    near_copy_min: float
    fusion: FusionGate
    decomposition: DecompositionGate
    multi_query: MultiQueryGate
    hyde: HydeGate
    coreference: CoreferenceGate
    net_benefit: NetGate
    latency_budget_ms: float | None
    source: str = ""

    @classmethod
    def read(cls, path: Path | str | None = None) -> Gates:
        """Read a file of thresholds; None = ``data/gates.yaml``.

        Raises
        ------
        InputError
            No such file, not YAML, an unknown or missing name, or a value that is no number
            in its range; the file, the name and the mend are given.
        """
        where = paths.given(str(path)) if path is not None else paths.root() / "data" / "gates.yaml"
        if not where.is_file():
            raise InputError.at(where, None, "no such file", "copy data/gates.yaml and edit it")
        try:
            found = yaml.safe_load(where.read_text(encoding="utf-8-sig"))
        except yaml.YAMLError as error:
            problem = " ".join(str(error).split())
            raise InputError.at(where, None, f"not YAML ({problem})", "mend the line") from None
        values = _record(cls, found, where, "", skip=("source",))
        gates = cls(**values, source=where.name)
        _check_order(gates, where)
        return gates


_PARTS: dict[str, type] = {
    "oracle": OracleGate,
    "fusion": FusionGate,
    "decomposition": DecompositionGate,
    "multi_query": MultiQueryGate,
    "hyde": HydeGate,
    "coreference": CoreferenceGate,
    "net_benefit": NetGate,
}


def _record(
    kind: type, found: Any, where: Path, prefix: str, skip: tuple[str, ...] = ()
) -> dict[str, Any]:
    names = [f.name for f in dataclasses.fields(kind) if f.name not in skip]
    if not isinstance(found, dict):
        raise InputError.at(where, None, f"{prefix or 'the file'} is no mapping", f"give {names}")
    for odd, word in ((set(found) - set(names), "unknown"), (set(names) - set(found), "missing")):
        if odd:
            name = f"{prefix}{sorted(map(str, odd))[0]}"
            raise InputError.at(where, None, f"{name} is {word}", f"the names are {names}")
    return {name: _value(name, found[name], where, prefix) for name in names}


def _value(name: str, value: Any, where: Path, prefix: str) -> Any:
    if name in _PARTS and not prefix:
        part = _PARTS[name]
        return part(**_record(part, value, where, f"{name}."))
    if name == "label":
        wanted, good = "text", isinstance(value, str)
    elif name == "added_p99_ms":
        wanted = "two numbers, the smaller first"
        good = isinstance(value, list) and len(value) == 2 and all(map(_number, value))
        good = good and value[0] <= value[1]
        value = tuple(value) if good else value
    elif name == "latency_budget_ms":
        wanted, good = "a number or null", value is None or _number(value)
    elif name in _COUNTS:
        wanted, good = "a whole number from 1 up", type(value) is int and value >= 1
    else:
        wanted, good = "a number, 0 or more", _number(value)
        if name not in _POINTS:
            wanted, good = "a fraction in [0, 1]", good and value <= 1
    if not good:
        raise InputError.at(where, None, f"{prefix}{name} is {value!r}", f"give {wanted}")
    return value


_COUNTS = frozenset(
    "labels_min_examples top_n prompt_size chunk_tokens variants variants_warn_above per_path "
    "repeats_in_parts turns".split()
)
_POINTS = frozenset("low_points high_points bound_above_points rrf_k coverage_gain_above".split())


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9


def _check_order(gates: Gates, where: Path) -> None:
    if gates.oracle.low_points > gates.oracle.high_points:
        raise InputError.at(where, None, "oracle: low_points is above high_points", "swap them")
    if gates.fusion.prompt_size > gates.fusion.top_n:
        raise InputError.at(where, None, "fusion: the prompt exceeds top_n", "make it smaller")
