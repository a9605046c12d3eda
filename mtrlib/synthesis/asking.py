"""One request per item, asked together, each reply read with the prompt that asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from mtrlib.llm.decide import Asker
from mtrlib.llm.prompts import Prompt
from mtrlib.llm.requests import Reply, Request
from mtrlib.synthesis.candidates import Outcome

Item = TypeVar("Item")


def ask_each(
    client: Asker,
    items: Sequence[Item],
    request: Callable[[Item], tuple[Request, Prompt]],
    read: Callable[[Item, Prompt, Reply], Outcome],
) -> list[Outcome]:
    """What became of each item, in order.

    Raises
    ------
    EndpointError, CoverageError
        As :meth:`mtrlib.llm.client.Client.ask`; what came before is stored.
    """
    asked = [request(item) for item in items]
    replies = client.ask([each for each, _ in asked])
    return [
        read(item, prompt, reply)
        for item, (_, prompt), reply in zip(items, asked, replies, strict=True)
    ]
