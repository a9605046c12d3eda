"""Multi-query: a few variants that differ in angle, each a path beside the original."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mtrlib.data.schema import Turn
from mtrlib.errors import InputError
from mtrlib.rewriting.diversity import Diverse, Vectors, diverse
from mtrlib.rewriting.plans import Lists, Path, Planned
from mtrlib.rewriting.rewrites import Rewrite, Rewriter, tasks_for


@dataclass(frozen=True)
class MultiQuery:
    """One call for all variants of a query, the diversity filter, and a path per variant left.

    The original is always one of the paths.

    Attributes
    ----------
    vectors : texts -> vectors for the filter; None = no filter, and no similarity either.
    variants : asked for; 3 by default, a warning above ``warn_above``.
    similarity_max : cosine above which a variant is dropped.
    weight : of each variant's path in the fusion; the original's is 1.
    """

    rewriter: Rewriter
    vectors: Vectors | None
    variants: int = 3
    similarity_max: float = 0.88
    warn_above: int = 5
    weight: float = 1.0

    name = "multi_query"

    def __post_init__(self) -> None:
        if self.variants < 1:
            raise InputError(f"variants={self.variants} must be at least 1; 3 is usual.")
        if self.variants > self.warn_above:
            warnings.warn(
                f"{self.variants} variants: above {self.warn_above} what they bring falls off "
                "quickly while the noise grows with their number",
                stacklevel=3,
            )

    def plan(self, turns: Sequence[Turn], texts: Mapping[str, str]) -> list[Planned]:
        """As :class:`mtrlib.rewriting.plans.Method`."""
        tasks = tasks_for(turns, texts, wanted=self.variants)
        found = self.rewriter.rewrite("variants", tasks) if tasks else []
        filtered: dict[str, Diverse] = {}
        if self.vectors is not None:
            own = {r.query_id: (texts[r.query_id], r.texts) for r in found if r.texts}
            filtered = diverse(own, self.vectors, most=self.similarity_max)
        return [self._planned(r, filtered.get(r.query_id)) for r in found]

    def settle(self, planned: Planned, lists: Lists) -> Planned:
        """Nothing more to decide."""
        return planned

    def _planned(self, found: Rewrite, filtered: Diverse | None) -> Planned:
        kept = found.texts if filtered is None else filtered.kept
        notes = (
            {}
            if filtered is None
            else {
                "similarity": filtered.mean_all,
                "similarity_kept": filtered.mean_kept,
                "too_similar": filtered.dropped,
            }
        )
        paths = [
            Path(f"variant {i}", text, weight=self.weight) for i, text in enumerate(kept, start=1)
        ]
        return Planned(
            found.query_id,
            tuple(paths),
            off="" if kept or found.failed else "all variants too similar",
            failed=found.failed,
            wanted=found.wanted,
            got=found.got,
            calls=found.calls,
            seconds=found.seconds,
            notes={**notes, "dropped": found.notes},
        )
