"""What the measures know and no method may see: gold, answers, evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from mtrlib.data.schema import Passage, Qrels, Turn
from mtrlib.retrieval.text import encoded_text
from mtrlib.rewriting.mentions import Mentioned

Answers = Mapping[str, Sequence[Sequence[str]]]  # query id -> parts of the answer, aliases each


@dataclass(frozen=True, eq=False)
class Truth:
    """A benchmark as the measures see it.

    Attributes
    ----------
    answers : query id -> parts of the answer, each a list of aliases; for the end-to-end proxy.
    evidence : query id -> evidence pieces, each a list of passages of which any will do.
    """

    turns: Sequence[Turn]
    qrels: Qrels
    passages: Mapping[str, Passage]
    answers: Answers = field(default_factory=dict)
    evidence: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)

    @cached_property
    def mentions(self) -> Mapping[str, Mentioned]:
        """Passage id -> its encoded text to ask for terms, prepared once, when first looked at."""
        return _PassageMentions(self.passages)

    @property
    def groups(self) -> dict[str, str]:
        """Query id -> conversation id."""
        return {t.query_id: t.conversation_id for t in self.turns}


class _PassageMentions(dict[str, Mentioned]):
    """Made as they are asked for: few passages of a corpus ever are."""

    def __init__(self, passages: Mapping[str, Passage]) -> None:
        super().__init__()
        self._passages = passages

    def __missing__(self, passage_id: str) -> Mentioned:
        found = self[passage_id] = Mentioned(encoded_text(self._passages[passage_id]))
        return found


def answer_share(parts: Sequence[Sequence[str]], texts: Sequence[Mentioned]) -> float:
    """1.0 if every part of an answer stands in the texts under any of its aliases, else 0.0.

    The end-to-end proxy: what does not stand in the prompt cannot be answered from it. It says
    nothing about what a model would make of the prompt.
    """
    return float(all(any(t.any(aliases) for t in texts) for aliases in parts))


def licensed_texts(truth: Truth, queries: Sequence[str]) -> dict[str, list[str]]:
    """What an entity may come from: the turn with its history [D], and its gold passages."""
    wanted = set(queries)
    found = {}
    for turn in truth.turns:
        if turn.query_id in wanted:
            gold = [truth.passages[g] for g in truth.qrels.gold(turn.query_id)
                    if g in truth.passages]  # fmt: skip
            said = [turn.raw_utterance, *(u.text for u in turn.history)]
            found[turn.query_id] = [*said, *map(encoded_text, gold)]
    return found
