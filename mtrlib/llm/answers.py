"""What a call brought, in plain form: a reply, or an error fit to be stored."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from mtrlib.llm.requests import Reply

# addresses and what looks like a key; servers repeat both in their messages
_PRIVATE = re.compile(r"\w+://\S+|\b(?:sk|pk|key)-\S+|\bBearer\s+\S+", re.IGNORECASE)
_LONGEST_MESSAGE = 300


class CallError(Exception):
    """A call that brought no reply.

    Attributes
    ----------
    kind : ``status``, ``timeout``, ``connection`` or ``unreadable`` (an answer in a form that
        the dialect does not have).
    status : HTTP status, None where there was none.
    field : the request field that the server names, if it does.
    code : the server's own name for the error.
    retry_after : seconds the server asks to wait, None where it does not say.
    """

    def __init__(
        self,
        kind: str,
        message: str = "",
        *,
        status: int | None = None,
        field: str = "",
        code: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(scrubbed(message))
        self.kind = kind
        self.status = status
        self.field = field
        self.code = code
        self.retry_after = retry_after

    def __str__(self) -> str:
        what = f"status {self.status}" if self.kind == "status" else self.kind
        return f"{what}: {self.args[0]}" if self.args[0] else what


def read_answer(key: str, dialect: str, raw: Mapping[str, Any]) -> Reply:
    """Reply from an answer as plain JSON.

    Raises
    ------
    CallError
        The answer is an error in spite of its status, or lacks what the dialect answers with.
    """
    if raw.get("error") and not (raw.get("choices") or raw.get("answers")):
        message, field = stated(raw["error"])
        code = raw["error"].get("code") if isinstance(raw["error"], Mapping) else None
        status = code if isinstance(code, int) else None
        kind = "status" if status else "unreadable"
        raise CallError(kind, scrubbed(message), status=status, field=field, code=str(code or ""))
    counts = raw.get("usage") or {}
    text, data, finish = (
        _chat(dialect, raw) if dialect not in ("decisions", "system_one") else _typed(raw)
    )
    return Reply(
        key=key,
        text=text,
        data=data,
        finish_reason=finish,
        tokens_in=counts.get("prompt_tokens") or counts.get("input_tokens") or 0,
        tokens_out=counts.get("completion_tokens") or counts.get("output_tokens") or 0,
        model=_without_path(raw.get("model")),
    )


def scrubbed(message: str, secret: str = "") -> str:
    """A server's message, short and on one line, without addresses and keys."""
    if len(secret) > 4:
        message = message.replace(secret, "(key)")
    return " ".join(_PRIVATE.sub("(removed)", message).split())[:_LONGEST_MESSAGE]


def _chat(dialect: str, raw: Mapping[str, Any]) -> tuple[str, dict[str, Any], str]:
    try:
        choice = raw["choices"][0]
        message = choice["message"]
        text = message.get("content") or message.get("refusal") or ""
    except (LookupError, TypeError, AttributeError):
        raise CallError("unreadable", "the answer has no message") from None
    if not isinstance(text, str):  # content in parts
        text = "".join(str(part.get("text", "")) for part in text if isinstance(part, Mapping))
    data: dict[str, Any] = {}
    if dialect == "chat_logprobs":
        tokens = (choice.get("logprobs") or {}).get("content") or []
        data = {"content": [_token(t) for t in tokens if isinstance(t, Mapping)]}
    return text, data, choice.get("finish_reason") or ""


def _token(token: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: token.get(name) for name in ("token", "logprob")}
    return {
        **kept,
        "top_logprobs": [
            {name: t.get(name) for name in ("token", "logprob")}
            for t in token.get("top_logprobs") or []
        ],
    }


def _typed(raw: Mapping[str, Any]) -> tuple[str, dict[str, Any], str]:
    if not raw.get("answers"):
        raise CallError("unreadable", "the answer has no answers")
    return "", {"answers": raw["answers"]}, ""


def stated(body: Any) -> tuple[str, str]:
    """Message and named field of an error body, in OpenAI's or in FastAPI's form."""
    if isinstance(body, str):
        return body, ""
    if not isinstance(body, Mapping):
        return "", ""
    detail = body.get("detail")
    if isinstance(detail, list) and detail and isinstance(detail[0], Mapping):
        # `input` beside it repeats what was sent
        where = [str(part) for part in detail[0].get("loc", []) if part != "body"]
        return f"{'.'.join(where)}: {detail[0].get('msg', '')}", where[0] if where else ""
    return str(body.get("message") or detail or ""), ""


def _without_path(name: Any) -> str:
    """A served name; of a path only the last part, which is no business of a reply file."""
    text = str(name or "")
    return PurePosixPath(text).name if text.startswith("/") else text
