"""The draw of a training example, for every size of gold set and context."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mtrlib.data.schema import Passage
from mtrlib.data.tasks import ListQuestion
from mtrlib.rvr.examples import context_lengths, draw_example
from mtrlib.rvr.training_set import TrainingSet

fast = settings(max_examples=150, deadline=None)


@fast
@given(gold=st.integers(1, 60), most=st.integers(0, 30))
def test_m_lies_between_0_and_the_smaller_of_m_and_gold_less_one(gold: int, most: int):
    lengths = list(context_lengths(gold, most))
    assert lengths == list(range(len(lengths)))
    assert lengths[-1] == min(most, gold - 1)


@fast
@given(
    texts=st.lists(st.sampled_from("abcdef"), min_size=1, max_size=12),
    most=st.integers(0, 8),
    negatives=st.integers(0, 3),
    seed=st.integers(0, 2**32 - 1),
)
def test_context_positive_and_negatives_never_share_a_text(
    texts: list[str], most: int, negatives: int, seed: int
):
    gold = [Passage(f"g{i}", text) for i, text in enumerate(texts)]
    others = [Passage(f"o{i}", f"other {i}") for i in range(3)]
    question = ListQuestion("q", "Which?", gold=tuple(p.passage_id for p in gold))
    data = TrainingSet([question], [*gold, *others])
    e = draw_example(data, 0, np.random.default_rng(seed), most=most, negatives=negatives)
    drawn = [data.passages[i].text for i in (*e.context, e.positive, *e.negatives)]
    assert len(set(drawn)) == len(drawn)
    assert len(e.context) <= min(most, len(set(texts)) - 1)
    assert {data.passages[i].text for i in (*e.context, e.positive)} <= set(texts)
    assert not {data.passages[i].text for i in e.negatives} & set(texts)
