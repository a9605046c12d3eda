"""How much the turns of any benchmark say."""

from __future__ import annotations

import pandas as pd

from mtrlib.data.schema import Benchmark
from mtrlib.data.script_width import width


def turn_lengths(benchmark: Benchmark) -> pd.DataFrame:
    """One row per turn: how long its question, its answer and its history are, and its labels.

    Returns
    -------
    DataFrame
        ``benchmark, conversation_id, turn_number, verbose, context_dependent`` (labels), then
        ``question``, ``answer`` and ``history`` in words (between spaces) and, as
        ``question_letters`` and so on, in letters, in which Chinese compares with English
        (:func:`mtrlib.data.script_width.width`). No answer counts as missing, not as 0.
    """
    rows = []
    for turn in benchmark.turns():
        texts = {
            "question": turn.raw_utterance,
            "answer": turn.answer,
            "history": "\n".join(u.text for u in turn.history),
        }
        rows.append(
            {
                "benchmark": benchmark.name,
                "conversation_id": turn.conversation_id,
                "turn_number": turn.turn_number,
                "verbose": "verbose" in turn.labels,
                "context_dependent": "context_dependent" in turn.labels,
                **{
                    name: len(text.split()) if text else _none(name) for name, text in texts.items()
                },
                **{
                    f"{name}_letters": width(text) if text else _none(name)
                    for name, text in texts.items()
                },
            }
        )
    return pd.DataFrame(rows)


def length_summary(lengths: pd.DataFrame) -> pd.DataFrame:
    """Turns per conversation, lengths and verbosity of each benchmark, indexed by its name.

    Parameters
    ----------
    lengths : of :func:`turn_lengths`; of one or more benchmarks.

    Returns
    -------
    DataFrame
        ``conversations, turns, turns_per_conversation``; mean, median and 90th percentile of
        questions and answers in words, means in letters; shares of turns labelled
        ``verbose`` and ``context_dependent``.
    """
    groups = lengths.groupby("benchmark", sort=False)
    table = pd.DataFrame({"conversations": groups["conversation_id"].nunique()})
    table["turns"] = groups.size()
    table["turns_per_conversation"] = table["turns"] / table["conversations"]
    for name in ("question", "answer"):
        table[f"{name}_mean"] = groups[name].mean()
        table[f"{name}_median"] = groups[name].median()
        table[f"{name}_p90"] = groups[name].quantile(0.9)
        table[f"{name}_letters_mean"] = groups[f"{name}_letters"].mean()
    table["verbose"] = groups["verbose"].mean()
    table["context_dependent"] = groups["context_dependent"].mean()
    return table


def _none(name: str) -> float:
    # no history is a length of 0; no answer is nothing to measure
    return 0 if name == "history" else float("nan")
