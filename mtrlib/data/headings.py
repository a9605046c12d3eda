"""``headings``: section titles turned into a conversation per article, by code.

This is the rigid heuristic that the MTR paper criticises (section 2.2, on CORAL): the
questions follow the table of contents, the gold is the section itself, and nobody asks
whether another passage answers as well. It is here for contrast, not as a benchmark to
report on.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from mtrlib.data.corpus import articles
from mtrlib.data.passages import split_sentences
from mtrlib.data.schema import Benchmark, Conversation, Passage, Turn, Utterance

FEWEST_SECTIONS = 3


def headings_benchmark(
    passages: Sequence[Passage], *, conversations: int = 0, turns: int = 8
) -> Benchmark:
    """One conversation per article with at least three sections that hold text.

    Parameters
    ----------
    passages : the corpus, articles contiguous.
    conversations : keep the first n; 0 = all.
    turns : at most this many turns, spread evenly over the sections in reading order.

    Returns
    -------
    Benchmark
        Turn 1 asks for the article, the others name only a heading ("What about
        Climate?"); ``rewrite`` adds title and section path. Gold: all passages of that
        section. The answer is the first sentence of the first gold passage.
    """
    built = []
    for page_id, group in articles(passages):
        conversation = _conversation(page_id, group, turns)
        if conversation is not None:
            built.append(conversation)
        if conversations and len(built) == conversations:
            break
    return Benchmark("headings", tuple(passages), tuple(built))


def _conversation(page_id: str, group: list[Passage], most: int) -> Conversation | None:
    sections = [(path, list(found)) for path, found in groupby(group, key=lambda p: p.section)]
    if len(sections) < FEWEST_SECTIONS:
        return None
    picks = np.unique(np.linspace(0, len(sections) - 1, min(most, len(sections))).astype(int))
    conversation_id = f"headings-{page_id}"
    turns: list[Turn] = []
    history: list[Utterance] = []
    for number, pick in enumerate(picks, start=1):
        path, found = sections[int(pick)]
        question = f"What about {path[-1]}?" if path else f"What is {group[0].title}?"
        about = ", ".join(path) if path else "general overview"
        answer = split_sentences(found[0].text)[0]
        turns.append(
            Turn(
                query_id=f"{conversation_id}_{number}",
                conversation_id=conversation_id,
                turn_number=number,
                raw_utterance=question,
                history=tuple(history),
                gold=tuple(p.passage_id for p in found),
                rewrite=f"{group[0].title}: {about}",
                answer=answer,
                labels=("context_dependent",) if path else (),
            )
        )
        history += [Utterance("user", question), Utterance("agent", answer)]
    return Conversation(conversation_id, tuple(turns))
