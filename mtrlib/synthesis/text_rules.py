"""Rules on a text alone: question marks, missing options, words that point at a source."""

from __future__ import annotations

import re

from mtrlib.data.authored.wording import names_the_source
from mtrlib.llm.languages import ENGLISH
from mtrlib.retrieval.lexical import tokenize

_NO_ANSWER = re.compile(
    r"(?:\b(?:not|never|no|none|nothing|cannot)|n't)\b[^.?!]{0,30}\b(?:mention\w*|provided?"
    r"|specif\w*|stated|given|present in the|information|answer\w*)\b"
    r"|没有(?:提到|提及|说明|给出|相关)|未(?:提及|提到|说明|给出)|无法(?:得知|确定)",
    re.IGNORECASE,
)
_SOURCE = re.compile(
    r"\b(?:the|this|that|these|those)\s+(?:(?:above|given|provided|following|supplied)\s+)*"
    r"(?:information|paragraphs?|sources?|snippets?|authors?|facts?|texts?|articles?|excerpts?)\b"
    r"|(?:根据|依据|按照)[^，。？]{0,8}(?:文|段|材料|资料)|上文|下文|文中|文段|段落|本文|原文"
    r"|这篇|该文|作者",
    re.IGNORECASE,
)
_OPTIONS = re.compile(
    r"\b(?:which|what|who|one) of (?:the following|these|those)\b|\bthe following\b|下列|以下哪",
    re.IGNORECASE,
)


def has_question_mark(text: str) -> bool:
    """Whether a question is put as one."""
    return "?" in text or "？" in text


def lacks_options(text: str) -> bool:
    """Whether a question asks to choose from a list that is not there."""
    return bool(_OPTIONS.search(text))


def gives_no_answer(text: str) -> bool:
    """Whether an answer says that there is none: "the date is not mentioned"."""
    return bool(_NO_ANSWER.search(text))


def speaks_of_source(text: str) -> bool:
    """Whether a text points at a text: "according to the passage", "the author", 根据文中."""
    return names_the_source(text) or bool(_SOURCE.search(text))


def shares_content(text: str, passage: str) -> bool:
    """Whether a question has any content word of a passage; a placeholder has none."""
    return not _content(text).isdisjoint(_content(passage))


def _content(text: str) -> set[str]:
    tokens = (t for t in tokenize(text) if t not in ENGLISH)
    return {t[:6] for t in tokens if len(t) > 3 or not t.isascii() or t.isdigit()}
