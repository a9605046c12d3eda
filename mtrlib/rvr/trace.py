"""What happened to each question in each round, and what it adds up to.

Gold is read here and by the oracle, nowhere else (trap 3): no column of the trace flows back
into the run.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mtrlib.data.schema import Passage, Run
from mtrlib.data.tasks import ListQuestion
from mtrlib.evaluation.list_answers import answers_in, gold_passages
from mtrlib.rvr.settings import Verified

NOT_JUDGED = "not_applicable"  # the verifier left the passage out, as early stopping does
LISTED = ["question_id", "round", "rank", "passage_id", "verdict", "score"]
GAINS = ["retrieved", "verified", "accepted", "accepted_gold", "unread", "new_gold", "new_answers"]


@dataclass(frozen=True, eq=False)
class RvrResult:
    """What a run of the loop gives.

    Attributes
    ----------
    run : the output lists. Their scores only number the ranks down to 1: the order comes from
        the merge rule, and a tool that sorts by score must find the same.
    trace : one row per question and round, made by :func:`round_row` and
        :func:`verdict_counts`; the same on every run.
        ``context_trimmed``, ``context_dropped``: passages cut, or left out, to fit the query;
        ``filled``: filler in the output.
    costs : one row per round for all questions together: ``queries``, ``calls``, ``cached``,
        ``search_seconds``, ``verify_seconds``. The seconds are those of a batch; divided by
        the queries they give throughput, not the latency of one query (trap 23).
    listed : the lists of all rounds, columns ``LISTED``: ``verdict`` is ``accepted``,
        ``rejected``, the reason why there is none, or "" where none was asked.
    contexts : the passages that joined the question in a round, in order; the first four of
        these columns.
    """

    run: Run
    trace: pd.DataFrame
    costs: pd.DataFrame
    listed: pd.DataFrame
    contexts: pd.DataFrame

    @property
    def asked(self) -> int:
        """Verdicts asked of the verifier, replayed ones included: the same cold and warm."""
        return int(self.costs[["calls", "cached"]].to_numpy().sum())

    @property
    def coverage(self) -> float:
        """Share of the verified passages with a readable verdict; 1 where none was verified."""
        verified = int(self.trace["verified"].sum())
        return 1 - int(self.trace["unread"].sum()) / verified if verified else 1.0


def round_row(
    question: ListQuestion,
    number: int,
    listed: Sequence[Passage],
    earlier: Sequence[Passage],
    context: Sequence[Passage],
) -> dict[str, Any]:
    """What a round's list brought: one row of the trace, without what the verifier said.

    Parameters
    ----------
    number : of the round, from 1.
    listed, earlier : the round's list, and those of the rounds before it in one.
    context : passages that joined the question.

    Returns
    -------
    dict
        ``new_gold`` and ``new_answers`` are gold passages and answers (by the string rule)
        that no earlier list held. ``context_answers`` beside ``context`` shows redundancy:
        chunks of one article teach the second retriever little (trap 25).
    """
    gold = gold_passages(question)
    known = _held_answers(question, earlier)
    return {
        "question_id": question.question_id,
        "round": number,
        "context": len(context),
        "context_answers": len(_held_answers(question, context)),
        "retrieved": len(listed),
        "new_gold": len(gold & _ids(listed) - _ids(earlier)),
        "new_answers": len(_held_answers(question, listed) - known),
    }


def verdict_counts(
    question: ListQuestion, passages: Sequence[Passage], verdicts: Sequence[Verified]
) -> dict[str, int]:
    """Counts of one question's verdicts in one round.

    Returns
    -------
    dict
        ``verified`` were judged, of them ``accepted``, ``accepted_gold``, and ``unread``
        (rejected for want of a readable reply, trap 21). ``not_judged`` were left out.
    """
    judged = [(p, v) for p, v in zip(passages, verdicts, strict=True) if v.reason != NOT_JUDGED]
    accepted = [p for p, v in judged if v.accepted]
    return {
        "verified": len(judged),
        "accepted": len(accepted),
        "accepted_gold": len(gold_passages(question) & _ids(accepted)),
        "accepted_answers": len(_held_answers(question, accepted)),
        "unread": sum(bool(v.reason) for _, v in judged),
        "not_judged": len(passages) - len(judged),
    }


def passage_rows(
    question: ListQuestion, number: int, passages: Sequence[Passage]
) -> list[dict[str, Any]]:
    """One row per passage of a round's list or context, columns ``LISTED``, without verdicts."""
    where = {"question_id": question.question_id, "round": number}
    return [
        {**where, "rank": rank, "passage_id": p.passage_id, "verdict": "", "score": None}
        for rank, p in enumerate(passages, 1)
    ]


def note_verdicts(
    rows: Sequence[dict[str, Any]],
    number: int,
    passages: Sequence[Passage],
    verdicts: Sequence[Verified],
) -> None:
    """Write what was said of the passages of a round into its rows."""
    own = {row["passage_id"]: row for row in rows if row["round"] == number}
    for passage, verdict in zip(passages, verdicts, strict=True):
        said = "accepted" if verdict.accepted else verdict.reason or "rejected"
        own[passage.passage_id] |= {"verdict": said, "score": verdict.score}


def _held_answers(question: ListQuestion, passages: Collection[Passage]) -> frozenset[int]:
    """Positions of the answers that stand in any of the passages."""
    return frozenset().union(*(answers_in(question, p) for p in passages))


def round_gains(trace: pd.DataFrame) -> pd.DataFrame:
    """Means per question and round: what each round retrieved, accepted and added.

    Returns
    -------
    DataFrame
        Indexed by ``round``: ``questions``, the columns ``GAINS``, and ``answers_per_accepted``,
        distinct answers over accepted passages, summed over questions (NaN where there are none).
    """
    rounds = trace.groupby("round")
    means = rounds[GAINS].mean()
    sums = rounds[["accepted_answers", "accepted"]].sum()
    ratio = sums["accepted_answers"] / sums["accepted"].where(sums["accepted"] > 0)
    return means.assign(answers_per_accepted=ratio, questions=rounds.size())[
        ["questions", *GAINS, "answers_per_accepted"]
    ]


def _ids(passages: Collection[Passage]) -> frozenset[str]:
    return frozenset(p.passage_id for p in passages)
