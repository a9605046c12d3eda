"""Verifiers behind one interface: what they accept, what they cost, what cannot be read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mtrlib.data.schema import Passage
from mtrlib.data.tasks import Answer, ListQuestion
from mtrlib.errors import InputError
from mtrlib.llm.answers import CallError
from mtrlib.llm.client import Client
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.prompts import LONGEST, load_prompt
from mtrlib.llm.requests import Request
from mtrlib.llm.store import ReplyStore
from mtrlib.rvr.llm_verifier import LlmVerifier
from mtrlib.rvr.settings import Verified
from mtrlib.rvr.thresholds import calibrated_threshold, fit_probability
from mtrlib.rvr.trace import NOT_JUDGED
from mtrlib.rvr.verifiers import Cascade, NoVerifier, OracleVerifier, ScoreVerifier

Q = ListQuestion("q", "Which islands?", (Answer("Crete", passages=("1",)),), gold=("3",))
R = ListQuestion("r", "Which lakes?", (Answer("Como"),))
PASSAGES = {
    "1": Passage("1", "A ferry.", "Crete"),
    "2": Passage("2", "Crete and Malta.", "Sea"),
    "3": Passage("3", "Malta.", "Isle"),
    "4": Passage("4", "Garda.", "Lake"),
}
PAIRS = [(Q, PASSAGES[i]) for i in "1234"]


def accepted(verdicts: list[Verified]) -> list[bool]:
    return [v.accepted for v in verdicts]


def score_of(values: Mapping[str, float]):
    return lambda pairs: np.array([values[p.passage_id] for _, p in pairs])


def test_none_accepts_the_first_of_each_question_for_no_call():
    """Trap 9: top-k costs no call."""
    verifier = NoVerifier(2)
    mixed = [PAIRS[0], (R, PASSAGES["1"]), PAIRS[1], PAIRS[2], (R, PASSAGES["2"])]
    found = verifier.verify(mixed)
    assert accepted(found) == [True, True, True, False, True]
    assert found[3].reason == NOT_JUDGED  # left unread, so it may come back
    assert verifier.calls == 0


def test_the_oracle_goes_by_gold_or_by_answer_strings():
    gold, strings = OracleVerifier(), OracleVerifier("answers")
    assert accepted(gold.verify(PAIRS)) == [True, False, True, False]
    assert accepted(strings.verify(PAIRS)) == [True, True, False, False]
    assert gold.calls == 4


def test_a_score_is_accepted_from_the_threshold_on():
    verifier = ScoreVerifier("s", score_of({"1": 0.5, "2": 0.49, "3": 1.0, "4": 0.0}), 0.5)
    found = verifier.verify(PAIRS)
    assert accepted(found) == [True, False, True, False]
    assert [v.score for v in found] == [0.5, 0.49, 1.0, 0.0]
    assert (verifier.calls, verifier.cached) == (4, 0)


@pytest.mark.parametrize("bad", [np.nan, 1.5, -0.1])
def test_scores_that_are_no_fractions_are_refused_by_name(bad):
    verifier = ScoreVerifier("s", score_of({"1": 0.5, "2": bad, "3": 1.0, "4": 0.0}), 0.5)
    with pytest.raises(InputError, match="'2' for question 'q'"):
        verifier.verify(PAIRS)
    with pytest.raises(InputError, match="shape"):
        ScoreVerifier("s", lambda pairs: np.zeros(1), 0.5).verify(PAIRS)


def test_the_cascade_asks_only_inside_its_band():
    cheap = ScoreVerifier("cheap", score_of({"1": 0.9, "2": 0.3, "3": 0.8, "4": 0.29}), 0.5)
    oracle = OracleVerifier()
    cascade = Cascade(cheap, 0.3, 0.9, oracle)
    # 1: from the upper end on accepted; 2 and 3: asked; 4: below the lower end
    assert accepted(cascade.verify(PAIRS)) == [True, False, True, False]
    assert (cascade.calls, oracle.calls, cheap.calls) == (2, 2, 4)
    assert cascade.name == "cheap>oracle"
    everything = Cascade(cheap, 0.0, 1.1, OracleVerifier())
    assert accepted(everything.verify(PAIRS)) == accepted(OracleVerifier().verify(PAIRS))
    nothing = Cascade(cheap, 0.5, 0.5, OracleVerifier())
    assert accepted(nothing.verify(PAIRS)) == accepted(cheap.verify(PAIRS))
    assert nothing.calls == 0
    with pytest.raises(InputError, match="low=1"):
        Cascade(cheap, 1.0, 0.5, oracle)


def test_the_cascade_keeps_an_unreadable_verdict_a_rejection():
    """Trap 21: the cheap score must not stand in for the reply that could not be read."""

    class Mute(OracleVerifier):
        def verify(self, pairs):
            return [Verified(False, reason="truncated") for _ in pairs]

    cheap = ScoreVerifier("cheap", lambda pairs: np.full(len(pairs), 0.6), 0.5)
    [found] = Cascade(cheap, 0.2, 0.8, Mute()).verify(PAIRS[:1])
    assert (found.accepted, found.reason) == (False, "truncated")


class Scripted:
    """Answers a passage by its title; a CallError is raised."""

    def __init__(self, **replies: str | CallError) -> None:
        self.replies = replies
        self.seen: list[str] = []

    def __call__(self, request: Request, endpoint: Endpoint) -> Mapping[str, Any]:
        content = request.body["messages"][-1]["content"]
        self.seen.append(content)
        [reply] = [r for title, r in self.replies.items() if f"\n{title}\n" in content]
        if isinstance(reply, CallError):
            raise reply
        return {"choices": [{"message": {"content": reply}, "finish_reason": "stop"}], "usage": {}}


def llm(tmp_path: Path, send: Scripted, **options: Any) -> LlmVerifier:
    endpoint = Endpoint("lab", model="m-1", model_alias="m", dialect="chat", max_attempts=2)
    client = Client(
        endpoint, ReplyStore(tmp_path / "replies"), send=send, wait=lambda s: None, **options
    )
    return LlmVerifier("lab", client)


REPLIES = {
    "Crete": "Yes",
    "Sea": "No",
    "Isle": "Perhaps, it depends.",
    "Lake": CallError("status", "bad", status=500),
}


def test_what_cannot_be_read_is_rejected_and_says_why(tmp_path):
    """Trap 21."""
    verifier = llm(tmp_path, Scripted(**REPLIES))
    found = verifier.verify(PAIRS)
    assert accepted(found) == [True, False, False, False]
    assert [v.score for v in found] == [1.0, 0.0, None, None]
    assert [bool(v.reason) for v in found] == [False, False, True, True]
    assert found[3].reason == "failed"


def test_calls_and_replays_are_counted_apart(tmp_path):
    """Trap 9: a warm store costs no call, and the total is the same."""
    cold = llm(tmp_path, Scripted(**REPLIES))
    cold.verify(PAIRS[:3])
    assert (cold.calls, cold.cached) == (3, 0)
    warm = llm(tmp_path, Scripted(**REPLIES))
    warm.verify(PAIRS[:3])
    assert (warm.calls, warm.cached) == (0, 3)
    warm.verify(PAIRS[3:])  # two attempts, one of them a retry
    assert (warm.calls, warm.cached) == (1, 3)


def test_the_prompt_shows_question_and_titled_passage_and_no_gold(tmp_path):
    """Trap 3: the answer Crete is asked for by nobody; trap 21: verify with the title."""
    send = Scripted(**REPLIES)
    llm(tmp_path, send).verify([PAIRS[2]])
    [content] = send.seen
    assert "Which islands?" in content
    assert "Isle\nMalta." in content
    assert "Crete" not in content


def test_a_long_passage_is_cut_and_counted(tmp_path):
    send = Scripted(Long="Yes")
    verifier = llm(tmp_path, send)
    verifier.verify([(Q, Passage("9", "word " * LONGEST, "Long"))])
    assert verifier.shortened == 1
    assert len(send.seen[0]) < LONGEST + 2000


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_prompts_take_their_fields(language):
    assert load_prompt("verify", language).fields == {"question", "passage"}


def test_threshold_is_the_best_f_measure_and_ties_accept_more():
    assert calibrated_threshold([0.9, 0.7, 0.4, 0.1], [1, 1, 0, 0]) == pytest.approx(0.55)
    # accepting two or four: F1 = 2 * 1 / (2 + 2) = 0.5, and 2 * 2 / (2 + 4) = 0.667
    assert calibrated_threshold([4, 3, 2, 1], [1, 0, 0, 1]) < 1
    # equal F1 of 2/3 at one and at four accepted: the lower
    scores, truth = np.array([4.0, 3.0, 2.0, 1.0]), np.array([1, 0, 0, 1])
    for beta, expected in ((0.2, 3.5), (3.0, 0.5)):
        assert calibrated_threshold(scores, truth, beta=beta) == expected


def test_threshold_matches_a_plain_search():
    rng = np.random.default_rng(7)
    for _ in range(20):
        scores, truth = rng.integers(0, 6, 30) / 5, rng.integers(0, 2, 30)
        truth[0] = 1

        def f1(threshold, scores=scores, truth=truth):
            yes = scores >= threshold
            return 2 * (yes & (truth == 1)).sum() / (truth.sum() + yes.sum())

        best = max(map(f1, np.arange(-0.1, 1.1, 0.2)))
        assert f1(calibrated_threshold(scores, truth)) == pytest.approx(best)


def test_probabilities_rise_with_the_score_and_add_up():
    rng = np.random.default_rng(3)
    scores = rng.normal(size=400) * 7 + 30
    truth = (rng.random(400) < 1 / (1 + np.exp(-(scores - 30) / 7))).astype(int)
    found = fit_probability(scores, truth)(scores)
    assert found.sum() == pytest.approx(truth.sum(), rel=0.01)
    order = np.argsort(scores)
    assert (np.diff(found[order]) >= 0).all()
    apart = fit_probability([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1])([0.1, 0.9])
    assert 0 < apart[0] < 0.5 < apart[1] < 1


@pytest.mark.parametrize(
    ("scores", "truth", "named"),
    [
        ([], [], "0 scores"),
        ([1.0], [1, 0], "1 scores"),
        ([np.inf, 1], [1, 0], "number 0"),
        ([1, 2], [0, 0], "at least one 1"),
        ([1, 2], [1, 3], "at least one 1"),
    ],
)
def test_dev_pairs_that_cannot_calibrate_are_refused(scores, truth, named):
    with pytest.raises(InputError, match=named):
        calibrated_threshold(scores, truth)
    with pytest.raises(InputError, match="positive"):
        fit_probability([1.0, 2.0], [1, 1])
