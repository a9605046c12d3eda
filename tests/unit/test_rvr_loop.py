"""The loop of RVR with toy searchers: lists, budgets, masks and merges worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pandas as pd
import pytest

from mtrlib.data.schema import Passage, Run
from mtrlib.data.tasks import Answer, ListQuestion
from mtrlib.errors import InputError
from mtrlib.retrieval.registry import RetrieverSpec
from mtrlib.rvr.context import query_with_context
from mtrlib.rvr.loop import SPARE, retrieve_verify_retrieve
from mtrlib.rvr.merge import Accepted, context_passages, distinct, merged
from mtrlib.rvr.settings import RvrSettings, Verified
from mtrlib.rvr.trace import NOT_JUDGED, RvrResult, round_gains
from mtrlib.rvr.verifiers import NoVerifier, OracleVerifier, ScoreVerifier

CORPUS = {c: Passage(c, f"text of {c}", f"Title {c}") for c in "abcdefghijkl"}


def question(question_id: str = "q", gold: str = "") -> ListQuestion:
    answers = tuple(Answer(f"Title {c}", passages=(c,)) for c in gold)
    return ListQuestion(question_id, f"Question {question_id}?", answers, tuple(gold))


class Toy:
    """Ranks what a function of the query text says; keeps what it was asked."""

    def __init__(self, name: str, ranks: Callable[[str], str]) -> None:
        self.spec = RetrieverSpec(name, "dense")
        self._ranks = ranks
        self.asked: list[tuple[dict[str, str], int]] = []

    def search(self, queries: Mapping[str, str], depth: int) -> Run:
        self.asked.append((dict(queries), depth))
        found = {
            q: tuple((p, 1 - i / 100) for i, p in enumerate(self._ranks(text)[:depth]))
            for q, text in queries.items()
        }
        return Run(self.spec.name, found)

    def budget(self) -> tuple[None, None]:
        return None, None

    def describe(self) -> dict[str, object]:
        return {}


class Accepts:
    """Accepts the passages named; keeps the ids of each batch."""

    name = "scripted"

    def __init__(self, yes: str, scores: Mapping[str, float] | None = None, mute: str = "") -> None:
        self.yes, self.scores, self.mute = yes, scores or {}, mute
        self.batches: list[str] = []
        self.calls = self.cached = 0

    def verify(self, pairs: Sequence[tuple[ListQuestion, Passage]]) -> list[Verified]:
        self.batches.append("".join(p.passage_id for _, p in pairs))
        self.calls += len(pairs)
        return [
            Verified(False, reason="no_score")
            if p.passage_id in self.mute
            else Verified(p.passage_id in self.yes, self.scores.get(p.passage_id))
            for _, p in pairs
        ]


FIRST = Toy("f_i", lambda text: "abcdefgh")


def run(verifier, later: Toy, first: Toy = FIRST, questions=None, **settings) -> RvrResult:
    given = RvrSettings(**{"k": 4, "budget": 4, "context": 2, **settings})
    return retrieve_verify_retrieve(
        questions or [question(gold="bdh")], first, later, verifier, CORPUS, given
    )


def out(result: RvrResult, question_id: str = "q") -> str:
    return "".join(result.run.ids(question_id))


def row(result: RvrResult, number: int) -> pd.Series:
    return result.trace.set_index("round").loc[number]


def test_verified_first_then_the_last_list_and_nothing_else_of_round_one():
    """Trap 1: with all of round 1 in front the output would be abcd, whatever comes later."""
    later = Toy("f_r", lambda text: "hbigj")
    found = run(Accepts("bd"), later, seen="allow")
    assert out(found) == "bdhi"
    # a and c were rejected and f_r does not bring them back; e is beyond B
    assert run(Accepts(""), later, seen="allow").run.ids("q") == list("hbig")


def test_the_later_query_is_the_question_with_the_accepted_in_rank_order():
    """Traps 5, 6 and 8: one function makes it, and nothing accepted means the bare question."""
    later = Toy("f_r", lambda text: "h")
    run(Accepts("db"), later)
    [(texts, _)] = later.asked
    assert texts == {"q": query_with_context("Question q?", [CORPUS["b"], CORPUS["d"]]).text}
    bare = Toy("f_r", lambda text: "h")
    run(Accepts(""), bare)
    assert bare.asked[0][0] == {"q": "Question q?"} == FIRST.asked[-1][0]


def test_m_bounds_the_context_and_not_what_is_kept():
    later = Toy("f_r", lambda text: "h")
    found = run(Accepts("abd"), later, context=1)
    assert later.asked[0][0]["q"].count("Title") == 1
    assert out(found) == "abdh"
    nothing = Toy("f_r", lambda text: "h")
    run(Accepts("abd"), nothing, context=0)
    assert nothing.asked[0][0]["q"] == "Question q?"


def test_each_retriever_searches_with_its_own_index_in_one_call_a_round():
    """Trap 22, and batching: a round is one search call and one verifier batch."""
    first, later = Toy("f_i", lambda text: "abcd"), Toy("f_r", lambda text: "efgh")
    verifier = Accepts("a")
    found = run(verifier, later, first, [question("q"), question("r")], rounds=3, seen="allow")
    assert [set(texts) for texts, _ in first.asked] == [{"q", "r"}]
    assert [set(texts) for texts, _ in later.asked] == [{"q", "r"}] * 2
    assert verifier.batches == ["abcdabcd", "efghefgh"]
    assert found.run.system == "rvr(f_i, f_r, scripted)"
    # trap 23: seconds are of the batch, and stand apart from the table that repeats
    assert list(found.costs["calls"]) == [8, 8, 0]
    assert not any("seconds" in name for name in found.trace.columns)


@pytest.mark.parametrize(
    ("budget", "judged"), [(0, []), (1, ["a"]), (3, ["abc"]), (6, ["abcdef"]), (50, ["abcdefgh"])]
)
def test_budget_bounds_the_verdicts_of_a_round_and_may_exceed_k(budget, judged):
    """Trap 9: min(B, length); with B > K the list that is verified is B long."""
    verifier = Accepts("h")
    found = run(verifier, Toy("f_r", lambda text: "ij"), budget=budget)
    assert verifier.batches == judged
    assert verifier.calls == found.asked == len("".join(judged))
    assert row(found, 1)["retrieved"] == max(4, min(budget, 8))
    assert ("h" in out(found)) == (budget == 50)


def test_the_last_round_is_not_verified():
    verifier = Accepts("abcd")
    found = run(verifier, FIRST, rounds=1)
    assert (out(found), verifier.calls) == ("abcd", 0)
    assert row(found, 1)["verified"] == 0


def test_no_passage_is_judged_twice_and_the_budget_says_whom_it_is_spent_on():
    """Traps 9 and 10: under allow judged ranks are spent, under mask B goes to unseen ones."""
    later = Toy("f_r", lambda text: "abefcdgh")
    allow, mask = Accepts("a"), Accepts("a")
    found = run(allow, later, rounds=3, seen="allow")
    assert allow.batches == ["abcd", "ef"]
    assert row(found, 2)["retrieved"] == 4
    assert out(found) == "abef"
    found = run(mask, later, rounds=3, seen="mask")
    assert mask.batches == ["abcd", "efgh"]
    assert out(found) == "a"  # all eight have a verdict, and seven were rejected


def test_mask_retrieves_as_many_more_as_it_passes_over():
    """Trap 10: else fewer than K new passages would be left."""
    later = Toy("f_r", lambda text: "abcdefghijkl")
    found = run(Accepts("b"), later, seen="mask")
    assert [depth for _, depth in later.asked] == [4 + SPARE + 4]
    assert row(found, 2)["retrieved"] == 4
    assert out(found) == "befg"


def test_unread_and_unjudged_passages_may_come_back():
    """Trap 21: an unreadable reply is a rejection, counted, but no verdict."""
    verifier = Accepts("b", mute="ac")
    found = run(verifier, Toy("f_r", lambda text: "abcde"), rounds=3, seen="mask")
    assert out(found) == "bac"  # d was rejected; e in round 2
    counts = row(found, 1)
    assert (counts["unread"], counts["accepted"], counts["verified"]) == (2, 1, 4)
    assert verifier.batches == ["abcd", "e"]  # and it is not asked about a and c again
    assert found.coverage == pytest.approx(1 - 2 / 5)


def test_an_endpoint_that_fails_accepts_nothing():
    """Trap 21: a dead batch must not turn into "accept all"."""
    found = run(Accepts("abcd", mute="abcd"), Toy("f_r", lambda text: "ghij"))
    assert out(found) == "ghij"
    assert (found.coverage, row(found, 1)["accepted"]) == (0.0, 0)


def test_no_filler_unless_asked_for_and_then_flagged():
    """Trap 2."""
    later = Toy("f_r", lambda text: "h")
    short = run(Accepts("b"), later)
    assert (out(short), row(short, 2)["filled"]) == ("bh", 0)
    filled = run(Accepts("b"), later, fill=True)
    assert (out(filled), row(filled, 2)["filled"]) == ("bhac", 2)


def test_output_is_not_sorted_by_score_but_its_scores_repeat_the_order():
    """Traps 11 and 12: no ties are left for another tool to break."""
    later = Toy("f_r", lambda text: "lkj")
    ranking = run(Accepts("d"), later).run.rankings["q"]
    assert ranking == (("d", 4.0), ("l", 3.0), ("k", 2.0), ("j", 1.0))


@pytest.mark.parametrize(
    "verifier", [NoVerifier(2), ScoreVerifier("s", lambda p: [0.6] * len(p), 0.5)]
)
def test_gold_changes_nothing_unless_the_verifier_is_an_oracle(verifier):
    """Trap 3."""
    later = Toy("f_r", lambda text: "ijklabcd")
    runs = [
        run(verifier, later, questions=[question(gold=gold)], rounds=3).run.rankings
        for gold in ("", "bdh", "aceg")
    ]
    assert runs[0] == runs[1] == runs[2]
    oracle = [
        run(OracleVerifier(), later, questions=[question(gold=gold)]).run.rankings
        for gold in ("bdh", "aceg")
    ]
    assert oracle[0] != oracle[1]


def test_top_k_unread_equals_round_one_where_it_accepts_all():
    """Trap 1, the other way round: why NoVerifier wants a number."""
    later = Toy("f_r", lambda text: "ijkl")
    assert out(run(NoVerifier(4), later)) == "abcd"
    found = run(NoVerifier(2), later)
    assert out(found) == "abij"
    assert found.asked == 0


def test_one_text_under_two_ids_is_one_passage_across_rounds():
    """Trap 4: the same key everywhere."""
    corpus = {**CORPUS, "z": replace(CORPUS["b"], passage_id="z", text="TEXT  of b")}
    verifier = Accepts("b")
    later = Toy("f_r", lambda text: "zhi")
    found = retrieve_verify_retrieve(
        [question()], FIRST, later, verifier, corpus, RvrSettings(k=3, budget=3, seen="allow")
    )
    assert out(found) == "bhi"


def test_context_policies():
    """D_ctx for T > 2 is not in the paper: three policies, the same for T = 2."""
    accepted = [
        Accepted(CORPUS["a"], 1, 0.5),
        Accepted(CORPUS["b"], 1, 0.9),
        Accepted(CORPUS["c"], 2, None),
        Accepted(CORPUS["d"], 2, 0.5),
    ]

    def chosen(policy, m=3):
        return "".join(p.passage_id for p in context_passages(accepted, m, policy))

    assert (chosen("oldest"), chosen("newest"), chosen("best")) == ("abc", "cda", "bad")
    assert chosen("best", 9) == "badc"
    later = Toy("f_r", lambda text: "efgh" if "Title e" not in text else "ijkl")
    for policy, last in (("oldest", "Title a Title b"), ("newest", "Title e Title f")):
        run(Accepts("abef"), later, rounds=3, context_policy=policy)
        text = later.asked[-1][0]["q"]
        assert all(part in text for part in last.split(" Title"))


def test_trace_counts_what_each_round_brought():
    """Trap 25: distinct answers in the context stand beside the number of passages."""
    q = ListQuestion(
        "q", "?", (Answer("Title b", ("text of d",)), Answer("Title h")), gold=("b", "d", "h")
    )
    later = Toy("f_r", lambda text: "bhij")  # b comes back and brings nothing new
    found = run(Accepts("bd"), later, questions=[q], seen="allow")
    one, two = row(found, 1), row(found, 2)
    assert (one["new_gold"], one["new_answers"], one["context"]) == (2, 1, 0)
    assert (one["accepted"], one["accepted_gold"], one["accepted_answers"]) == (2, 2, 1)
    assert (two["new_gold"], two["new_answers"], two["context"]) == (1, 1, 2)
    assert two["context_answers"] == 1  # two passages, one answer
    gains = round_gains(found.trace)
    assert gains.loc[1, "answers_per_accepted"] == 0.5
    assert pd.isna(gains.loc[2, "answers_per_accepted"])
    assert list(gains["questions"]) == [1, 1]


def test_not_judged_is_no_verdict():
    class Lazy(Accepts):
        def verify(self, pairs):
            return [Verified(False, reason=NOT_JUDGED) for _ in pairs]

    found = run(Lazy(""), Toy("f_r", lambda text: "abcd"))
    assert out(found) == "abcd"
    assert (row(found, 1)["verified"], row(found, 1)["not_judged"]) == (0, 4)


def test_lists_shorter_than_k_and_empty_ones_are_normal():
    """Trap 13."""
    assert out(run(Accepts("ab"), Toy("f_r", lambda text: ""))) == "ab"
    assert out(run(Accepts(""), Toy("f_r", lambda text: ""), Toy("f_i", lambda text: ""))) == ""


def test_merged_and_distinct():
    a, b, c = (CORPUS[x] for x in "abc")
    assert distinct([a, b, a]) == [a, b]
    assert merged([Accepted(b, 1)], [a, b, c], 2) == ([b, a], 0)
    assert merged([], [a], 3, filler=[a, c]) == ([a, c], 1)


def test_what_cannot_be_run_is_refused():
    with pytest.raises(InputError, match="twice"):
        run(Accepts(""), FIRST, questions=[question(), question()])
    with pytest.raises(InputError, match=r"'z'.*lacks"):
        run(Accepts(""), Toy("f_r", lambda text: "z"))

    class Short(Accepts):
        def verify(self, pairs):
            return []

    with pytest.raises(InputError, match="0 verdicts for 4"):
        run(Short(""), FIRST)
