"""Spoil the language of an answer by rule, and leave its facts in place."""

from __future__ import annotations

import re

from mtrlib.audit.candidates import stable_key

WINDOW = 3  # neighbours that may change places; wider, and facts get lost with the grammar

_EMPTY = frozenset("a an the is are was were be been has have had of to that which".split())
_CLAUSE = re.compile(r"([,;:.!?](?=\s|$)|[，。；：！？、])")
_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0eff"
_PARTICLE = re.compile("[的了着]")
_WORD = re.compile(rf"[{_UNSPACED}]{{1,4}}|[^\s{_UNSPACED}]+")
_NEEDLESS_SPACE = re.compile(rf"(?<=[{_UNSPACED}]) | (?=[{_UNSPACED}])")
_ENDING = re.compile(r"(?<=[a-z]{4})(?:ing|ed|es|s)$")


def spoiled(text: str, *, seed: int) -> str:
    """The text in bad language: in each clause words drop, one is said twice, order breaks.

    English loses articles, auxiliaries and the endings of plain words, Chinese its
    particles. Capitalised words and numbers stay, near where they stood; where a script has
    no spaces blocks of four characters change places, which can cut a name.

    Parameters
    ----------
    seed : seed of the order; same seed and text, same result in every process.
    """
    parts = _CLAUSE.split(text)  # clause, mark, clause, mark, ...
    return "".join(p if n % 2 else _spoiled_clause(p, seed) for n, p in enumerate(parts)).strip()


def _spoiled_clause(clause: str, seed: int) -> str:
    words = _WORD.findall(_PARTICLE.sub("", clause))
    kept = [_ENDING.sub("", w) for w in words if w.lower() not in _EMPTY] or words
    if not kept:
        return clause
    places = sorted(range(len(kept)), key=lambda n: (n // WINDOW, stable_key(seed, clause, n)))
    order = [kept[n] for n in places]
    if order == kept:  # a shuffle may change nothing
        order.reverse()
    spoiled_words = " ".join([order[0], *order])
    return " " * clause[:1].isspace() + _NEEDLESS_SPACE.sub("", spoiled_words)
