"""Topic flow, lengths and splits on conversations small enough to count by hand."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from mtrlib.data.schema import Benchmark, Conversation, Passage, Qrels, Turn, Utterance
from mtrlib.synthesis.flow import move_shares, topic_flow, transitions
from mtrlib.synthesis.lengths import length_summary, turn_lengths

ARTICLES = {"a1": "A", "a2": "A", "b1": "B", "c1": "C"}
PASSAGES = tuple(Passage(p, f"text {p}", title) for p, title in ARTICLES.items())


def benchmark(*golds: str, name: str = "demo") -> Benchmark:
    """One conversation per text: turns by spaces, several gold by ``+``, ``-`` for none."""
    found = []
    for number, text in enumerate(golds, 1):
        turns = []
        for at, each in enumerate(text.split(), 1):
            gold = tuple(g for g in each.split("+") if g != "-")
            turns.append(Turn(f"{number}_{at}", str(number), at, "q", gold=gold))
        found.append(Conversation(str(number), tuple(turns)))
    return Benchmark(name, PASSAGES, tuple(found))


def moves(*golds: str, **unit) -> list[str]:
    return list(topic_flow(benchmark(*golds), **unit)["move"])


def topics(*golds: str, **unit) -> list[int]:
    return list(topic_flow(benchmark(*golds), **unit)["topic"])


def test_topics_are_numbered_as_first_seen() -> None:
    assert topics("b1 a1 b1 c1 c1") == [1, 2, 1, 3, 3]
    assert moves("b1 a1 b1 c1 c1") == ["start", "on", "return", "on", "stay"]
    assert topics("b1 a1", "c1 b1") == [1, 2, 1, 2]


def test_passages_of_one_article_are_one_topic_by_article() -> None:
    assert moves("a1 a2 b1 a1") == ["start", "on", "on", "return"]
    assert moves("a1 a2 b1 a1", unit="article") == ["start", "stay", "on", "return"]
    homonyms = tuple(Passage(d, "text", "same title", document=d) for d in "xy")
    turns = tuple(Turn(d, "1", n, "q", gold=(d,)) for n, d in enumerate("xy", 1))
    by_document = Benchmark("demo", homonyms, (Conversation("1", turns),))
    assert list(topic_flow(by_document, "article")["topic"]) == [1, 2]


def test_of_several_gold_passages_the_one_that_moves_least_counts() -> None:
    assert topics("a1 b1+a1 c1 b1+a1") == [1, 1, 2, 1]
    assert topics("b1+c1 c1") == [1, 2]  # the first one opens


def test_turns_without_gold_are_passed_over_and_counted() -> None:
    flow = topic_flow(benchmark("- a1 - a1 b1"))
    assert list(flow["move"]) == ["no_gold", "start", "no_gold", "stay", "on"]
    assert flow["topic"].isna().tolist() == [True, False, True, False, False]
    shares = move_shares(flow).iloc[0]
    assert (shares["moves"], shares["stay"], shares["on"], shares["no_gold"]) == (2, 0.5, 0.5, 2)


@pytest.mark.filterwarnings("ignore:demo. 1 gold ids")
def test_gold_outside_the_corpus_is_no_topic() -> None:
    assert moves("a1 lost a1") == ["start", "no_gold", "stay"]


def test_judgements_decide_what_is_gold() -> None:
    plain = benchmark("- -")
    graded = Qrels({"1_1": {"a1": 1, "b1": 0}, "1_2": {"b1": 2}})
    judged = Benchmark("demo", PASSAGES, plain.conversations, graded)
    assert list(topic_flow(judged)["move"]) == ["start", "on"]


def test_transitions_are_counted_per_position() -> None:
    table = transitions(topic_flow(benchmark("a1 b1 a1", "a1 a1 b1", "a1 b1", "b1 - b1")))
    found = list(table.drop(columns="benchmark").itertuples(index=False, name=None))
    assert found == [
        (2, 1, 1, 1, pytest.approx(1 / 3)),
        (2, 1, 2, 2, pytest.approx(2 / 3)),
        (3, 1, 1, 1, pytest.approx(1 / 3)),
        (3, 1, 2, 1, pytest.approx(1 / 3)),
        (3, 2, 1, 1, pytest.approx(1 / 3)),
    ]
    assert transitions(topic_flow(benchmark("a1"))).empty


def test_shares_per_position_and_per_benchmark_add_to_one() -> None:
    flow = pd.concat(
        [topic_flow(benchmark("a1 b1 a1 a1")), topic_flow(benchmark("a1 a1", "b1", name="other"))]
    )
    overall = move_shares(flow).set_index("benchmark")
    third = pytest.approx(1 / 3)
    assert overall.loc["demo"].tolist() == [3, third, third, third, 0]
    assert overall.loc["other", ["moves", "stay"]].tolist() == [1, 1]
    places = move_shares(flow, by=("benchmark", "turn_number"))
    assert list(places.columns[:3]) == ["benchmark", "turn_number", "moves"]
    assert math.isnan(places["stay"][0]) and places["moves"][0] == 0
    later = places[places["moves"] > 0]
    assert later[["stay", "on", "return"]].sum(axis=1).tolist() == pytest.approx([1] * len(later))


def spoken() -> Benchmark:
    history = (Utterance("user", "one two three"), Utterance("agent", "four"))
    turns = (
        Turn("1", "c", 1, "one two three", answer="four", labels=("verbose",)),
        Turn("2", "c", 2, "退款到", history, answer=None, labels=("context_dependent",)),
    )
    return Benchmark("demo", PASSAGES, (Conversation("c", turns), Conversation("d", ())))


def test_lengths_in_words_and_in_letters_that_compare_over_scripts() -> None:
    table = turn_lengths(spoken())
    assert table["question"].tolist() == [3, 1]
    assert table["question_letters"].tolist() == [13, 5.0]
    assert table["history"].tolist() == [0, 4]
    assert table["answer"][0] == 1 and math.isnan(table["answer"][1])
    summary = length_summary(table).loc["demo"]
    assert summary[["conversations", "turns", "turns_per_conversation"]].tolist() == [1, 2, 2]
    assert (summary["question_mean"], summary["answer_mean"], summary["verbose"]) == (2, 1, 0.5)
    assert summary["context_dependent"] == 0.5
