"""The playground on hand-made lists: texts, ranks, fusion, rounds, and controls that follow."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import matplotlib
import pytest
from listed_searcher import Lists

from mtrlib import profiles
from mtrlib.data.list_sets import ListSet
from mtrlib.data.schema import Benchmark, Conversation, Passage, Run, Turn, Utterance
from mtrlib.data.tasks import Answer, ListQuestion
from mtrlib.errors import FetchError, InputError
from mtrlib.reporting import (
    playground,
    playground_plots,
    playground_round_tables,
    playground_rounds,
    playground_tables,
    playground_widgets,
    rvr_retrievers,
)
from mtrlib.reporting.playground import Desk, Look
from mtrlib.reporting.rewriting_run import Searchers
from mtrlib.retrieval.registry import RetrieverSpec
from mtrlib.rewriting.remembered import Remembered

matplotlib.use("Agg")

LONG = "one two three four five six seven eight nine ten eleven twelve thirteen"
PASSAGES = tuple(Passage(f"p{i}", f"{LONG} n{i}", f"Title <{i}>") for i in range(9))
HISTORY = (
    Utterance("user", "What raises the tide?"),
    Utterance("agent", "The moon."),
    Utterance("user", "Everywhere?"),
    Utterance("agent", "Along most coasts."),
)
TURNS = (
    Turn("c_1", "c", 1, "What raises the tide?", (), ("p0",)),
    Turn("c_2", "c", 2, "Everywhere?", HISTORY[:2], ()),
    Turn("c_3", "c", 3, "and how does it grind?", HISTORY, ("p1", "p2")),
    Turn("d_1", "d", 1, "Who baked it?", (), ("p8",)),
)
FOUND = {
    "What raises the tide?": ["p0", "p1"],
    "Everywhere?": ["p3"],
    "and how does it grind?": ["p7", "p8"],
    "How does a tidal mill grind?": ["p3", "p1", "p2"],
    "mill stones": ["p2"],
    "tidal gate": ["p4", "p5", "p1"],
    "A mill grinds grain.": ["p1"],
    "Who baked it?": ["p8"],
}


class Words(Lists):
    """Lists with a budget of eight words."""

    def budget(self):
        return 8, lambda text: len(text.split())


@pytest.fixture
def desk() -> Desk:
    benchmark = Benchmark(
        "tiny", PASSAGES, (Conversation("c", TURNS[:3]), Conversation("d", TURNS[3:]))
    )
    study = SimpleNamespace(
        benchmark=benchmark,
        turns=TURNS,
        profile=dataclasses.replace(profiles.PROFILES["default"], K=3),
        gates=SimpleNamespace(fusion=SimpleNamespace(rrf_k=60)),
        rewriter=SimpleNamespace(name="by hand"),
        resolved={t.query_id: t.raw_utterance for t in TURNS}
        | {"c_3": "How does a tidal mill grind?"},
        rewrites={
            "standalone": {"c_3": ("How does a tidal mill grind?",)},
            "decomposition": {"c_3": ("mill stones",)},
            "variants": {"c_3": ("tidal gate", "mill stones")},
            "hypothetical": {"c_3": ("A mill grinds grain.",)},
        },
    )
    names = {"words": Words(FOUND), "lists": Lists(FOUND)}
    views = dict.fromkeys(("last_turn", "user_turns", "full_history", "coreference"))
    return Desk(
        study,
        Searchers(
            {name: Remembered(found, 20) for name, found in names.items()},
            dict.fromkeys(names, views),
            {"gone": "gone cannot be had"},
        ),
    )


def test_paths_are_the_texts_of_the_turn_by_name(desk):
    look = Look(desk, "c_3", "lists", k=3)
    assert look.texts == {
        "raw": "and how does it grind?",
        "coreference": "How does a tidal mill grind?",
        "standalone": "How does a tidal mill grind?",
        "sub-query 1": "mill stones",
        "variant 1": "tidal gate",
        "variant 2": "mill stones",
        "HyDE": "A mill grinds grain.",
    }
    table = playground_tables.path_table(look)
    assert list(table["first gold"]) == ["-", "2", "2", "1", "3", "1", "1", "1"]
    assert table.loc["standalone", "gold found"] == "2 of 2"
    assert list(Look(desk, "d_1", "lists", k=3).texts) == ["raw", "coreference"]


def test_a_text_of_two_paths_is_fused_once(desk):
    look = Look(desk, "c_3", "lists", k=5)
    # p1: 1/62 + 1/63 + 1/61, p2: 1/63 + 1/61; the second "mill stones" adds nothing
    assert look.fused()[:3] == ["p1", "p2", "p7"]
    assert look.fused(["raw", "sub-query 1"]) == ["p7", "p2", "p8"]
    table = playground_tables.fused_table(look)
    assert table.loc[1, "found by"] == "coreference 2; standalone 2; variant 1 3; HyDE 1"
    assert list(table["gold"])[:3] == ["★", "★", ""]
    some = playground_tables.fused_table(look, ["raw", "HyDE"])
    assert set(some["found by"]) == {"raw 1", "raw 2", "HyDE 1"}


def test_history_says_what_is_sent_and_what_is_cut(desk):
    def sent(retriever: str, view: str) -> list[str]:
        return list(playground_tables.history_table(Look(desk, "c_3", retriever, view))["sent"])

    assert sent("lists", "last_turn") == ["no", "no", "no", "no", "yes"]
    assert sent("lists", "user_turns") == ["yes", "no", "yes", "no", "yes"]
    assert sent("lists", "full_history") == ["yes"] * 5
    # eight words: five of the question, three of "Along most coasts."
    assert sent("words", "full_history") == ["cut", "cut", "cut", "yes", "yes"]
    assert sent("words", "user_turns") == ["cut", "no", "yes", "no", "yes"]
    look = Look(desk, "c_3", "words", "full_history")
    line = playground_tables.cut_line(look)
    assert "8 tokens sent; cut to fit: 3 utterances of the history, 7 tokens" in line
    resolved = playground_tables.history_table(Look(desk, "c_3", "lists", "coreference"))
    assert list(resolved["sent"]) == ["no", "no", "no", "no", "yes"]
    assert resolved["text"].iloc[-1] == "How does a tidal mill grind?"


def test_passages_are_shown_by_twelve_words_at_most(desk):
    table = playground_tables.list_table(Look(desk, "c_1", "lists"), ["p0", "p4"])
    assert list(table["first words"]) == [LONG.rsplit(" ", 1)[0] + " ..."] * 2
    assert list(table["gold"]) == ["★", ""]


def test_rows_and_figure_hold_every_list(desk):
    look = Look(desk, "c_3", "lists", k=3)
    rows = playground_tables.rank_rows(look)
    assert list(dict.fromkeys(rows["path"])) == [*look.texts, "fused"]
    assert rows["gold"].sum() == 2 + 2 + 1 + 1 + 1 + 1 + 2
    figure, points = playground_plots.gold_ranks_figure(rows)
    assert len(points) == rows["gold"].sum()
    assert [t.get_text() for t in figure.axes[0].get_yticklabels()] == [*look.texts, "fused"]
    side = playground_tables.side_by_side(look)
    assert side["coreference"].tolist() == ["p3", "p1 ★", "p2 ★"]
    assert side["raw"].tolist() == ["p7", "p8", ""]


def test_the_example_is_the_turn_whose_rewrites_find_most(desk):
    look = playground.example(desk)
    assert (look.query_id, look.retriever, look.k) == ("c_3", "lists", 3)
    desk.study.rewrites["standalone"].clear()
    desk.study.resolved["c_3"] = "and how does it grind?"
    assert playground.example(desk).query_id == "c_3"
    for kind in desk.study.rewrites.values():
        kind.clear()
    assert playground.example(desk).query_id == "c_1"


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"query_id": "c_9"}, "turn 'c_9' is unknown. Known: c_1"),
        ({"retriever": "dense"}, "retriever 'dense' is unknown. Known: words, lists"),
        ({"view": "all"}, "view 'all' is unknown. Known: last_turn"),
        ({"k": 0}, "K=0 must lie between 1 and 20"),
        ({"k": 21}, "K=21 must lie between 1 and 20"),
    ],
)
def test_what_the_desk_lacks_is_named(desk, changed, problem):
    with pytest.raises(InputError, match=problem):
        Look(**{"desk": desk, "query_id": "c_1", "retriever": "lists", **changed})


def test_about_names_what_is_left_out(desk):
    said = playground_tables.about(desk)
    assert said[0] == "tiny: 4 turns, 3 with gold, 9 passages; rewriter: by hand"
    assert said[-1] == "left out: gone cannot be had"


def test_the_panel_of_a_turn_follows_its_controls(desk):
    panel = playground_widgets.turn_panel(desk, Look(desk, "c_3", "lists", k=3))
    controls, page = panel.children
    named = {control.description: control for control in controls.children}
    assert "A mill grinds grain." in page.value and "★" in page.value
    assert "Title &lt;7&gt;" in page.value and "Title <" not in page.value
    assert "Fused: all paths" in page.value

    named["fuse"].value = ("raw", "HyDE")
    assert "Fused: raw, HyDE" in page.value
    named["list of"].value = "variant 1"
    assert "List of variant 1" in page.value

    named["turn"].value = "c_1"
    assert "A mill grinds grain." not in page.value and "c_1, lists" in page.value
    assert named["fuse"].value == ("raw",) and named["list of"].value == "raw"

    named["conversation"].value = "d"
    assert "d_1, lists, last_turn" in page.value and named["turn"].value == "d_1"
    named["conversation"].value = "c"
    named["turn"].value = "c_3"
    named["view"].value = "full_history"
    named["retriever"].value = "words"
    assert "8 tokens sent; cut to fit: 3 utterances" in page.value
    assert page.value.count("<td>cut</td>") == 3
    named["K"].value = 1
    named["list of"].value = "coreference"
    assert page.value.count("<td>p3</td>") and "p2" not in page.value.split("List of")[1][:400]


QUESTIONS = {
    split: tuple(
        ListQuestion(
            f"{split}{i}",
            f"Which {split} {i}?",
            tuple(Answer(f"n{n}", passages=(f"p{n}",)) for n in (0, 1, 2)),
            ("p0", "p1", "p2"),
            split,
        )
        for i in range(2)
    )
    for split in ("train", "dev", "test")
}
LISTS = ListSet("toy", PASSAGES, QUESTIONS, {})
SMALL = dataclasses.replace(profiles.PROFILES["default"], LIST_K=4, BUDGET=3, CONTEXT=1)


class Toy:
    """The second round, whose query holds a passage, brings two answers more."""

    def __init__(self) -> None:
        self.spec = RetrieverSpec("minilm", "dense", model="none")

    def search(self, queries, depth):
        first, later = ("p5", "p0", "p6", "p7"), ("p1", "p0", "p2", "p8")
        found = {
            q: tuple((p, 1 - i / 10) for i, p in enumerate(later if "\n" in text else first))
            for q, text in queries.items()
        }
        return Run("minilm", {q: ids[:depth] for q, ids in found.items()})

    def budget(self):
        return None, None


@pytest.fixture
def grid(monkeypatch):
    def searcher(self, name, recipe="base"):
        if name == "gone":
            raise FetchError("gone: cannot be had")
        return Toy()

    monkeypatch.setattr(playground_rounds, "load_list_set", lambda profile: LISTS)
    monkeypatch.setattr(rvr_retrievers.Retrievers, "searcher", searcher)
    return playground_rounds.open_rounds(dataclasses.replace(SMALL, ENCODERS=("gone", "minilm")))


def test_rounds_run_untrained_with_every_verifier(grid):
    assert playground_rounds.runs(grid) == [
        ("minilm", verifier) for verifier in ("none", "lexical", "oracle")
    ]
    said = playground_rounds.about(grid)
    assert "toy, test: 2 questions, 9 passages; T = 2, K = 4, B = 3" in said[0]
    assert said[-1] == "left out: gone: cannot be had"
    assert playground_rounds.digest(grid) == {"toy": LISTS.digest()}


def test_without_questions_to_calibrate_on_there_is_no_lexical(monkeypatch):
    only = dataclasses.replace(LISTS, questions={**QUESTIONS, "train": (), "dev": ()})
    monkeypatch.setattr(playground_rounds, "load_list_set", lambda profile: only)
    monkeypatch.setattr(rvr_retrievers.Retrievers, "searcher", lambda *_: Toy())
    ran = playground_rounds.runs(playground_rounds.open_rounds(SMALL))
    assert ran == [("minilm", "none"), ("minilm", "oracle")]


def test_a_question_goes_through_its_rounds(grid):
    asked = playground_rounds.example(grid)
    assert (asked.question_id, asked.verifier) == ("test0", "oracle")
    counts = playground_round_tables.count_table(asked)
    assert counts.loc[1].to_dict() == {
        "retrieved": 4, "verified": 3, "accepted": 1, "accepted_gold": 1,
        "context": 0, "new_gold": 1, "new_answers": 1,
    }  # fmt: skip
    assert counts.loc[2, ["verified", "context", "new_gold", "new_answers"]].tolist() == [
        0,
        1,
        2,
        2,
    ]
    first = playground_round_tables.round_table(asked, 1)
    assert first["verdict"].tolist() == ["rejected", "accepted", "rejected", ""]
    assert first["joins"].tolist() == ["", "yes", "", ""]
    assert first.loc[2, ["passage_id", "gold", "answers"]].tolist() == ["p0", "★", "n0"]
    second = playground_round_tables.round_table(asked, 2)
    assert second["passage_id"].tolist() == ["p1", "p0", "p2", "p8"]
    assert set(second["verdict"]) == {""} and set(second["joins"]) == {""}
    answers = playground_round_tables.answer_table(asked)
    assert answers.loc["n1"].tolist() == ["-", "1", "2"]
    assert answers.loc["n0"].tolist() == ["2", "2", "1"]
    output = playground_round_tables.output_table(asked)
    assert output["passage_id"].tolist() == ["p0", "p1", "p2", "p8"]
    rows = playground_round_tables.rank_rows(asked)
    assert rows.groupby("path", sort=False)["gold"].sum().to_dict() == {
        "round 1": 1, "round 2": 3, "output": 3,
    }  # fmt: skip


def test_a_question_or_run_that_is_not_there_is_named(grid):
    with pytest.raises(InputError, match="question 'test9' is not among"):
        playground_rounds.Asked(grid, "test9", "minilm", "none")
    with pytest.raises(InputError, match=r"'llm' has no run\. There are: minilm with"):
        playground_rounds.Asked(grid, "test0", "minilm", "llm")


def test_the_panel_of_the_rounds_follows_its_controls(grid):
    panel = playground_widgets.rounds_panel(grid, playground_rounds.example(grid))
    controls, page = panel.children
    named = {control.description: control for control in controls.children}
    assert "Which test 0?" in page.value and "<h4>Round 1</h4>" in page.value
    assert page.value.count("<td>accepted</td>") == 1
    named["round"].value = 2
    assert "<h4>Round 2</h4>" in page.value and "<td>accepted</td>" not in page.value
    named["question"].value = "test1"
    assert "Which test 1?" in page.value and "Which test 0?" not in page.value
    named["round"].value = 1
    named["verifier"].value = ("minilm", "none")
    assert page.value.count("<td>accepted</td>") == 1
    assert page.value.count("<td>not_applicable</td>") == 2
