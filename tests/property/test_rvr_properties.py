"""What holds for every corpus, run and verifier of RVR."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mtrlib.data.schema import Passage, Run
from mtrlib.data.tasks import Answer, ListQuestion
from mtrlib.evaluation.multi_answer import RULES, multi_answer
from mtrlib.retrieval.registry import RetrieverSpec
from mtrlib.rvr.context import query_with_context
from mtrlib.rvr.loop import retrieve_verify_retrieve
from mtrlib.rvr.settings import RvrSettings, Verified

IDS = [f"p{i}" for i in range(8)]
WORDS = st.sampled_from("crete malta gozo , cyprus ferry the".split())
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)
RANKINGS = st.lists(st.sampled_from(IDS), max_size=12)
PASSAGES = st.lists(TEXTS, min_size=8, max_size=8).map(
    lambda texts: {i: Passage(i, text) for i, text in zip(IDS, texts, strict=True)}
)
ANSWERS = st.lists(
    st.builds(
        Answer,
        TEXTS,
        st.lists(TEXTS, max_size=2).map(tuple),
        st.lists(st.sampled_from(IDS), max_size=3).map(tuple),
    ),
    max_size=5,
).map(tuple)
GOLD = st.lists(st.sampled_from(IDS), max_size=5).map(tuple)


@given(PASSAGES, ANSWERS, GOLD, RANKINGS, st.integers(1, 9), st.sampled_from(RULES))
def test_measures_are_fractions_that_agree(passages, answers, gold, ranking, k, rule):
    """Traps 13 to 16."""
    always = ListQuestion("always", "?", (Answer("crete", (), ("p0",)),), ("p0",))
    q = ListQuestion("q", "?", answers, gold)
    run = Run("r", {"q": tuple((p, 1.0) for p in ranking)})
    found = multi_answer([q, always], run, passages, k=k, rule=rule)
    assert found.mrecall["always"] == found.recall["always"] == 0
    if "q" not in found.recall:
        assert found.n_without_answers == 1
        return
    recall, mrecall = found.recall["q"], found.mrecall["q"]
    assert 0 <= recall <= 1
    assert mrecall in (0, 1)
    assert mrecall >= (recall == 1)
    if rule == "all_gold" or not found.n_above_k:
        assert mrecall == (recall == 1)
    longer = multi_answer([q, always], run, passages, k=k + 1, rule=rule)
    assert longer.recall["q"] >= recall


@given(
    st.lists(st.tuples(TEXTS, TEXTS), max_size=4),
    st.integers(0, 40),
)
def test_context_keeps_the_question_and_the_budget(rows, budget):
    """Traps 5 and 7."""
    passages = [Passage(str(i), text, title) for i, (title, text) in enumerate(rows)]

    def count(text: str) -> int:
        return len(text.split())

    found = query_with_context(
        "Which islands?",
        passages,
        budget=budget,
        count_tokens=count,
        cut=lambda text, n: " ".join(text.split()[:n]),
    )
    assert "Which islands?" in found.text
    assert found.passages + found.dropped == len(passages)
    assert found.tokens == count(found.text)
    assert found.tokens <= max(budget, 2)
    assert (found.text == "Which islands?") == (found.passages == 0)
    titles = [" ".join(p.title.split()) for p in passages[: found.passages]]
    assert all(title in " ".join(found.text.split()) for title in titles)


class Fixed:
    """Ranks by the text of the query alone."""

    def __init__(self, name: str, lists: Sequence[Sequence[str]]) -> None:
        self.spec = RetrieverSpec(name, "dense")
        self._lists = lists

    def search(self, queries, depth):
        found = {q: self._lists[len(t) % len(self._lists)][:depth] for q, t in queries.items()}
        return Run(self.spec.name, {q: tuple((p, 1.0) for p in ids) for q, ids in found.items()})

    def budget(self):
        return None, None

    def describe(self):
        return {}


class Says:
    """Accepts, rejects or stays silent, by a table over passages."""

    name = "says"

    def __init__(self, table):
        self.table, self.calls, self.cached = table, 0, 0

    def verify(self, pairs):
        self.calls += len(pairs)
        return [self.table[p.passage_id] for _, p in pairs]


VERDICTS = st.sampled_from(
    [Verified(True, 0.9), Verified(True), Verified(False, 0.1), Verified(False, None, "empty")]
)
LISTS = st.lists(st.permutations(IDS), min_size=1, max_size=3)


@given(
    LISTS,
    LISTS,
    st.tuples(*[VERDICTS] * 8),
    st.builds(
        RvrSettings,
        rounds=st.integers(1, 4),
        k=st.integers(1, 9),
        budget=st.integers(0, 9),
        context=st.integers(0, 4),
        seen=st.sampled_from(["mask", "allow"]),
        context_policy=st.sampled_from(["oldest", "newest", "best"]),
        fill=st.booleans(),
    ),
    GOLD,
)
def test_the_loop_keeps_its_promises(first, later, table, settings, gold):
    """Traps 1, 3, 9, 10 and 11, for all settings."""
    passages = {i: Passage(i, f"text {i}") for i in IDS}
    told = dict(zip(IDS, table, strict=True))
    says = Says(told)

    def run(verifier, marked):
        return retrieve_verify_retrieve(
            [ListQuestion("q", "Which?", gold=marked)],
            Fixed("f_i", first),
            Fixed("f_r", later),
            verifier,
            passages,
            settings,
        )

    found = run(says, gold)
    ids = found.run.ids("q")
    assert len(ids) == len(set(ids)) <= settings.k
    assert found.run.rankings == run(Says(told), ()).run.rankings
    assert says.calls <= (settings.rounds - 1) * settings.budget
    assert says.calls <= len(IDS)
    accepted = [told[i].accepted for i in ids]
    n_accepted = int(found.trace["accepted"].sum())
    # all accepted stand in front, as far as K allows
    assert all(accepted[: min(n_accepted, settings.k)])
    if settings.seen == "allow" or settings.fill:
        assert len(ids) == min(settings.k, len(IDS))
    scores = np.array([s for _, s in found.run.rankings["q"]])
    assert (np.diff(scores) < 0).all()
