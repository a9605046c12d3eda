"""Replies by request key, in memory, and the form of one stored line."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from mtrlib.llm.requests import Reply, Request

REJECTED = "rejected: copies the corpus"
# fields of a body that carry what is asked; they may hold passages, so no line has them
_CONTENT = frozenset({"messages", "state", "input", "questions", "criteria"})


class Replies:
    """Replies by request key, in memory.

    A later line of a key replaces an earlier one, but a failure never hides a success.
    """

    def __init__(self) -> None:
        self._found: dict[str, Mapping[str, Any]] = {}
        self._failed: dict[str, Mapping[str, Any]] = {}

    def __len__(self) -> int:
        """Requests with a reply; failures do not count."""
        return len(self._found)

    def add(self, line: Mapping[str, Any]) -> None:
        """Take in one line of the store's form."""
        key = line["key"]
        if not (line.get("failed") or line.get("rejected")):
            self._found[key] = line
            self._failed.pop(key, None)
        elif key not in self._found:
            self._failed[key] = line

    def get(self, key: str) -> Reply | None:
        """The reply, or None where there is none or only a failure."""
        line = self._found.get(key)
        return None if line is None else _reply(line)

    def failure(self, key: str) -> Reply | None:
        """The failure kept for a request that has no reply; ``failed`` says what it was."""
        line = self._failed.get(key)
        return None if line is None else _reply(line)

    def line(self, key: str) -> Mapping[str, Any] | None:
        """The line as stored, of a reply or else of a failure."""
        return self._found.get(key) or self._failed.get(key)


def _sampling_fields(body: Mapping[str, Any]) -> dict[str, Any]:
    """What of a body may be written down: numbers, switches and short names, never content."""
    kept = {}
    for name, value in body.items():
        if name == "response_format" and isinstance(value, Mapping):
            kept[name] = value.get("type")
        elif name not in _CONTENT and (
            isinstance(value, int | float) or (isinstance(value, str) and len(value) <= 32)
        ):
            kept[name] = value
    return kept


def line_of(request: Request, reply: Reply, body: Mapping[str, Any]) -> dict[str, Any]:
    """The line to store, without messages, address and key of the endpoint.

    Parameters
    ----------
    body : what was really sent.
    """
    return {
        "key": reply.key,
        "endpoint": request.endpoint,
        "model": request.model,
        "dialect": request.dialect,
        "note": request.note,
        "sent": _sampling_fields(body),
        "text": reply.text,
        "data": dict(reply.data),
        "finish_reason": reply.finish_reason,
        "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out,
        "served_model": reply.model,
        "failed": reply.failed,
        "when": datetime.now(UTC).date().isoformat(),
    }


def _reply(line: Mapping[str, Any]) -> Reply:
    return Reply(
        key=line["key"],
        text=line.get("text", ""),
        data=line.get("data") or {},
        finish_reason=line.get("finish_reason", ""),
        tokens_in=line.get("tokens_in", 0),
        tokens_out=line.get("tokens_out", 0),
        model=line.get("served_model", ""),
        failed=REJECTED if line.get("rejected") else line.get("failed", ""),
        replayed=True,
    )
