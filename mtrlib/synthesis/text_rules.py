"""Rules on a text alone: errors, refusals, echoes, and words that point at a source."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mtrlib.data.authored.wording import names_the_source
from mtrlib.data.strings import answer_tokens
from mtrlib.llm.languages import ENGLISH
from mtrlib.llm.verdict_words import REFUSAL
from mtrlib.retrieval.lexical import tokenize

ECHO = 5  # words in a row that a reply may not share with the prompt's own wording
ECHO_HAN = 10  # the same in Chinese characters

_ERROR = re.compile(
    r"\[\s*error\b|^\W*(?:error|exception)\s*(?:[:\])-]|\d|$)|^\W*http\S*\s+[45]\d\d\b"
    r"|^\W*(?:status(?:\s+code)?|code)\W+[45]\d\d\b"
    r"|^\W*[45]\d\d\s+(?:bad|unauthori|payment|forbidden|not found|too many|internal|service)"
    r"|^traceback \(most recent|^\W*(?:internal server error|service unavailable|bad gateway"
    r"|gateway time-?out|too many requests|rate limit|request timed out|connection (?:error|re))"
    r"|\bgeneration failed\b|^\s*<(?:!doctype|html)|^\W*(?:错误|请求失败|生成失败|服务器错误)"
    r'|^\s*\{\s*"(?:error|detail)"',
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(r"\W*(?:null|none|nan|n/?a|undefined|nil|\[?object object\]?)?\W*", re.I)
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
_ROLE = re.compile(r"^\s*(?:user|assistant|用户|助手)\s*[:：]", re.IGNORECASE | re.MULTILINE)
_HAN = re.compile(r"[\u3400-\u9fff]")


def text_problem(text: str) -> str:
    """The reason why a text is no question and no answer at all, or ""."""
    if _PLACEHOLDER.fullmatch(text):
        return "empty" if not text.strip(" \t\n.\"'") else "placeholder"
    if _ERROR.search(text):
        return "error_text"
    return "refusal" if REFUSAL.search(text) else ""


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


def echoes(text: str, prompt: str) -> bool:
    """Whether a reply repeats the prompt's own wording, or goes on with its dialogue."""
    return bool(_ROLE.search(text)) or not _runs(text).isdisjoint(_runs(prompt))


def same(text: str, others: Iterable[str]) -> bool:
    """Whether a text equals one of the others, case, accents and punctuation aside."""
    return _plain(text) in {_plain(other) for other in others}


def shares_content(text: str, passage: str) -> bool:
    """Whether a question has any content word of a passage; a placeholder has none."""
    return not _content(text).isdisjoint(_content(passage))


def _plain(text: str) -> str:
    return " ".join(t for t in answer_tokens(text) if t[0].isalnum())


def _runs(text: str) -> set[str]:
    han = _HAN.findall(text)
    words = [t for t in answer_tokens(_HAN.sub(" ", text)) if t[0].isalnum()]
    pairs = ((words, ECHO), (han, ECHO_HAN))
    return {" ".join(t[i : i + n]) for t, n in pairs for i in range(len(t) - n + 1)}


def _content(text: str) -> set[str]:
    tokens = (t for t in tokenize(text) if t not in ENGLISH)
    return {t[:6] for t in tokens if len(t) > 3 or not t.isascii() or t.isdigit()}
