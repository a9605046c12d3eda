"""From documents to the passages that conversations are made of, with every loss on record."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from mtrlib.data.formats.corpus_jsonl import read_corpus
from mtrlib.data.schema import Passage
from mtrlib.errors import InputError
from mtrlib.synthesis.chunking import ChunkReport, chunk
from mtrlib.synthesis.deduplication import Removal, deduplicate
from mtrlib.synthesis.quality import Heuristics, QualityFilter

_VALUE = re.compile(r"\s(?:of\s|[\d(<>-])")  # where a reason turns from its kind to its value


@dataclass(frozen=True)
class Stage:
    """One step of curation.

    Attributes
    ----------
    name : ``read``, ``chunk``, ``quality: <filter>`` or ``deduplicate``.
    n_in, n_out : records before and after; chunking turns documents into passages.
    removed : ``(id, reason)`` of what went, in the order of the input.
    """

    name: str
    n_in: int
    n_out: int
    removed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class CurationReport:
    """What each stage did.

    Attributes
    ----------
    stages : in the order in which they ran.
    duplicates : removals with the kept passage and the similarity, as
        :func:`mtrlib.synthesis.deduplication.moved_gold` takes them.
    chunks : what chunking kept; None where it did not run.
    """

    stages: tuple[Stage, ...]
    duplicates: tuple[Removal, ...]
    chunks: ChunkReport | None = None

    def table(self) -> pd.DataFrame:
        """One row per stage: ``stage, n_in, removed, n_out, reasons``.

        ``reasons`` counts the kinds of reason, the most frequent first; a passage with two
        reasons counts under each.
        """
        rows = [(s.name, s.n_in, len(s.removed), s.n_out, _kinds(s)) for s in self.stages]
        return pd.DataFrame(rows, columns=["stage", "n_in", "removed", "n_out", "reasons"])

    def removed(self) -> pd.DataFrame:
        """One row per removed record: ``stage, id, reason``."""
        rows = [(s.name, i, reason) for s in self.stages for i, reason in s.removed]
        return pd.DataFrame(rows, columns=["stage", "id", "reason"])


def curate(
    source: Path | str | Sequence[Passage],
    *,
    chunking: bool = False,
    filters: Sequence[QualityFilter] = (Heuristics(),),
    threshold: float = 0.5,
    seed: int = 13,
) -> tuple[tuple[Passage, ...], CurationReport]:
    """Read, cut, filter and deduplicate, in this order.

    Parameters
    ----------
    source : passages, or a JSON Lines file with ``id``, ``text`` and ``title``.
    chunking : the records are long documents and are cut by
        :func:`mtrlib.synthesis.chunking.chunk`; the default corpus is in passages already.
    filters : quality filters, each sees what the one before it kept; () for none.
    threshold, seed : of :func:`mtrlib.synthesis.deduplication.deduplicate`.

    Returns
    -------
    tuple of Passage
        In the order of the source.
    CurationReport

    Raises
    ------
    InputError
        A file that cannot be read, a filter that does not decide about each passage, or a
        threshold out of range.
    """
    given = read_corpus(source) if isinstance(source, Path | str) else source
    passages: Sequence[Passage] = tuple(given)
    stages = [Stage("read", len(passages), len(passages))]
    chunks = None
    if chunking:
        n_documents = len(passages)
        passages, chunks = chunk(passages)
        short = tuple((i, "short") for i in chunks.without_chunk)
        stages.append(Stage("chunk", n_documents, len(passages), short))
    for quality in filters:
        n_in = len(passages)
        passages, removed = _filtered(passages, quality)
        stages.append(Stage(f"quality: {quality.name}", n_in, len(passages), removed))
    found = deduplicate(passages, threshold=threshold, seed=seed)
    twins = tuple((r.removed, _reason(r)) for r in found.removals)
    stages.append(Stage("deduplicate", len(passages), len(found.kept), twins))
    return found.kept, CurationReport(tuple(stages), found.removals, chunks)


def _filtered(
    passages: Sequence[Passage], quality: QualityFilter
) -> tuple[list[Passage], tuple[tuple[str, str], ...]]:
    decisions = quality.keep(passages)
    if len(decisions) != len(passages):
        raise InputError(
            f"quality filter {quality.name!r} gave {len(decisions)} decisions for "
            f"{len(passages)} passages. Mend: one Decision per passage, in their order."
        )
    pairs = list(zip(passages, decisions, strict=True))
    removed = tuple((p.passage_id, d.reason or "no reason given") for p, d in pairs if not d.keep)
    return [p for p, d in pairs if d.keep], removed


def _reason(removal: Removal) -> str:
    kind = "copy" if removal.exact else "near copy"
    return f"{kind} of {removal.kept} ({removal.similarity:.3f})"


def _kinds(stage: Stage) -> str:
    """Reasons without the values: ``width 88 < 100; digits ...`` counts as width and digits."""
    parts = [part for _, reason in stage.removed for part in reason.split("; ")]
    counted = Counter(_VALUE.split(part, maxsplit=1)[0] for part in parts)
    return ", ".join(f"{kind} {n}" for kind, n in counted.most_common())
