"""One of several labels, read from text or from a JSON value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from mtrlib.errors import InputError
from mtrlib.llm.labelled_text import labelled
from mtrlib.llm.questions import Verdict
from mtrlib.llm.reply_text import CLOSING, MARKS, plain
from mtrlib.llm.verdict_words import CHOICE_LABELS, NONE_PHRASES, PASSAGE_NOUNS

_BOTH = re.compile(
    r"\s*(?:,|/|&|\bor\b|\band\b|或|和|、|(?:-|–|—|~|\bto\b)(?=\s*[\[(]?[0-9]))\s*", re.IGNORECASE
)
_END = re.compile(r"\s*(?:$|[.,;:!?。，；：！？(（—–\n]|- |(?:because|since|as)\b)", re.IGNORECASE)


class LabelReader:
    """Reads one set of labels; case does not matter unless two labels differ by it alone.

    Parameters
    ----------
    labels : the labels as the question gives them. A label ``none`` is also met by the
        usual phrases for it.
    """

    def __init__(self, labels: Sequence[str]) -> None:
        forms = [re.sub(rf"^{MARKS}+|{MARKS}+$", "", plain(label)) for label in labels]
        if not all(forms) or not forms or len(set(forms)) < len(forms):
            raise InputError(
                f"labels {list(labels)} cannot be told apart in a reply. Mend: give each option"
                " a label of its own with at least one letter or digit."
            )
        folded = [form.casefold() for form in forms]
        self._labels = dict(zip(forms, labels, strict=True))
        self._folded = {
            f: self._labels[form]
            for f, form in zip(folded, forms, strict=True)
            if folded.count(f) == 1
        }
        named = "|".join(map(re.escape, sorted(forms, key=len, reverse=True)))
        # a number, and a letter where letters were offered, has the form of a label
        other = "-?[0-9]+" + ("|[A-Z]" if re.search(r"(?i)^[a-z]$", "\n".join(forms), re.M) else "")
        self._token = re.compile(
            rf"{MARKS}*+(?:(?:{PASSAGE_NOUNS})\s*+:?+\s*+)?(?:#|number )?{MARKS}*+"
            rf"(?>(?P<label>{NONE_PHRASES}|{named}|{other})(?![A-Za-z0-9_]|[.,/][0-9]))"
            rf"{CLOSING}*+[号號篇个段番]?",
            re.IGNORECASE,
        )

    def in_text(self, text: str) -> list[Verdict]:
        """Labelled verdicts, and that of the last line, where it is nothing but a label.

        Earlier lines that are nothing but a label count with the last one, so that a list of
        labels is not read as its end.
        """
        if verdict := self._leading(text, whole=True):
            return [verdict]
        values = [(v, m != "colon") for v, m in labelled(text, CHOICE_LABELS) if m != "bare"]
        lines = text.split("\n")
        if self._leading(lines[-1], whole=True):
            values += [(line, True) for line in lines]
        return [verdict for v, whole in values if (verdict := self._leading(v, whole=whole))]

    def of_value(self, value: Any) -> list[Verdict]:
        """Verdicts of a value that stood under a choice key."""
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int | str):
            return []
        return self.in_text(plain(str(value)))

    def _leading(self, text: str, *, whole: bool) -> Verdict | None:
        """The label that a text begins with, or is; ``ambiguous`` for a list of labels."""
        found = self._token.match(text)
        if not found:
            return None
        seen = [self._named(found["label"])]
        at = found.end()
        while (both := _BOTH.match(text, at)) and (more := self._token.match(text, both.end())):
            seen.append(self._named(more["label"]))
            at = more.end()
        rest = text[at:]
        if not (re.fullmatch(rf"[.!。]*{MARKS}*", rest) if whole else _END.match(rest)):
            return None
        if len(set(seen)) > 1:
            return Verdict.missing("ambiguous")
        return Verdict(seen[0]) if seen[0] is not None else Verdict.missing("out_of_range")

    def _named(self, written: str) -> str | None:
        label = self._labels.get(written) or self._folded.get(written.casefold())
        if label is None and re.fullmatch(NONE_PHRASES, written, re.IGNORECASE):
            return self._folded.get("none")
        return label
