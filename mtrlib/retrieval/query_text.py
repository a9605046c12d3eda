"""What is sent to a retriever for a turn: the query views, built to a token budget.

The current question always reaches the encoder whole; then comes the newest history that
fits. An encoder left to itself cuts the right end, which is the question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from mtrlib.data.schema import Turn, Utterance
from mtrlib.errors import InputError

VIEWS = ("last_turn", "user_turns", "full_history", "rewrite", "author_voice")
NAIVE = "full_history_naive"  # a demonstration, not one of the views: see _naive_cut
CountTokens = Callable[[str], int]
CutText = Callable[[str, int], str]


@dataclass(frozen=True, slots=True)
class QueryText:
    """The text of one query and what was cut to make it fit.

    Attributes
    ----------
    dropped_utterances, dropped_tokens : whole utterances of the history, and tokens, that
        the budget left out: the oldest (under ``_naive_cut`` the newest).
    question_exceeds : the question alone is longer than the budget (the encoder cuts it).
    fell_back : a view of rewrites had none and shows the raw utterance.
    question_lost : nothing of the current question is left; only ``_naive_cut`` does that.
    """

    query_id: str
    text: str
    dropped_utterances: int = 0
    dropped_tokens: int = 0
    question_exceeds: bool = False
    fell_back: bool = False
    question_lost: bool = False

    @property
    def truncated(self) -> bool:
        """Whether anything was cut."""
        return self.dropped_utterances > 0 or self.dropped_tokens > 0 or self.question_exceeds


def query_text(
    turn: Turn,
    view: str,
    *,
    budget: int | None = None,
    count_tokens: CountTokens | None = None,
    cut: CutText | None = None,
) -> QueryText:
    """Build one view of a turn.

    Parameters
    ----------
    view : ``last_turn`` (the raw utterance), ``user_turns`` (earlier user utterances and
        it), ``full_history`` (both sides and it), ``rewrite``, ``author_voice``. For a
        demonstration also ``full_history_naive``, see ``_naive_cut``.
    budget : most tokens of the result, special tokens and prompt already subtracted;
        None = no limit (lexical search).
    count_tokens : the encoder's own count; needed with a budget.
    cut : the encoder's own cut; needed with a budget by ``full_history_naive`` alone.

    Raises
    ------
    InputError
        Unknown view, or a naive cut without ``cut``.
    """
    if view == NAIVE:
        return _naive_cut(turn, budget=budget, count_tokens=count_tokens, cut=cut)
    if view not in VIEWS:
        raise InputError(f"query view {view!r} is unknown. Known: {', '.join(VIEWS)}.")
    question = turn.raw_utterance
    fell_back = False
    history: Sequence[Utterance] = ()
    if view in ("rewrite", "author_voice"):
        rewrite: str | None = getattr(turn, view)
        fell_back = not rewrite
        question = rewrite or question
    elif view == "user_turns":
        history = [u for u in turn.history if u.role == "user"]
    elif view == "full_history":
        history = turn.history
    if budget is None or count_tokens is None:
        return QueryText(turn.query_id, _join(history, question), fell_back=fell_back)
    kept = 0
    while kept < len(history):
        if count_tokens(_join(history[len(history) - kept - 1 :], question)) > budget:
            break
        kept += 1
    dropped = history[: len(history) - kept]
    return QueryText(
        turn.query_id,
        _join(history[len(history) - kept :], question),
        dropped_utterances=len(dropped),
        dropped_tokens=sum(count_tokens(u.text) for u in dropped),
        question_exceeds=count_tokens(question) > budget,
        fell_back=fell_back,
    )


def _naive_cut(
    turn: Turn,
    *,
    budget: int | None = None,
    count_tokens: CountTokens | None = None,
    cut: CutText | None = None,
) -> QueryText:
    """Join the whole history, oldest first, and the question, and cut the right end: a flaw.

    It reproduces the query text of MTR-Suite's released code, where the encoder truncates on
    the right and the current question, which stands last, is what goes. It is here to measure
    what the flaw costs. Do not use it for results. The text before the cut is that of
    ``full_history``, so the cut is the only difference between the two.

    Parameters
    ----------
    budget, count_tokens : as for :func:`query_text`; without a budget nothing is cut.
    cut : (text, budget) -> its first ``budget`` tokens as text, for example
        :meth:`mtrlib.retrieval.models.TokenCounter.cut`.
    """
    question = turn.raw_utterance
    whole = _join(turn.history, question)
    if budget is None or count_tokens is None:
        return QueryText(turn.query_id, whole)
    if cut is None:
        raise InputError(f"view {NAIVE!r} needs the encoder's cut. Mend: pass TokenCounter.cut.")
    text = cut(whole, budget)
    begins = (len(_join(turn.history[:i], "")) for i in range(len(turn.history) + 1))
    *gone, lost = (begin >= len(text) for begin in begins)  # the question is the last
    return QueryText(
        turn.query_id,
        text,
        dropped_utterances=sum(gone),
        dropped_tokens=count_tokens(whole) - count_tokens(text),
        question_exceeds=count_tokens(question) > budget,
        question_lost=lost,
    )


def query_texts(
    turns: Iterable[Turn],
    view: str,
    *,
    budget: int | None,
    count_tokens: CountTokens | None,
    cut: CutText | None = None,
) -> list[QueryText]:
    """One :func:`query_text` per turn."""
    return [query_text(t, view, budget=budget, count_tokens=count_tokens, cut=cut) for t in turns]


def truncation_summary(texts: Sequence[QueryText]) -> dict[str, int]:
    """How many queries lost something, and how much: the line that belongs beside a score."""
    return {
        "queries": len(texts),
        "truncated": sum(t.truncated for t in texts),
        "dropped_utterances": sum(t.dropped_utterances for t in texts),
        "dropped_tokens": sum(t.dropped_tokens for t in texts),
        "question_exceeds": sum(t.question_exceeds for t in texts),
        "fell_back": sum(t.fell_back for t in texts),
        "question_lost": sum(t.question_lost for t in texts),
    }


def _join(history: Sequence[Utterance], question: str) -> str:
    return "\n".join([*(u.text for u in history), question])
