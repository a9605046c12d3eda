"""One chat request of an agent that writes, from a prompt file and its sampling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.prompts import Prompt
from mtrlib.llm.requests import Request


@dataclass(frozen=True)
class Sampling:
    """How an agent writes; the defaults are those of the released query agent.

    Attributes
    ----------
    tokens : limit of a reply; None = the endpoint's.
    """

    temperature: float = 0.8
    top_p: float = 0.95
    tokens: int | None = None

    def fields(self, seed: int) -> dict[str, Any]:
        """Sampling fields of a request."""
        limit = {} if self.tokens is None else {"max_tokens": self.tokens}
        return {"temperature": self.temperature, "top_p": self.top_p, "seed": seed, **limit}


AS_RELEASED = Sampling()


def chat_request(
    endpoint: Endpoint,
    prompt: Prompt,
    fields: Mapping[str, str],
    sampling: Mapping[str, Any],
    *,
    sample: int = 0,
    note: str = "",
) -> Request:
    """State and instruction in one user message; nothing says how to answer but the prompt.

    Parameters
    ----------
    fields : at least those of the prompt; others are left out.
    sampling : goes over the endpoint's own.
    """
    state, instruction = prompt.fill(**{name: fields[name] for name in prompt.fields})
    said = [{"role": "user", "content": f"{state}\n\n{instruction}"}]
    return Request(
        endpoint=endpoint.alias,
        model=endpoint.model_alias,
        dialect="chat",
        body={"messages": said, **endpoint.sampling, **sampling},
        prompt_version=prompt.version,
        sample=sample,
        note=note,
    )
