"""One request and its reply, and the key under which a reply is stored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

DIALECTS = ("decisions", "system_one", "chat_schema", "chat_logprobs", "chat")


@dataclass(frozen=True)
class Request:
    """What is sent, without address and key of the endpoint.

    Attributes
    ----------
    endpoint, model : aliases, as in the endpoints file; never a URL or a path.
    dialect : one of ``DIALECTS``.
    body : all fields of the request but the model: messages, or state or input and
        questions; sampling fields; schema. Only fields that are set.
    prompt_version : which prompt file, in which wording made the body.
    sample : number of the sample where the same thing is asked several times.
    note : for people who read the store (item, metric); not part of the key.
    """

    endpoint: str
    model: str
    dialect: str
    body: Mapping[str, Any]
    prompt_version: str = ""
    sample: int = 0
    note: str = ""

    @property
    def key(self) -> str:
        """SHA-256 over everything that may change the reply.

        The address is left out on purpose: a local server gets another port each time.
        """
        parts = [
            self.endpoint,
            self.model,
            self.dialect,
            self.body,
            self.prompt_version,
            self.sample,
        ]
        text = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Reply:
    """What came back for one request.

    Attributes
    ----------
    text : the message of a chat, "" for dialects that answer in fields.
    data : the answers of ``decisions`` and ``system_one``; for ``chat_logprobs`` the
        alternatives of each token.
    finish_reason : as the server names it; ``length`` = cut by the token limit.
    tokens_in, tokens_out : as the server counts them.
    model : the name that the server gives itself.
    failed : "" or why there is no reply (kept, and asked again on the next run).
    replayed : from the store, so nothing was sent.
    attempts, seconds : of this run; 0 when replayed.
    """

    key: str
    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    finish_reason: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    model: str = ""
    failed: str = ""
    replayed: bool = False
    attempts: int = 0
    seconds: float = 0.0
