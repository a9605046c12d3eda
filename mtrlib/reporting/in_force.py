"""Settings of this project that are themselves published numbers, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from mtrlib.profiles import PROFILES
from mtrlib.reporting.published import PATH
from mtrlib.rewriting.gates import Gates
from mtrlib.rvr.backbones import PUBLISHED


def gate_settings() -> dict[str, Any]:
    """Thresholds of ``data/gates.yaml``: ``section.name``, members of a list ``name · 1``."""
    return dict(_flat(asdict(Gates.read())))


def paper_settings() -> dict[str, Any]:
    """Fields of profile ``paper``, and ``encoder.name`` of the encoders RVR was published with."""
    profile = PROFILES["paper"]
    found: dict[str, Any] = dict(profile.to_dict())
    for encoder, backbone in PUBLISHED.items():
        training = backbone.training("initial", steps=profile.STEPS, context=0, seed=profile.SEED)
        found |= {f"{encoder}.{name}": value for name, value in asdict(training).items()}
        found[f"{encoder}.warmup_steps"] = training.warmup * training.steps
    return found


SOURCES: Mapping[str, Callable[[], dict[str, Any]]] = {
    "gates": gate_settings,
    "paper": paper_settings,
}


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        elif isinstance(value, list | tuple):
            for place, part in enumerate(value, start=1):
                yield f"{prefix}{name}{PATH}{place}", part
        else:
            yield prefix + name, value
