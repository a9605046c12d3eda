"""Verdicts that a label introduces, as in ``Score: 4`` or ``**Answer:** [2]``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mtrlib.llm.reply_text import MARKS

_NEAR = 500  # characters around a label that are looked at; keeps long replies linear
_CLAUSE_END = re.compile(r"(?<!max)(?<!min)[.!?;,\n。！？；，]", re.IGNORECASE)
# words before a label which say that its value is not the verdict
_NOT_THE_VERDICT = re.compile(
    r"\b(?:not|never|cannot|unable|refuse|max|maximum|min|minimum|highest|lowest|possible|perfect"
    r"|full|wrong|initial|preliminary|draft|previous|example|confidence|average|mean|if|unless)\b"
    r"|n't\b|无法|不能|不会|最高|最低|满分|初始|如果",
    re.IGNORECASE,
)
_INTRO = re.compile(
    r"\W*(?:(?:so|thus|hence|therefore)\s+)?(?:(?:the|my)\s+)?(?:(?:final|overall)\s+)?",
    re.IGNORECASE,
)


def labelled(text: str, names: str) -> Iterator[tuple[str, str]]:
    """What stands after each label, with the manner in which the label introduces it.

    Parameters
    ----------
    text : from :func:`.plain`.
    names : regular expression of the label words.

    Yields
    ------
    tuple
        ``(value, manner)``: ``colon`` (``Score: 4 because ...``, the rest of the line),
        ``below`` (the next line), ``is`` (``The score is 4.``, the rest of the sentence) or
        ``bare`` (``Rating 4``, a label at the start of a line). All but ``colon`` are
        verdicts only if nothing else stands in the value. Labels of a maximum, a draft or a
        refused verdict are passed over.
    """
    inline = "[ *_`\"'\\]}|]*+"
    label = re.compile(
        rf"(?<![A-Za-z0-9_-])(?:{names})(?![A-Za-z_]){inline}(?:\([^()\n0-9]*\))?{inline}"
        r"(?P<sep>:|=(?!=)|->|→|- (?=\S)|为|是(?!否)|is\b)?",
        re.IGNORECASE,
    )
    for found in label.finditer(text):
        before = _CLAUSE_END.split(text[max(0, found.start() - _NEAR) : found.start()])[-1]
        if _NOT_THE_VERDICT.search(before):
            continue
        line, _, below = text[found.end() : found.end() + _NEAR].partition("\n")
        alone = re.fullmatch(rf"[-•+\d.) ]*{MARKS}*", before) is not None
        if found["sep"] and found["sep"].lower() == "is":
            if _INTRO.fullmatch(before):
                yield re.split(r"(?<=[.!?。])(?:\s|$)", line)[0], "is"
        elif re.fullmatch(rf"{MARKS}*", line):
            if found["sep"] or alone:
                yield below.strip().partition("\n")[0], "below"
        elif found["sep"]:
            yield line, "colon"
        elif alone:
            yield line, "bare"
