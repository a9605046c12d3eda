"""The question with its verified passages: one function for training, inference and f_i.

Format, with two passages::

    Question: Which islands are larger than Crete?

    Documents: Cyprus Cyprus is an island in ...
    Sardinia Sardinia is the second-largest ...

A passage is its title, a space, and its text on one line. Without passages the query is the
bare question, to the letter what the first retriever gets (traps 5 and 6 of RVR: another
string in training than at inference costs points that nobody sees).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from mtrlib.data.schema import Passage
from mtrlib.errors import InputError
from mtrlib.retrieval.query_text import CountTokens, CutText


@dataclass(frozen=True, slots=True)
class ContextQuery:
    """The text of a query and what was cut to make it fit.

    Attributes
    ----------
    passages : passages that stand in the text.
    tokens : of the text, without special tokens and prompt; None without a budget.
    trimmed : passages that lost the end of their text.
    dropped : passages left out, the last ones, since not even the titles fitted.
    question_exceeds : the question alone is longer than the budget (the encoder cuts it).
    """

    text: str
    passages: int = 0
    tokens: int | None = None
    trimmed: int = 0
    dropped: int = 0
    question_exceeds: bool = False


def query_with_context(
    question: str,
    passages: Sequence[Passage],
    *,
    budget: int | None = None,
    count_tokens: CountTokens | None = None,
    cut: CutText | None = None,
) -> ContextQuery:
    r"""Join a question and verified passages to a query that fits the encoder.

    The question stays whole and every title stays. All texts are cut to one common length in
    tokens, the largest that fits: long passages give way first, and none disappears because
    it stands last, as it would if the encoder cut the right end (trap 7).

    Parameters
    ----------
    question : as the first retriever gets it.
    passages : in the order in which they are to stand; rank order at inference (trap 8).
    budget : most tokens of the result, special tokens and prompt already subtracted;
        None = no limit (lexical search).
    count_tokens, cut : the encoder's own, needed with a budget; see
        :class:`mtrlib.retrieval.models.TokenCounter`.

    Raises
    ------
    InputError
        A budget without ``count_tokens`` and ``cut``.

    References
    ----------
    RVR (arXiv 2602.18425), section 3. Its code takes 20 more characters from every document
    until the text fits; a common length serves the same end and keeps short documents whole.

    Examples
    --------
    >>> query_with_context("Which islands?", []).text
    'Which islands?'
    >>> crete = Passage("1", "An island.", "Crete")
    >>> query_with_context("Which islands?", [crete]).text
    'Question: Which islands?\n\nDocuments: Crete An island.'
    """
    rows = [(p.title.strip(), " ".join(p.text.split())) for p in passages]
    if budget is None:
        return ContextQuery(_text(question, rows), len(rows))
    if count_tokens is None or cut is None:
        raise InputError("a budget needs the encoder's count and cut. Mend: pass TokenCounter.")

    short = [(title, cut(text, budget)) for title, text in rows]  # no more can ever fit

    def cut_to(length: int, n: int) -> list[tuple[str, str]]:
        return [(title, cut(text, length).rstrip()) for title, text in short[:n]]

    def fits(length: int, n: int) -> bool:
        return count_tokens(_text(question, cut_to(length, n))) <= budget

    n = len(rows)
    while n and not fits(0, n):
        n -= 1
    longest = max((count_tokens(text) for _, text in short[:n]), default=0)
    low, high = longest if fits(longest, n) else 0, longest  # low fits; above high nothing is cut
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle, n) else (low, middle - 1)
    kept = cut_to(low, n)
    text = _text(question, kept)
    return ContextQuery(
        text=text,
        passages=n,
        tokens=count_tokens(text),
        trimmed=sum(left != whole for (_, left), (_, whole) in zip(kept, rows, strict=False)),
        dropped=len(rows) - n,
        question_exceeds=count_tokens(question) > budget,
    )


@lru_cache(maxsize=2**15)
def passage_key(passage: Passage) -> str:
    """What makes two passages the same: title and text, case and white space aside.

    It drives the deduplication across rounds and of training contexts alike (trap 4): a text
    that comes under two ids must not be context and positive at once, nor be judged twice.
    """
    joined = unicodedata.normalize("NFKC", f"{passage.title}\n{passage.text}").casefold()
    return " ".join(joined.split())


def _text(question: str, rows: Sequence[tuple[str, str]]) -> str:
    if not rows:
        return question
    documents = "\n".join(f"{title} {text}".strip() for title, text in rows)
    return f"Question: {question}\n\nDocuments: {documents}"
