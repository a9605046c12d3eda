"""The search agent's side of a conversation: what a reply asks for, and what it was shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from mtrlib.data.schema import Passage
from mtrlib.data.tasks import ListQuestion
from mtrlib.llm.prompts import numbered
from mtrlib.llm.requests import Reply
from mtrlib.retrieval.text import encoded_text
from mtrlib.rvr.merge import distinct

UNREADABLE = "That could not be read. Write <search>query</search> or <answer>answers</answer>."
NONE_LEFT = "No search is left. Write <answer>answers</answer>."

_THOUGHT = re.compile(r"<(think|thinking)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"<(think|thinking)>", re.IGNORECASE)
_ACTION = re.compile(r"<(search|answer)>(.*?)</\1>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Action:
    """One step of the agent.

    Attributes
    ----------
    kind : ``malformed`` where no tag is complete, or the search is for nothing.
    text : the query or the answer, on one line.
    said : the reply up to the end of the action. What comes after a search is made up: the
        model writes the passages that it expects.
    """

    kind: Literal["search", "answer", "malformed"]
    text: str
    said: str


def read_action(reply: str) -> Action:
    r"""The first complete tag outside the reasoning decides.

    >>> read_action("<think>Or <answer>x</answer>?</think> <search>Malta\n area</search> ...").text
    'Malta area'
    >>> read_action("<think>The first <search>Malta</search>").kind
    'malformed'
    """
    # reasoning becomes blanks of its own length, so that positions stay those of the reply
    visible = _THOUGHT.sub(lambda thought: " " * len(thought[0]), reply)
    open_thought = _OPEN_THOUGHT.search(visible)
    found = _ACTION.search(visible[: open_thought.start()] if open_thought else visible)
    text = " ".join(found[2].split()) if found else ""
    if found is None or not text:
        return Action("malformed", "", reply)
    kind: Literal["search", "answer"] = "search" if found[1].lower() == "search" else "answer"
    return Action(kind, text, reply[: found.end()])


@dataclass
class Talk:
    """One question's conversation so far.

    Attributes
    ----------
    messages : as sent, the opening included.
    seen : distinct passages shown, in the order of their first showing.
    query : the last one searched; never empty once there was a search.
    malformed : replies that could not be read, were cut, or searched beyond the limit.
    """

    question: ListQuestion
    messages: list[dict[str, str]]
    seen: list[Passage] = field(default_factory=list)
    query: str = ""
    answer: str = ""
    turns: int = 0
    searches: int = 0
    malformed: int = 0
    failed: bool = False
    done: bool = False

    @property
    def searching(self) -> bool:
        """Whether the last message is a search that waits for its passages."""
        return not self.done and self.messages[-1]["role"] == "assistant"

    def take(self, reply: Reply, searches: int) -> None:
        """Note what a reply asks for; ``searches`` is the limit of the question."""
        self.turns += 1
        if reply.failed:
            self.failed = self.done = True
            return
        action = read_action(reply.text)
        self.messages.append({"role": "assistant", "content": action.said})
        if reply.finish_reason == "length" or action.kind == "malformed":
            self._refuse(UNREADABLE)
        elif action.kind == "answer":
            self.answer, self.done = action.text, True
        elif self.searches == searches:
            self._refuse(NONE_LEFT)
        else:
            self.searches += 1
            self.query = action.text

    def show(self, passages: Sequence[Passage], language: str) -> None:
        """Answer a search."""
        self.seen = distinct([*self.seen, *passages])
        shown = numbered([encoded_text(p) for p in passages], language)
        self.messages.append({"role": "user", "content": f"<information>\n{shown}\n</information>"})

    def _refuse(self, why: str) -> None:
        self.malformed += 1
        self.messages.append({"role": "user", "content": why})
