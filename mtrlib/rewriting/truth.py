"""What the measures know and no method may see: gold, answers, evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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

    @property
    def groups(self) -> dict[str, str]:
        """Query id -> conversation id."""
        return {t.query_id: t.conversation_id for t in self.turns}


def answer_share(parts: Sequence[Sequence[str]], passages: Sequence[Passage]) -> float:
    """1.0 if every part of an answer stands in the passages under any of its aliases, else 0.0.

    The end-to-end proxy: what does not stand in the prompt cannot be answered from it. It says
    nothing about what a model would make of the prompt.
    """
    texts = [Mentioned(encoded_text(p)) for p in passages]
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


class PassageTexts(dict[str, str]):
    """Passage id -> encoded text, made when it is looked at: few of a corpus ever are."""

    def __init__(self, passages: Mapping[str, Passage]) -> None:
        super().__init__()
        self._passages = passages

    def __missing__(self, passage_id: str) -> str:
        text = self[passage_id] = encoded_text(self._passages[passage_id])
        return text
