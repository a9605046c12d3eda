"""Rewrites by an LLM, through the one client: prompts in the language of the query, strict reading.

Every reply passes the guards; what fails comes back without texts and with the reason, never as
something to search.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from mtrlib.errors import InputError
from mtrlib.llm.chat import chat_request
from mtrlib.llm.decide import Asker, wider
from mtrlib.llm.languages import language_of
from mtrlib.llm.parsing import BROKEN_OFF
from mtrlib.llm.prompts import dialogue, load_prompt, shortened
from mtrlib.llm.requests import Reply, Request
from mtrlib.llm.text_problems import echoes
from mtrlib.rewriting.guards import without_repeats
from mtrlib.rewriting.reply_forms import READERS
from mtrlib.rewriting.rewrites import KINDS, Rewrite, Task

SAMPLING: Mapping[str, Mapping[str, Any]] = {
    "variants": {"temperature": 0.8, "top_p": 0.95},  # several angles need some freedom
    "hypothetical": {"temperature": 0.7, "top_p": 0.95},
}
LONGEST_UTTERANCE = 2000  # characters of each utterance that a prompt shows


class LlmRewriter:
    """Asks an endpoint, one chat request per query and kind.

    Parameters
    ----------
    client : a :class:`mtrlib.llm.client.Client`, so replies are stored and replayed.
    language : of the prompts, ``en`` or ``zh``; None = that of each query (Chinese prompts for
        Chinese queries; other languages are asked in English and told to keep their own).
    chunk_tokens : what "fits one chunk" means to the decomposer.
    sampling : kind -> fields over the endpoint's own; kinds not named keep the endpoint's.
    seed : sent with kinds that are sampled.

    Notes
    -----
    A reply cut by its token limit is asked once more with a larger one. A reply that was
    replayed has no seconds (NaN): nobody waited for it now.
    """

    def __init__(
        self,
        client: Asker,
        *,
        language: str | None = None,
        chunk_tokens: int = 512,
        sampling: Mapping[str, Mapping[str, Any]] = SAMPLING,
        seed: int = 13,
    ) -> None:
        self.name = f"llm:{client.endpoint.model_alias}"
        self._client = client
        self._language = language
        self._chunk_tokens = chunk_tokens
        self._sampling = sampling
        self._seed = seed

    def rewrite(self, kind: str, tasks: Sequence[Task]) -> list[Rewrite]:
        """As :class:`mtrlib.rewriting.rewrites.Rewriter`; all tasks in one batch.

        Raises
        ------
        InputError
            Unknown kind.
        EndpointError, CoverageError
            As :meth:`mtrlib.llm.client.Client.ask`; what came before is stored.
        """
        if kind not in KINDS:
            raise InputError(f"rewrites of kind {kind!r} are unknown. Known: {', '.join(KINDS)}.")
        requests = self.requests(kind, tasks)
        replies = self._client.ask(requests)
        calls, seconds = [1] * len(tasks), [_seconds(r) for r in replies]
        cut = [i for i, r in enumerate(replies) if _is_cut(r)]
        if cut:
            again = self._client.ask([wider(requests[i]) for i in cut])
            for i, reply in zip(cut, again, strict=True):
                calls[i] += 1
                seconds[i] += _seconds(reply)
                replies[i] = replies[i] if reply.failed else reply
        found = [
            self._read(kind, task, reply, n, s)
            for task, reply, n, s in zip(tasks, replies, calls, seconds, strict=True)
        ]
        return without_repeats(tasks, found)

    def requests(self, kind: str, tasks: Sequence[Task]) -> list[Request]:
        """What :meth:`rewrite` would ask; for a dry run (``Client.plan``)."""
        return [self._request(kind, task) for task in tasks]

    def _request(self, kind: str, task: Task) -> Request:
        language = self._language or language_of(task.text)
        sampling = dict(self._sampling.get(kind, {}))
        if sampling:
            sampling["seed"] = self._seed
        history = [
            type(u)(u.role, shortened(u.text, LONGEST_UTTERANCE)) for u in task.history
        ]  # a prompt must fit the model
        return chat_request(
            self._client.endpoint,
            load_prompt(f"rewrite_{kind}", language),
            {
                "history": dialogue(history, language),
                "question": task.text,
                "count": str(task.wanted),
                "tokens": str(self._chunk_tokens),
            },
            sampling,
            note=f"{task.query_id} {kind}",
        )

    def _read(self, kind: str, task: Task, reply: Reply, calls: int, seconds: float) -> Rewrite:
        costs: dict[str, Any] = {"calls": calls, "seconds": seconds, "wanted": task.wanted}
        failed = reply.failed or BROKEN_OFF.get(reply.finish_reason, "")
        if failed:
            return Rewrite(task.query_id, failed=failed, **costs)
        found = READERS[kind](reply.text, task)
        texts = found.pop("texts", ())
        prompt = load_prompt(f"rewrite_{kind}", self._language or language_of(task.text))
        kept = tuple(t for t in texts if not echoes(t, _without(prompt.text, task.text)))
        if texts and not kept:
            found["failed"] = "echo of the prompt"
        return Rewrite(task.query_id, kept, **found, **costs)


def _without(prompt: str, text: str) -> str:
    """The prompt's own wording; words that the query has as well are no echo."""
    return "" if text and text in prompt else prompt


def _is_cut(reply: Reply) -> bool:
    return not reply.failed and BROKEN_OFF.get(reply.finish_reason) == "truncated"


def _seconds(reply: Reply) -> float:
    return math.nan if reply.replayed or reply.failed else reply.seconds
