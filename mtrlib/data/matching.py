"""Gold that is not a passage id: texts matched to passages, documents mapped to them."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from mtrlib.data.schema import Conversation, Passage
from mtrlib.errors import InputError

FEWEST_CHARACTERS = 20  # a shorter text is contained in too much to mean anything


@dataclass
class MatchReport:
    """How gold texts found their passages.

    Attributes
    ----------
    exact : texts equal to a passage, white space, case and Unicode forms aside.
    contained : texts inside exactly one passage, or around exactly one.
    ambiguous, unmatched : ``(query_id, first words)`` of texts that fit several, or none.
    """

    exact: int = 0
    contained: int = 0
    ambiguous: list[tuple[str, str]] = field(default_factory=list)
    unmatched: list[tuple[str, str]] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Gold texts looked at."""
        return self.exact + self.contained + len(self.ambiguous) + len(self.unmatched)

    @property
    def rate(self) -> float:
        """Share of gold texts that found a passage; NaN without any."""
        return (self.exact + self.contained) / self.total if self.total else float("nan")

    def __str__(self) -> str:
        """One line for reports."""
        return (
            f"{self.total} gold texts: {self.exact} exact, {self.contained} by containment, "
            f"{len(self.ambiguous)} ambiguous, {len(self.unmatched)} unmatched"
        )


def normalised(text: str) -> str:
    """NFKC, case folded, runs of white space as one space, zero-width characters out."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(c for c in folded if unicodedata.category(c) != "Cf").split())


def match_gold_texts(
    conversations: Iterable[Conversation], passages: Sequence[Passage]
) -> tuple[tuple[Conversation, ...], MatchReport]:
    """Turn ``gold_texts`` into passage ids; equal passages all become gold.

    A text that equals no passage is looked for inside passages, and passages inside it; it
    counts when exactly one fits. ``Title`` lines in front of a passage are allowed for.
    Texts that fit none or several are reported and stay out of the gold.
    """
    by_text: dict[str, list[str]] = defaultdict(list)
    for p in passages:
        by_text[normalised(p.text)].append(p.passage_id)
        if p.title:
            by_text[normalised(f"{p.title} {p.text}")].append(p.passage_id)
    report = MatchReport()
    matched = []
    for conversation in conversations:
        turns = []
        for turn in conversation.turns:
            gold = dict.fromkeys(turn.gold)
            for text in turn.gold_texts:
                gold |= dict.fromkeys(_match(turn.query_id, text, by_text, report))
            turns.append(dataclasses.replace(turn, gold=tuple(gold)))
        matched.append(dataclasses.replace(conversation, turns=tuple(turns)))
    return tuple(matched), report


def _match(
    query_id: str, text: str, by_text: dict[str, list[str]], report: MatchReport
) -> list[str]:
    wanted = normalised(text)
    if found := by_text.get(wanted):
        report.exact += 1
        return list(dict.fromkeys(found))
    around = {
        passage_id
        for body, ids in by_text.items()
        for passage_id in ids
        if (len(wanted) >= FEWEST_CHARACTERS and wanted in body)
        or (len(body) >= FEWEST_CHARACTERS and body in wanted)
    }
    if len(around) == 1:
        report.contained += 1
        return list(around)
    place = report.ambiguous if around else report.unmatched
    place.append((query_id, " ".join(text.split()[:6])))
    return []


def map_document_gold(
    conversations: Iterable[Conversation], passages: Iterable[Passage]
) -> tuple[Conversation, ...]:
    """Replace gold that names documents by all passages of those documents.

    Only for sets whose gold is declared to be at document level; ids that are passages stay.

    Raises
    ------
    InputError
        A gold id that is neither a passage nor a document of the corpus; the query is named.
    """
    known = set()
    of_document: dict[str, list[str]] = defaultdict(list)
    for p in passages:
        known.add(p.passage_id)
        if p.document:
            of_document[p.document].append(p.passage_id)

    def expand(query_id: str, gold: Sequence[str]) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for g in gold:
            ids = [g] if g in known else of_document.get(g)
            if ids is None:
                raise InputError(
                    f"query {query_id}: gold {g!r} is neither a passage nor a document of the "
                    "corpus. Mend: use the corpus of the same version."
                )
            found |= dict.fromkeys(ids)
        return tuple(found)

    return tuple(
        dataclasses.replace(
            c,
            turns=tuple(dataclasses.replace(t, gold=expand(t.query_id, t.gold)) for t in c.turns),
        )
        for c in conversations
    )
