"""Which request fields an endpoint takes: learnt from its refusals, kept for the next run."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Mapping
from typing import Any

from mtrlib import paths
from mtrlib.llm.answers import CallError
from mtrlib.llm.endpoints import Endpoint

# newer models take the second name of a limit only, older servers the first; a limit is never
# dropped, since a reply without one may cost anything
_RENAMED = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}
_DROPPED = ("temperature", "top_p", "seed", "response_format", "logprobs", "top_logprobs")
_WITH_IT = {"logprobs": ("logprobs", "top_logprobs")}

Changes = dict[str, str | None]  # field -> its other name, None = not sent


class AcceptedFields:
    """Renames and omissions that an endpoint's model needs, in memory and in the user's cache.

    The file ``endpoints/<alias>.fields.json`` may be deleted to try all fields again.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._model = endpoint.model_alias
        self._alias = endpoint.alias
        self._lock = threading.Lock()
        self.changes: Changes = self._saved().get(self._model, {})

    def remember(self, changes: Changes) -> None:
        """Keep changes with which a call has succeeded."""
        with self._lock:
            self.changes = {**self.changes, **changes}
            path = paths.cache("endpoints") / f"{self._alias}.fields.json"
            part = path.with_name(f"{path.name}.{os.getpid()}.part")
            saved = {**self._saved(), self._model: self.changes}
            part.write_text(json.dumps(saved, indent=2, sort_keys=True), encoding="utf-8")
            part.replace(path)

    def _saved(self) -> dict[str, Changes]:
        path = paths.cache("endpoints") / f"{self._alias}.fields.json"
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # none yet, or unreadable: it is learnt again
            return {}
        return found if isinstance(found, dict) else {}


def changed(body: Mapping[str, Any], changes: Changes) -> dict[str, Any]:
    """The body with fields renamed or left out."""
    kept: dict[str, Any] = {}
    for name, value in body.items():
        new = changes.get(name, name)
        if new is not None:
            kept[new] = value
    return kept


def mend(error: CallError, body: Mapping[str, Any]) -> Changes:
    """What to change after a refusal that names a field of the body; {} = nothing helps.

    The server names a field in its ``param``, in the place of a validation error, or in the
    message, where the first name counts.
    """
    if error.status not in (400, 422):
        return {}
    known = [name for name in (*_RENAMED, *_DROPPED) if name in body]
    named = error.field.split(".")[0]
    if named not in known:
        places = {name: re.search(rf"\b{name}\b", str(error)) for name in known}
        found = {name: place.start() for name, place in places.items() if place}
        if not found:
            return {}
        named = min(found, key=lambda name: found[name])
    if named in _RENAMED:
        return {named: _RENAMED[named]}
    return dict.fromkeys(_WITH_IT.get(named, (named,)))
