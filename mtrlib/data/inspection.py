"""``python -m mtrlib.data check``: is a dataset, also a user's own, fit to measure with?"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mtrlib.data.assemble import Parts, read_parts
from mtrlib.data.matching import match_gold_texts, normalised
from mtrlib.data.schema import Conversation, Passage, Turn

ODD = {
    "replacement character": re.compile("\ufffd"),
    "zero-width or control character": re.compile(
        "[\u200b-\u200f\ufeff\x00-\x08\x0b\x0c\x0e-\x1f]"
    ),
    "HTML entity": re.compile(r"&(?:amp|lt|gt|quot|nbsp|#\d+);"),
    "mojibake": re.compile("Ã[\x80-\xbf©¨±¼]|â\x80|â€"),
    "carriage return": re.compile("\r"),
}
SCRIPTS = ("LATIN", "CJK", "HIRAGANA", "KATAKANA", "HANGUL", "CYRILLIC", "ARABIC", "GREEK", "THAI")
LEAST_GOLD = 0.5  # share of turns with gold below which the verdict says "with care"


@dataclass
class Inspection:
    """Counts and findings about a dataset; each finding says what to do."""

    counts: dict[str, object] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    stop: bool = False

    @property
    def verdict(self) -> str:
        """``usable``, ``usable with care``, or ``not usable``."""
        if self.stop:
            return "not usable"
        return "usable with care" if self.findings else "usable"

    def lines(self) -> list[str]:
        """The report as text lines."""
        counted = [f"{name:<34} {value}" for name, value in self.counts.items()]
        found = [f"! {finding}" for finding in self.findings]
        return [*counted, *found, f"verdict: {self.verdict}"]


def inspect_dataset(path: Path | str) -> Inspection:
    """Read a file or folder by its format and look for what spoils a number.

    Raises
    ------
    InputError
        A file cannot be read as its format.
    """
    return _inspect_parts(read_parts(path))


def _inspect_parts(parts: Parts) -> Inspection:
    """:func:`inspect_dataset` for parts that are already read."""
    found = Inspection()
    for name, format_name, held in parts.read:
        found.counts[f"file {name}"] = f"{format_name}: {held}"
    if parts.left_out:
        found.findings.append(f"no reader for {', '.join(parts.left_out)}: left out")
    _corpus(parts.passages, found)
    conversations: Iterable[Conversation] = parts.conversations
    if parts.passages and any(t.gold_texts for c in parts.conversations for t in c.turns):
        conversations, report = match_gold_texts(parts.conversations, parts.passages)
        found.counts["gold texts"] = str(report)
        if report.rate < 1:
            found.findings.append(
                "gold texts without a passage stay out of the gold; use the corpus they come from"
            )
    turns = [t for c in conversations for t in c.turns]
    judged = {q for qrels in parts.qrels for q in qrels if qrels.gold(q)}
    _turns(turns, judged, parts.passages, found)
    found.counts |= {"list questions": len(parts.questions)} if parts.questions else {}
    texts = [p.text for p in parts.passages] + [t.raw_utterance for t in turns]
    _characters(texts, found)
    return found


def _corpus(passages: Sequence[Passage], found: Inspection) -> None:
    if not passages:
        return
    ids = Counter(p.passage_id for p in passages)
    repeated = [i for i, n in ids.items() if n > 1]
    same = Counter(normalised(p.text) for p in passages if p.text.strip())
    copies = sum(n - 1 for n in same.values() if n > 1)
    empty = sum(not p.text.strip() for p in passages)
    found.counts |= {
        "passages": len(passages),
        "passages with a title": sum(bool(p.title) for p in passages),
    }
    if repeated:
        found.stop = True
        found.findings.append(
            f"{len(repeated)} ids occur twice, first {repeated[0]!r}: keep one each"
        )
    if copies:
        found.findings.append(
            f"{copies} passages repeat the text of another id: "
            "gold on one copy makes the other wrong"
        )
    if empty:
        found.findings.append(f"{empty} passages are empty: they can never be found")


def _turns(
    turns: Sequence[Turn], judged: set[str], passages: Sequence[Passage], found: Inspection
) -> None:
    if not turns:
        return
    with_gold = [t for t in turns if t.gold or t.query_id in judged]
    share = len(with_gold) / len(turns)
    found.counts |= {
        "conversations": len({t.conversation_id for t in turns}),
        "turns": len(turns),
        "turns with gold": f"{len(with_gold)} ({100 * share:.1f}%)",
        "turns with a rewrite": sum(bool(t.rewrite) for t in turns),
        "turns with several annotators": sum(len(t.gold_by_annotator) > 1 for t in turns),
    }
    if not with_gold:
        found.stop = True
        found.findings.append("no turn has gold: nothing can be scored; add qrels or gold")
    elif share < LEAST_GOLD:
        found.findings.append(
            f"only {100 * share:.1f}% of the turns have gold: say so beside scores"
        )
    repeated = [i for i, n in Counter(t.query_id for t in turns).items() if n > 1]
    if repeated:
        found.stop = True
        found.findings.append(f"{len(repeated)} query ids occur twice, first {repeated[0]!r}")
    if passages:
        known = {p.passage_id for p in passages}
        lost = [(t.query_id, g) for t in turns for g in t.gold if g not in known]
        if lost:
            found.findings.append(
                f"{len(lost)} gold ids are not in the corpus, first query {lost[0][0]}: "
                f"{lost[0][1]}; they stay in the denominator: use the corpus of the same version"
            )


def _characters(texts: Sequence[str], found: Inspection) -> None:
    for name, pattern in ODD.items():
        hits = sum(bool(pattern.search(t)) for t in texts)
        if hits:
            found.findings.append(f"{hits} texts hold a {name}: clean them, or expect misses")
    scripts: Counter[str] = Counter()
    for text in texts[:: max(1, len(texts) // 2000)]:
        for c in text[:200]:
            if c.isalpha():
                name = unicodedata.name(c, "").split(" ")[0]
                scripts[name if name in SCRIPTS else "OTHER"] += 1
    total = sum(scripts.values())
    if total:
        shown = ", ".join(f"{s.lower()} {100 * n / total:.0f}%" for s, n in scripts.most_common(3))
        found.counts["scripts"] = shown
