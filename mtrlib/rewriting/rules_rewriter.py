"""A rewriter without a model: the pronoun gives way to the entity named last. A baseline."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mtrlib.rewriting.entities import names
from mtrlib.rewriting.mentions import Mentioned, dense_characters
from mtrlib.rewriting.rewrites import Rewrite, Task
from mtrlib.rewriting.signs import points_back

SURE, UNSURE = 0.7, 0.5  # confidence with one candidate in the last exchange, with several

_POSSESSIVE = re.compile(r"\b(?:its|his|their|hers|theirs)\b(?!\s+own\b)", re.IGNORECASE)
_HER = re.compile(r"\bher(?=\s+[a-z])", re.IGNORECASE)  # "her book", not "met her"
_NOUN_PHRASE = re.compile(
    r"\b(?:this|that|these|those)\s+(?!the\b|an?\b|is\b|are\b|was\b|were\b|of\b|in\b|on\b)[a-z]+",
    re.IGNORECASE,
)
_PERSONAL = re.compile(
    r"\b(?:it|he|him|she|her|they|them|this|that|these|those)\b(?!')", re.IGNORECASE
)
_HAN_PRONOUN = re.compile(
    r"[它他她]们?|[这那](?:[个些种款]|项)?(?:方案|产品|服务|系统|功能|东西|问题|人)?|上述|前者|后者"
    r"|(?<![与和的])其(?!他|它|实|中)|该(?:方案|产品|服务|系统|功能)"
    r"|それ|これ|その|この|彼女|彼|그것|그는|그녀"
)
_HAN_CUES = re.compile(
    r"的|是|有|在|支持|怎么|如何|什么|吗|呢|能|可以|需要|会|与|和|多少|为什么|哪|请问|介绍|一下|了|要|吧"
    r"|[，。？！、；：,.?!\s]"
)
_LEADING = re.compile(r"^(?:那么?|还有|另外|请问|然后|而且)[，,]?")


class RulesRewriter:
    """Carries the entity named last into a query that points back; offers ``standalone`` alone.

    Candidates are the proper names, identifiers and quoted titles of the newest utterance that
    has any, in Chinese also what the user's last question begins with. The first of them
    replaces the first pronoun, or is put in front where none can be replaced. Nobody's grammar
    is parsed: this is what a system can do for free, and the line that a model has to beat.
    """

    name = "rules"

    def rewrite(self, kind: str, tasks: Sequence[Task]) -> list[Rewrite]:
        """As :class:`mtrlib.rewriting.rewrites.Rewriter`; no calls, no seconds to speak of."""
        if kind != "standalone":
            return [Rewrite(t.query_id, wanted=t.wanted, failed="not offered") for t in tasks]
        return [_standalone(task) for task in tasks]


def _standalone(task: Task) -> Rewrite:
    found = _candidates(task)
    if not found:
        return Rewrite(task.query_id, failed="no entity in the history")
    entity = found[0]
    text = _carried(task.text, entity)
    confidence = SURE if len(found) == 1 else UNSURE
    return Rewrite(task.query_id, (text,), confidence=confidence, entities=(entity,))


def _candidates(task: Task) -> list[str]:
    """Entities of the newest utterance that names any which the query does not name itself."""
    own = Mentioned(task.text)
    for utterance in reversed(task.history):
        found = names(utterance.text)
        if utterance.role == "user" and dense_characters(utterance.text):
            topic = next(
                (p for p in _HAN_CUES.split(_LEADING.sub("", utterance.text)) if len(p) > 1), ""
            )
            if topic and not points_back(topic):
                found.append(topic)
        found = [name for name in dict.fromkeys(found) if not own.has(name)]
        if found:
            return found
    return []


def _carried(text: str, entity: str) -> str:
    """The query with the entity in the place of its first pronoun, or in front."""
    if dense_characters(text) and not dense_characters(text) < len(text) / 4:
        bare = _LEADING.sub("", text)
        replaced = _HAN_PRONOUN.sub(lambda _: entity, bare, count=1)
        return replaced if replaced != bare else f"{entity}{bare}"
    patterns = (
        (_POSSESSIVE, f"{entity}'s"),
        (_HER, f"{entity}'s"),
        (_NOUN_PHRASE, entity),
        (_PERSONAL, entity),
    )
    hits = [(m.start(), m.end(), new) for p, new in patterns if (m := p.search(text))]
    if points_back(text) and hits:
        # the earliest; of several that begin there the longest, as "that company" over "that"
        start, end, new = min(hits, key=lambda hit: (hit[0], -hit[1]))
        return text[:start] + new + text[end:]
    return f"{entity}: {text}"
