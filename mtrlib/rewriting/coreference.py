"""Coreference resolution: a turn that leans on its history becomes a query of its own.

It comes first of all methods (rewriting, section 6): variants of "it" are variants of nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from mtrlib.data.schema import Turn
from mtrlib.errors import InputError
from mtrlib.rewriting.mentions import Mentioned, plain
from mtrlib.rewriting.methods import MethodRun
from mtrlib.rewriting.plans import Lists, Path, Planned
from mtrlib.rewriting.rewrites import Rewrite, Rewriter, tasks_for
from mtrlib.rewriting.signs import lacks_subject, names_nothing, points_back

KeepOriginal = Literal["always", "low_confidence", "never"]
STANDALONE = "standalone"


@dataclass(frozen=True)
class Coreference:
    """Trigger, one call per triggered turn, and one or two paths.

    Attributes
    ----------
    turns : exchanges of the history that the rewriter sees.
    confidence_min : below it a standalone query does not replace the original: both are
        searched. Exactly this value is not below; a confidence that is missing or cannot be
        read counts as below. [D]
    keep_original : ``always`` searches both for every triggered turn (the default, as the
        source text advises); ``low_confidence`` only below ``confidence_min``; ``never``.
    pronoun, subject, entity : switches of the triggers: a pronoun or deictic, a missing
        subject, a short follow-up that names nothing. A turn without history has nothing to
        resolve and costs no call.
    """

    rewriter: Rewriter
    turns: int = 3
    confidence_min: float = 0.6
    keep_original: KeepOriginal = "always"
    pronoun: bool = True
    subject: bool = True
    entity: bool = True

    name = "coreference"

    def __post_init__(self) -> None:
        if self.keep_original not in ("always", "low_confidence", "never"):
            raise InputError(
                f"keep_original={self.keep_original!r}. Mend: always, low_confidence or never."
            )

    def trigger(self, turn: Turn, text: str) -> str:
        """Why a turn needs resolution: ``pronoun``, ``subject``, ``entity``; or "".

        >>> method = Coreference(rewriter=None)
        >>> method.trigger(Turn("q", "c", 1, "它支持私有化吗"), "它支持私有化吗")
        ''
        """
        if not turn.history:
            return ""
        if self.pronoun and points_back(text):
            return "pronoun"
        if self.subject and lacks_subject(text):
            return "subject"
        return "entity" if self.entity and names_nothing(text) else ""

    def plan(self, turns: Sequence[Turn], texts: Mapping[str, str]) -> list[Planned]:
        """As :class:`mtrlib.rewriting.plans.Method`."""
        why = {t.query_id: self.trigger(t, texts[t.query_id]) for t in turns}
        asked = [t for t in turns if why[t.query_id]]
        tasks = tasks_for(asked, texts, history_turns=self.turns)
        found = {r.query_id: r for r in self.rewriter.rewrite(STANDALONE, tasks)} if tasks else {}
        return [
            self._planned(t, texts[t.query_id], why[t.query_id], found.get(t.query_id))
            for t in turns
        ]

    def settle(self, planned: Planned, lists: Lists) -> Planned:
        """Nothing more to decide."""
        return planned

    def _planned(self, turn: Turn, text: str, why: str, found: Rewrite | None) -> Planned:
        if found is None:
            off = "no trigger" if turn.history else "no history"
            return Planned(turn.query_id, off=off)
        low = _is_low(found.confidence, self.confidence_min)
        kept = self.keep_original == "always" or (self.keep_original == "low_confidence" and low)
        # a query that came back as it was adds no path, and is no failure either
        new = [t for t in found.texts[:1] if plain(t) != plain(text)]
        return Planned(
            turn.query_id,
            tuple(Path(STANDALONE, t) for t in new),
            keep_original=kept or not new,
            off="" if new or found.failed else "unchanged",
            failed=found.failed,
            wanted=1,
            got=found.got,
            calls=found.calls,
            seconds=found.seconds,
            notes={
                "trigger": why,
                "confidence": found.confidence,
                "low_confidence": low,
                "entities": found.entities,
                "text": text,
            },
        )


def _is_low(confidence: float | None, least: float) -> bool:
    """Whether a confidence is below the limit; None is, the limit itself is not.

    >>> _is_low(0.6, 0.6), _is_low(0.59, 0.6), _is_low(None, 0.6)
    (False, True, True)
    """
    return confidence is None or confidence < least


def over_completion(
    applied: MethodRun, passages: Mapping[str, Mentioned], *, above: float = 0.8
) -> pd.DataFrame:
    """How far entities that were filled in rule what was retrieved: the review list.

    Parameters
    ----------
    applied : a run of :class:`Coreference`.
    passages : passage id -> text with title, for example ``Truth.mentions``.
    above : share of the fused list from which (exclusively) a case is for review.

    Returns
    -------
    DataFrame
        One row per query and entity that the original query does not mention: ``query_id,
        entity, holding`` (passages of the fused list that mention it, title included),
        ``retrieved, share`` (a fraction) and ``review``.

    Notes
    -----
    A high share is no error by itself: a right entity rules its results too. It marks the
    cases in which a wrong one would look right (rewriting, section 6).
    """
    rows = []
    for query_id in applied.used:
        notes = applied.plans[query_id].notes
        ids = applied.run.ids(query_id)
        texts = [passages[i] for i in ids]
        query = Mentioned(notes["text"])
        for entity in notes["entities"]:
            if query.has(entity) or not ids:
                continue
            holding = sum(t.has(entity) for t in texts)
            share = holding / len(ids)
            rows.append((query_id, entity, holding, len(ids), share, share > above))
    columns = ["query_id", "entity", "holding", "retrieved", "share", "review"]
    return pd.DataFrame(rows, columns=columns)
