"""Rules about wording that the checks of the authored sets share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mtrlib.data.schema import Passage
from mtrlib.data.strings import word_runs

VERBOSE_WORDS = 40  # a turn of so many words is labelled verbose, and no other is
_STOP = frozenset(
    "a an the of in on at to for from by with and or is are was were be been what which who whom "
    "whose when where why how did do does it its this that these those there their they them he "
    "she his her him i you we my me your so as but if not no any some more most than then also "
    "into about over after before between during all other one two first had has have can could "
    "would will just like get got make made much many up out only very".split()
)
_DEPENDS = re.compile(
    r"\b(it|its|itself|he|him|his|himself|she|her|hers|herself|they|them|their|theirs|themselves|"
    r"this|that|these|those|there|then|one|ones|same|such|latter|former|other|others|another|"
    r"else|both|either|neither|two|three|four|here|again|too|also|instead|so|next|first|last|"
    r"earlier|later|before|after|afterwards|said|mentioned|you|the)\b"
    r"|^(and|but|or|ok|so|what about|how about)",
    re.IGNORECASE,
)
_NAMES_THE_SOURCE = re.compile(
    r"\b(passages?|documents?|according to|the (?:text|article|excerpt|context))\b", re.IGNORECASE
)


def _stems(text: str) -> set[str]:
    """Rough stems of the content words: a common ending off, then six letters."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    content = (w for w in words if len(w) > 2 and w not in _STOP)
    return {re.sub(r"(ings?|ed|es|s|ly|er|ers|ion|ions)$", "", w)[:6] for w in content}


def shared_stems(question: str, passage: Passage) -> set[str]:
    """Stems of the question that the passage's text has too, words of its title aside."""
    return _stems(question) & _stems(passage.text) - _stems(passage.title)


def may_depend_on_history(utterance: str) -> bool:
    """Whether a turn has a word that can point back, or is a clipped follow-up."""
    return bool(_DEPENDS.search(utterance)) or len(utterance.split()) <= 8


def names_the_source(text: str) -> bool:
    """Whether somebody speaks of "the passage" or "according to"."""
    return bool(_NAMES_THE_SOURCE.search(text))


class CopyCheck:
    """Finds runs of eight words that a text shares with a passage."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        self._runs = {run: p.passage_id for p in passages for run in word_runs(p.text)}

    def problems(self, where: str, *texts: str) -> Iterator[str]:
        """One problem for each text that copies."""
        for text in texts:
            run = next((r for r in word_runs(text) if r in self._runs), None)
            if run is not None:
                yield f"{where}: copies eight words of {self._runs[run]} ({' '.join(run)})"
