"""Texts that are none: errors, placeholders, refusals, echoes of the prompt, repeats."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mtrlib.data.strings import answer_tokens
from mtrlib.llm.verdict_words import REFUSAL

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
_ROLE = re.compile(r"^\s*(?:user|assistant|用户|助手)\s*[:：]", re.IGNORECASE | re.MULTILINE)
_HAN = re.compile(r"[\u3400-\u9fff]")


def text_problem(text: str) -> str:
    """The reason why a text is no question and no answer at all, or ""."""
    if _PLACEHOLDER.fullmatch(text):
        return "empty" if not text.strip(" \t\n.\"'") else "placeholder"
    if _ERROR.search(text):
        return "error_text"
    return "refusal" if REFUSAL.search(text) else ""


def echoes(text: str, prompt: str) -> bool:
    """Whether a reply repeats the prompt's own wording, or goes on with its dialogue."""
    return bool(_ROLE.search(text)) or not _runs(text).isdisjoint(_runs(prompt))


def same(text: str, others: Iterable[str]) -> bool:
    """Whether a text equals one of the others, case, accents and punctuation aside."""
    return _plain(text) in {_plain(other) for other in others}


def _plain(text: str) -> str:
    return " ".join(t for t in answer_tokens(text) if t[0].isalnum())


def _runs(text: str) -> set[str]:
    han = _HAN.findall(text)
    words = [t for t in answer_tokens(_HAN.sub(" ", text)) if t[0].isalnum()]
    pairs = ((words, ECHO), (han, ECHO_HAN))
    return {" ".join(t[i : i + n]) for t, n in pairs for i in range(len(t) - n + 1)}
