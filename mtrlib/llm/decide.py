"""From questions to verdicts through a client: build, ask, read, ask the truncated once more."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mtrlib.llm.dialects import NOTHING, build, read
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.questions import Question, Verdict
from mtrlib.llm.requests import Reply, Request

WIDER = 4  # times the token limit, for replies that were cut before their verdict
# limit of the second try where the first had none of its own and the server's cut it
WIDE = 4096
LIMITS = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True)
class Asked:
    """A question about one item.

    Attributes
    ----------
    state : the text of the item: question, history, passages.
    prompt_version : as :attr:`mtrlib.llm.prompts.Prompt.version`.
    sample : number of the sample where the same thing is asked several times.
    note : for people who read the store (item, metric).
    """

    question: Question
    state: str
    prompt_version: str = ""
    sample: int = 0
    note: str = ""


class Asker(Protocol):
    """What is needed of :class:`mtrlib.llm.client.Client`."""

    @property
    def endpoint(self) -> Endpoint:
        """Whom it asks."""

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply per request, in order."""


def requests_for(
    endpoint: Endpoint,
    asked: Sequence[Asked],
    *,
    dialect: str,
    sampling: Mapping[str, Any] = NOTHING,
    system: str = "",
    language: str = "en",
) -> list[Request]:
    """One request per question, in order; for a dry run, or to know the keys of a run.

    Parameters
    ----------
    dialect, sampling, system, language : as :func:`mtrlib.llm.dialects.build`; ``sampling``
        goes over the endpoint's own.
    """
    fields = {**endpoint.sampling, **sampling}
    return [
        Request(
            endpoint=endpoint.alias,
            model=endpoint.model_alias,
            dialect=dialect,
            body=build(
                dialect, a.question, a.state, system=system, sampling=fields, language=language
            ),
            prompt_version=a.prompt_version,
            sample=a.sample,
            note=a.note,
        )
        for a in asked
    ]


def verdicts(
    client: Asker,
    asked: Sequence[Asked],
    *,
    dialect: str,
    sampling: Mapping[str, Any] = NOTHING,
    system: str = "",
    language: str = "en",
) -> list[Verdict]:
    """One verdict per question, in order; what cannot be read is missing with its reason.

    Replies that were cut before their verdict are asked once more with four times the
    token limit. If that gives no reply (not recorded, failed), ``truncated`` stands.

    Parameters
    ----------
    dialect, sampling, system, language : as :func:`requests_for`.

    Raises
    ------
    InputError
        A question that the dialect cannot carry.
    """
    requests = requests_for(
        client.endpoint, asked, dialect=dialect, sampling=sampling, system=system, language=language
    )
    replies = client.ask(requests)
    found = [read(dialect, a.question, r) for a, r in zip(asked, replies, strict=True)]
    cut = [i for i, verdict in enumerate(found) if verdict.reason == "truncated"]
    if not cut:
        return found
    for i, reply in zip(cut, client.ask([wider(requests[i]) for i in cut]), strict=True):
        if not reply.failed:
            found[i] = read(dialect, asked[i].question, reply)
    return found


def wider(request: Request) -> Request:
    """The same request with a larger token limit (and so another key)."""
    body = dict(request.body)
    name = next((n for n in LIMITS if n in body), LIMITS[0])
    body[name] = body[name] * WIDER if name in body else WIDE
    return dataclasses.replace(request, body=body)
