"""The yield of every stage: what entered, what was rejected and why, what went out."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pandas as pd

from mtrlib.errors import InputError
from mtrlib.synthesis.drafts import Synthesised

# a turn rejected here is gone, and what passes one of them that ran enters the next that ran
DROPPING = (
    "query", "source_wording", "answerable", "unique", "used_before", "response", "faithful",
)  # fmt: skip
# tries of the query agent about the same passages; counted among the others, no stage of its own
AGAIN = "rewrite"
# a reject here leaves the turn, or the conversation, as it was
KEEPING = ("humanise", "switch")
OUT = "out"


def funnel(made: Synthesised) -> pd.DataFrame:
    """One row per stage that ran, in order, and ``out`` for the turns of all conversations.

    Returns
    -------
    DataFrame
        ``stage, entered, rejected, passed, yield, drops``; ``yield`` is the fraction that
        passed (NaN if nothing entered), ``drops`` tells whether a reject ends the turn.
        ``switch`` counts conversations, the others attempts at a turn.

    Raises
    ------
    InputError
        The numbers do not add up: an unknown stage, more rejects than attempts, or a stage
        whose ``entered`` is not what the next one took in plus its rejects. ``out`` must be
        what the last dropping stage passed, unless topics were switched, which moves turns.
    """
    rejected = Counter(reject.stage for reject in made.rejects)
    unknown = sorted((made.attempts.keys() | rejected.keys()) - {*DROPPING, *KEEPING, AGAIN})
    if unknown:
        raise _odd(f"stage {unknown[0]!r} is unknown")
    out = sum(len(conversation.turns) for conversation in made.conversations)
    chain = [stage for stage in DROPPING if stage in made.attempts]
    follows: dict[str, int] = {stage: made.attempts[after] for stage, after in pairwise(chain)}
    if chain and "switch" not in made.attempts:
        follows[chain[-1]] = out
    rows = []
    for stage in (*DROPPING, *KEEPING):
        if stage not in made.attempts and not rejected[stage]:
            continue
        entered = made.attempts.get(stage, 0)
        passed = follows.get(stage, entered - rejected[stage])
        if entered != passed + rejected[stage] or passed < 0:
            raise _odd(
                f"{stage}: {entered} entered, but {passed} went on and {rejected[stage]} were "
                "rejected"
            )
        rows.append(_row(stage, entered, rejected[stage], passed))
    return pd.DataFrame([*rows, _row(OUT, out, 0, out)])


def reject_reasons(made: Synthesised) -> pd.DataFrame:
    """One row per stage and reason, most frequent first: ``stage, reason, n, share``.

    ``share`` is the fraction of what entered the stage (NaN if it counts no attempts).
    """
    counts = Counter((reject.stage, reject.reason) for reject in made.rejects)
    order = {stage: position for position, stage in enumerate((*DROPPING, *KEEPING))}
    found = sorted(counts.items(), key=lambda c: (order.get(c[0][0], len(order)), -c[1], c[0]))
    rows = [
        (stage, reason, n, _fraction(n, made.attempts.get(stage, 0)))
        for (stage, reason), n in found
    ]
    return pd.DataFrame(rows, columns=["stage", "reason", "n", "share"])


def _row(stage: str, entered: int, rejected: int, passed: int) -> dict[str, object]:
    return {
        "stage": stage,
        "entered": entered,
        "rejected": rejected,
        "passed": passed,
        "yield": _fraction(passed, entered),
        "drops": stage in DROPPING,
    }


def _fraction(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def _odd(problem: str) -> InputError:
    return InputError(
        f"The counts of the stages do not add up: {problem}. Mend: count every attempt once when "
        "it enters a stage, and keep a reject for each that does not pass."
    )
