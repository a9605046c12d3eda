"""Numbers, identifiers and proper names of a text, by rules."""

from __future__ import annotations

import re
from functools import lru_cache

from mtrlib.rewriting.mentions import Mentioned

_NUMBER = re.compile(r"(?<![\w.])\d[\d,.:/-]*\d(?![\w])|(?<=[^\x00-\x7f])\d[\d,.]*\d")
_IDENTIFIER = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Za-z0-9_-]*[A-Z0-9])"
    r"(?:[A-Z]{2,}[A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)*|[A-Za-z]+[_-]?\d+[A-Za-z0-9]*|[A-Za-z]+_\w+)"
    r"(?![A-Za-z0-9])"
)
_QUOTED = re.compile(r"[“「『《]([^”」』》]{2,30})[”」』》]|\"([^\"]{2,30})\"")
_CAPITAL = r"[A-ZÀ-ÖØ-Þ][\w’'-]+"
_NAME = re.compile(rf"{_CAPITAL}(?:\s+(?:(?:of|de|von|van|the|la)\s+)?{_CAPITAL})*")
_LATIN_IN_DENSE = re.compile(
    r"(?<=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]) ?([A-Za-z][A-Za-z0-9+.-]+)"
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n]\s*|[\"“(]\s*)$")
_COMMON = frozenset(
    "the a an this that these those it its he she they we you i his her their our in on at by for "
    "from to of and or but so as if when while after before during since although though because "
    "most many some all each both no not one two three what which who where why how there here "
    "once until unlike like later earlier today then thus however also another such only even "
    "over under about between among through with without working behind yes is are was were did "
    "does do can could would will should has have had may might must tell give "
    "january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday".split()
)


def numbers(text: str) -> list[str]:
    """Numbers of two digits or more, in order, without repeats.

    Single digits are left out: they stand in almost every passage.
    """
    found = (n.strip(",.:/-") for n in _NUMBER.findall(text))
    return list(dict.fromkeys(n for n in found if len(n) > 1))


def names(text: str) -> list[str]:
    """Identifiers, quoted titles and proper names, in order of kind, without repeats.

    Proper names are runs of capitalised words; a single one at the start of a sentence counts
    only if the text has it elsewhere too. In text without spaces, words in Latin letters
    count. Names written in Han characters without quotation marks need a model and are missed.

    >>> names("He worked at Starnes Motors, says 《云端手册》 of ModelArts 推理.")
    ['云端手册', 'Starnes Motors', 'ModelArts']
    """
    found = _IDENTIFIER.findall(text)
    found += [a or b for a, b in _QUOTED.findall(text)]
    single: list[str] = []
    for match in _NAME.finditer(text):
        run = match[0].split()
        first = bool(_SENTENCE_START.search(text[: match.start()]))
        while run and run[0].casefold() in _COMMON:
            run, first = run[1:], False
        name = re.sub(r"['’]s$", "", " ".join(run))
        if len(run) == 1 and first:
            single.append(name)
        elif run:
            found.append(name)
    found += [name for name in single if len(re.findall(rf"\b{re.escape(name)}\b", text)) > 1]
    found += _LATIN_IN_DENSE.findall(text)
    return list(dict.fromkeys(n for n in found if len(n) > 1))


def invented(hypothetical: str, *known: str) -> list[str]:
    """Entities of a hypothetical answer that none of the known texts mentions.

    Invented = a number, identifier or proper name that stands neither in the query nor in any
    gold passage (rewriting, section 5). Sorted.

    Parameters
    ----------
    known : the query and the gold passages, titles included.

    Notes
    -----
    The gold is needed, so this measures a rewriter; it is no guard of a live system. What a
    passage says in other words ("1,956" for "1956") counts as invented.
    """
    return list(_invented(hypothetical, known))


@lru_cache(maxsize=2**14)  # one text is asked again for every retriever
def _invented(hypothetical: str, known: tuple[str, ...]) -> tuple[str, ...]:
    texts = [Mentioned(text) for text in known]
    found = {*numbers(hypothetical), *names(hypothetical)}
    return tuple(sorted(e for e in found if not any(t.has(e) for t in texts)))
