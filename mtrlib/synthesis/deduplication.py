"""Near-duplicate removal with exact verification, and gold that follows the kept copies.

The published pipeline removes every candidate of MinHash unverified and drops texts that are
shorter than a shingle (``rangehow/mtr-suite``); here a text goes only with the proof beside
it: the kept passage and their exact similarity.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from mtrlib import progress
from mtrlib.data.schema import Benchmark, Passage, Qrels, Turn
from mtrlib.data.shingles import Hashes, folded, jaccard, shingle_hashes, shingle_set
from mtrlib.errors import InputError
from mtrlib.synthesis.minhash import MinHashIndex

RECALL = 0.995  # of pairs exactly at the threshold, the least that candidates must reach
SETS_AT_ONCE = 256  # shingle sets of kept texts held for verification, 15 kB each


@dataclass(frozen=True, slots=True)
class Removal:
    """A passage removed as a near-duplicate.

    Attributes
    ----------
    removed, kept : passage ids; the kept one came earlier in the corpus.
    similarity : exact Jaccard similarity of their shingles, in [threshold, 1].
    exact : the texts are equal, letter case, white space and Unicode forms aside.
    """

    removed: str
    kept: str
    similarity: float
    exact: bool


@dataclass(frozen=True)
class Deduplication:
    """What is left, in the order of the corpus, and what was removed, in that order too."""

    kept: tuple[Passage, ...]
    removals: tuple[Removal, ...]
    threshold: float

    def table(self) -> pd.DataFrame:
        """One row per removal: ``removed, kept, similarity, exact``."""
        columns = [f.name for f in dataclasses.fields(Removal)]
        return pd.DataFrame([dataclasses.astuple(r) for r in self.removals], columns=columns)


def deduplicate(
    passages: Sequence[Passage], *, threshold: float = 0.5, seed: int = 13
) -> Deduplication:
    """Remove each passage that is too similar to one kept before it.

    Passages are taken in the order given. One whose text has a Jaccard similarity of at least
    ``threshold`` to a kept passage is removed; the most similar kept one is named, the earlier
    at equal similarity. Titles and sections are not compared.

    Parameters
    ----------
    passages : the corpus; ids are expected to be unique.
    threshold : Jaccard similarity of the shingles in (0, 1]; the paper's is 0.5.
    seed : of the hash functions. They decide only which pairs are looked at: the probability
        of missing one is at most 0.5 % at the threshold, quickly less above, and zero for
        equal texts.

    Raises
    ------
    InputError
        A threshold out of range.

    Notes
    -----
    Kept and removed passages together are the input. No removal is below the threshold. A
    passage without any text is kept, since it equals nothing.

    References
    ----------
    Broder, "On the resemblance and containment of documents", 1997; MTR-Suite, curation.

    Examples
    --------
    >>> texts = ["退款七天内到账", "发货三天内到达", "退款七天内到账"]
    >>> found = deduplicate([Passage(f"n{i}", text) for i, text in enumerate(texts, start=1)])
    >>> [(r.removed, r.kept) for r in found.removals]
    [('n3', 'n1')]
    """
    index = MinHashIndex(
        len(passages), threshold=threshold, recall=RECALL, rng=np.random.default_rng(seed)
    )
    added: list[Passage] = []  # kept passages by their number in the index

    @lru_cache(SETS_AT_ONCE)
    def kept_set(number: int) -> Hashes:
        return shingle_set(folded(added[number].text))

    kept: list[Passage] = []
    removals: list[Removal] = []
    for passage in progress.track(passages, "deduplicating", len(passages), unit="passages"):
        text = folded(passage.text)
        if text:
            signature = index.signature(shingle_hashes(text))
            if candidates := index.candidates(signature):
                own = shingle_set(text)
                # max takes the first of equals, which is the earliest
                best = max(candidates, key=lambda n: jaccard(own, kept_set(n)))
                if (similarity := jaccard(own, kept_set(best))) >= threshold:
                    equal = folded(added[best].text) == text
                    twin = added[best].passage_id
                    removals.append(Removal(passage.passage_id, twin, similarity, equal))
                    continue
            index.add(signature)
            added.append(passage)
        kept.append(passage)
    return Deduplication(tuple(kept), tuple(removals), threshold)


def moved_gold(benchmark: Benchmark, removals: Iterable[Removal]) -> Benchmark:
    """The benchmark without the removed passages, their gold moved to the kept ones.

    Where several judged passages become one, it has the highest of their grades.

    Parameters
    ----------
    benchmark : its corpus still holds the kept passages; gold outside the corpus stays as it is.
    removals : of one or several rounds of :func:`deduplicate`, in the order of the rounds.

    Raises
    ------
    InputError
        A kept passage is not in the corpus; or gold would leave the document that its turn
        searches (``scope``), where no retriever could find it.
    """
    target: dict[str, str] = {}
    for removal in reversed(list(removals)):  # what a later round removed is known first
        target[removal.removed] = target.get(removal.kept, removal.kept)
    documents = {p.passage_id: p.document for p in benchmark.passages}
    if missing := sorted(set(target.values()) - documents.keys()):
        raise InputError(
            f"{benchmark.name}: {missing[0]!r} was kept for a removed passage, but is not in the "
            f"corpus ({len(missing)} such ids). Mend: pass the removals of this corpus."
        )
    conversations = tuple(
        dataclasses.replace(c, turns=tuple(_moved(t, target, documents) for t in c.turns))
        for c in benchmark.conversations
    )
    return Benchmark(
        benchmark.name,
        tuple(p for p in benchmark.passages if p.passage_id not in target),
        conversations,
        Qrels({q: _moved_grades(benchmark.qrels.grades(q), target) for q in benchmark.qrels}),
    )


def _moved(turn: Turn, target: Mapping[str, str], documents: Mapping[str, str]) -> Turn:
    def move(ids: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(target.get(i, i) for i in ids))

    for passage_id in turn.gold if turn.scope else ():
        kept = target.get(passage_id)
        if kept and documents[kept] != turn.scope:
            raise InputError(
                f"query {turn.query_id} searches document {turn.scope!r} only, but its gold "
                f"{passage_id!r} would move to {kept!r} of {documents[kept]!r}. Mend: "
                "deduplicate the passages of each document on their own."
            )
    return dataclasses.replace(
        turn, gold=move(turn.gold), gold_by_annotator=tuple(map(move, turn.gold_by_annotator))
    )


def _moved_grades(grades: Mapping[str, int], target: Mapping[str, str]) -> dict[str, int]:
    moved: dict[str, int] = {}
    for passage_id, grade in grades.items():
        kept = target.get(passage_id, passage_id)
        moved[kept] = max(grade, moved.get(kept, grade))
    return moved
