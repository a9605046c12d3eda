"""What an endpoint was found to do, kept in the user's cache by endpoint and model."""

from __future__ import annotations

import dataclasses
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtrlib import paths
from mtrlib.llm.endpoints import Endpoint


@dataclass(frozen=True)
class Capabilities:
    """What the probe of one model at one endpoint found.

    Attributes
    ----------
    endpoint, model : aliases.
    date : of the probe, UTC.
    offered : dialects whose effect was seen, in the order of ``DIALECTS``.
    ignored : dialects that were accepted without any effect.
    samples_differ : two seeds at temperature 1 gave two texts; None = there is no chat.
    n_honoured : two choices came where two were asked for; None = there is no chat.
    """

    endpoint: str
    model: str
    date: str
    offered: tuple[str, ...]
    ignored: tuple[str, ...]
    samples_differ: bool | None
    n_honoured: bool | None

    @property
    def best(self) -> str:
        """The first that is offered in the order of ``DIALECTS``.

        Typed answers with probabilities come first, then a form that the server enforces,
        then label tokens (which a model that reasons first does not reach), then plain text.
        """
        return self.offered[0]


def known(endpoint: Endpoint) -> Capabilities | None:
    """What an earlier probe of this endpoint and model found; None = not probed yet.

    It is kept in ``endpoints/<alias>.probe.json`` of the user's cache; a file that is deleted
    or cannot be read is as good as none.
    """
    fields: Any = _saved(endpoint).get(endpoint.model_alias)
    try:
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in fields.items()
        }
        return Capabilities(**values)
    except (AttributeError, TypeError):  # none, or written by another version
        return None


def remember(endpoint: Endpoint, found: Capabilities) -> None:
    """Keep what a probe found for :func:`known`, beside other models of the endpoint."""
    path = _path(endpoint)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    saved = {**_saved(endpoint), endpoint.model_alias: dataclasses.asdict(found)}
    part.write_text(json.dumps(saved, indent=2, sort_keys=True), encoding="utf-8")
    part.replace(path)


def _path(endpoint: Endpoint) -> Path:
    return paths.cache("endpoints") / f"{endpoint.alias}.probe.json"


def _saved(endpoint: Endpoint) -> dict[str, Any]:
    try:
        found = json.loads(_path(endpoint).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
