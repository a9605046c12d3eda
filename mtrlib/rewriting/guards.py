"""What a reply of a rewriter must be before it is searched.

A reply that is empty, an error, a refusal, an echo of the prompt or in another script than the
query is no rewrite; the original query is used then, and the item counted (rewriting,
section 9; pitfalls 21 to 23).
"""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

from mtrlib.llm.languages import script_of
from mtrlib.llm.reply_text import split_reply
from mtrlib.llm.text_problems import text_problem
from mtrlib.rewriting.mentions import dense_characters, plain
from mtrlib.rewriting.rewrites import Rewrite, Task

MANY = 3  # different queries with one and the same rewrite: the rewriter is stuck
_LONGEST = 2000  # characters of a rewrite

_TALK = re.compile(
    r"^\W*(?:sure|certainly|of course|okay|ok|here (?:are|is)|here's|below (?:are|is)|these are|"
    r"the following|i hope|hope (?:this|these|that|it)|let me know|feel free|note:|good luck|"
    r"i(?:'ve| have) (?:written|rewritten|provided))(?![a-z])"
    r"|^\W*(?:好的|当然|没问题|以下|下面|如下|这是|这里|希望|祝|如需|如果(?:您|你)|请(?:告诉|告知|随时)|有(?:需要|问题)"
    r"|はい|以下は|다음은|물론)"
    r"|\b(?:this|that|these|it) helps?[!.]*$|对[你您]有(?:所)?帮助[!！。]*$",
    re.IGNORECASE,
)
_REASONING_END = re.compile(r".*</(?:think|thinking|thought|reasoning)>", re.I | re.S)
_FENCE = re.compile(r"^\s*(?:`{3,}|~{3,})\w*\s*$", re.M)
_LABEL = re.compile(
    r"^\W*(?:(?:the\s+)?(?:(?:last|rewritten|rewrite|standalone|search|new|final)\s+)?"
    r"(?:query|question|passage|answer)(?:\s+(?:is|was))?|q|"
    r"改写(?:后的?)?(?:问题|查询)?|独立(?:问题|查询)|检索词|查询|问题|答案|文段)\s*[:：]\s*(?:\*\*)?\s*",
    re.IGNORECASE,
)
_LATIN = re.compile(r"[A-Za-z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff]")
_AROUND = re.compile(r"(?P<mark>\*\*|[\"'“‘「『*_`])(?P<text>.+?)(?:\*\*|[\"'”’」』*_`])", re.S)


def visible_text(reply: str) -> tuple[str, str]:
    """What a reply says outside its reasoning, and why it says nothing ("" if it does)."""
    if split_reply(reply).broken:
        return "", "broken"  # reasoning or an object that is never closed
    text = _FENCE.sub("", _REASONING_END.sub("", reply)).strip()
    return text, text_problem(text)


def read_single(reply: str, original: str) -> tuple[str, str]:
    """The one text of a reply, on one line, and why it cannot be used ("" if it can).

    An opening such as "Here is the rewritten query:" is taken off.
    """
    text, failed = visible_text(reply)
    if failed:
        return "", failed
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    while len(lines) > 1 and is_talk(lines[0]):
        lines = lines[1:]
    while len(lines) > 1 and _TALK.search(lines[-1]):
        lines = lines[:-1]
    one = bare(" ".join(" ".join(lines).split()))
    return one, text_guard(one, original)


def is_talk(line: str) -> bool:
    """Whether a line opens or closes a reply instead of being its content."""
    return bool(_TALK.search(line)) or line.endswith((":", "："))


def bare(line: str) -> str:
    """A line without a label such as "Query:" and without marks around the whole of it.

    >>> bare("**Query:** “tide tables”"), bare('"maxSkew" 是什么意思')
    ('tide tables', '"maxSkew" 是什么意思')
    """
    text = line.strip()
    for _ in range(4):  # marks inside marks
        found = _AROUND.fullmatch(text)
        inner = found["text"] if found and found["mark"] not in found["text"] else text
        inner = _LABEL.sub("", inner).strip()
        if inner == text:
            break
        text = inner
    return text


def text_guard(text: object, original: str) -> str:
    """Why a text cannot be searched in place of a query, or "".

    ``not text``, ``empty``, ``placeholder``, ``error_text``, ``refusal``, ``too long``,
    ``another script``.
    """
    return _text_guard(text, original) if isinstance(text, str) else "not text"


@lru_cache(maxsize=2**16)  # recorded rewrites come by again with every method and retriever
def _text_guard(text: str, original: str) -> str:
    if len(text) > _LONGEST:
        return "too long"
    if problem := text_problem(text):
        return problem
    if not plain(text):
        return "empty"
    scripts = {_main_script(text), _main_script(original)} - {""}
    return "" if len(scripts) < 2 else "another script"


def _main_script(text: str) -> str:
    """Script that a text is written in; a few Latin terms in a Chinese query change nothing.

    A dense character weighs four Latin letters, about as much as it says.

    >>> _main_script("LDAP 和 SSO 的区别"), _main_script("What does 道 mean?")
    ('CJK', 'LATIN')
    """
    letters = [c for c in text if c.isalpha()]
    others = "".join(c for c in letters if not _LATIN.match(c))
    n_latin = len(letters) - len(others)
    weight = 4 if dense_characters(others) else 1
    if others and weight * len(others) > n_latin:
        return script_of(others)
    return "LATIN" if n_latin else ""


def without_repeats(tasks: Sequence[Task], rewrites: Sequence[Rewrite]) -> list[Rewrite]:
    """Reject texts that came back for ``MANY`` or more different queries.

    A rewriter that gives the same text whatever is asked gives its placeholder (pitfall 22).
    A rewrite whose texts are all rejected fails with ``identical for many queries``.
    """
    asked: defaultdict[str, set[str]] = defaultdict(set)
    for task, rewrite in zip(tasks, rewrites, strict=True):
        for text in rewrite.texts:
            asked[plain(text)].add(plain(task.text))
    stuck = {text for text, queries in asked.items() if len(queries) >= MANY}
    checked = []
    for rewrite in rewrites:
        kept = tuple(t for t in rewrite.texts if plain(t) not in stuck)
        lost = tuple(f"identical: {t}" for t in rewrite.texts if plain(t) in stuck)
        failed = "identical for many queries" if lost and not kept else rewrite.failed
        checked.append(
            dataclasses.replace(rewrite, texts=kept, failed=failed, notes=(*rewrite.notes, *lost))
        )
    return checked
