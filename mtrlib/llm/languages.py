"""Which language a text seems to be in, as far as scripts and a few English words tell."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

LONG = 8  # words from which a text shows whether it is English
# words that few other languages written in Latin letters share
ENGLISH = frozenset(
    "the of and to in is for by with from what which who when where why how does did are were "
    "have has had that its".split()
)


def same_language(text: str, other: str) -> bool:
    """Whether two texts seem to be in one language: the same script, and English or not.

    Texts without letters fit every language, and so do texts of fewer than ``LONG`` words
    where the script is the same.
    """
    scripts = [script_of(text), script_of(other)]
    if "" in scripts:
        return True
    if scripts[0] != scripts[1]:
        return False
    words = [re.findall(r"[^\W\d_]+", t.lower()) for t in (text, other)]
    if scripts[0] != "LATIN" or min(map(len, words)) < LONG:
        return True
    english = [not ENGLISH.isdisjoint(w) for w in words]
    return english[0] == english[1]


def script_of(text: str) -> str:
    """Script of most letters: ``LATIN``, ``CJK``, ``KANA`` (Japanese), ``HANGUL``, …; or ""."""
    names = (unicodedata.name(c, "").split(" ")[0] for c in text if c.isalpha())
    counts = Counter({"HIRAGANA": "KANA", "KATAKANA": "KANA"}.get(n, n) for n in names)
    if counts["KANA"] * 5 > counts["CJK"]:  # Japanese writes in both
        counts["KANA"] += counts.pop("CJK", 0)
    return max(sorted(counts), key=counts.__getitem__) if counts.total() else ""


def language_of(text: str) -> str:
    """Language of the prompt for a text: ``zh`` for Chinese, else ``en``."""
    return "zh" if script_of(text) == "CJK" else "en"
