"""The authored sets pass their checks, and each seeded mistake is found and named."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable

import pandas as pd
import pytest
from needed import fetched

from mtrlib.data.authored import check as checks
from mtrlib.data.authored.check_conversations import check_conversations
from mtrlib.data.authored.check_judged import check_judged, check_judgements
from mtrlib.data.authored.check_lists import check_lists
from mtrlib.data.authored.check_rewrites import check_rewrites
from mtrlib.data.authored.mtr_mini import mtr_mini
from mtrlib.data.authored.records import Authored, load_authored
from mtrlib.data.authored.wording import CopyCheck, may_depend_on_history, names_the_source
from mtrlib.data.corpus import wikipedia_passages
from mtrlib.data.schema import Passage
from mtrlib.evaluation.agreement import agreement_table, card_lines


@pytest.fixture(scope="module")
def passages() -> dict[str, Passage]:
    with fetched("the corpus"):
        return {p.passage_id: p for p in wikipedia_passages()}


@pytest.fixture(scope="module")
def copies(passages: dict[str, Passage]) -> CopyCheck:
    return CopyCheck(passages.values())


@pytest.fixture(scope="module")
def sound() -> Authored:
    return load_authored()


def test_all_checks_pass_and_cards_show_the_counts(passages: dict[str, Passage], sound: Authored):
    everything = list(passages.values())
    assert checks.check(sound, everything) == []
    assert checks.check_cards(checks.statistics(sound, everything)) == []


def _turn(found: Authored, label: str) -> tuple[str, dict]:
    return next((q, t) for q, _, t in found.turns() if label in t["labels"])


def unknown_gold(found: Authored) -> str:
    found.conversations[0]["turns"][0]["gold"].append("12__9999")
    return "no passage 12__9999"


def answer_string_in_no_gold(found: Authored) -> str:
    found.conversations[0]["turns"][0]["answer_strings"].append(["quixotic zeppelin"])
    return "'quixotic zeppelin' stands in no gold passage"


def unlabelled_verbosity(found: Authored) -> str:
    _turn(found, "verbose")[1]["labels"].remove("verbose")
    return "words and the label verbose do not agree"


def switch_moved(found: Authored) -> str:
    record = next(c for c in found.conversations if c["topic_switch_turn"] == 5)
    record["topic_switch_turn"] = 4
    return "label topic_switch and topic_switch_turn do not agree"


def pronoun_at_the_start(found: Authored) -> str:
    first = found.conversations[0]["turns"][0]
    first["labels"] = [*set(first["labels"]) - {"standalone"}, "context_dependent"]
    return "a first turn has no history to depend on"


def asked_twice(found: Authored) -> str:
    turns = found.conversations[0]["turns"]
    turns[3]["raw_utterance"] = turns[2]["raw_utterance"].upper()
    return "asked twice"


def empty_gold_without_label(found: Authored) -> str:
    _turn(found, "unanswerable")[1]["labels"].remove("unanswerable")
    return "label unanswerable and gold do not agree"


def a_conversation_lost(found: Authored) -> str:
    found.conversations.pop()
    return "31 conversations, must be 32"


def gap_that_is_none(found: Authored) -> str:
    query_id, turn = _turn(found, "lexical_gap")
    words = " ".join(turn["answer_strings"][0][0].split()[:1])
    turn["raw_utterance"] += f" {GOLD_WORDS[turn['gold'][0]]} {words}"
    return f"{query_id}: labelled lexical_gap, but shares"


GOLD_WORDS: dict[str, str] = {}


@pytest.mark.parametrize(
    "mistake",
    [
        unknown_gold,
        answer_string_in_no_gold,
        unlabelled_verbosity,
        switch_moved,
        pronoun_at_the_start,
        asked_twice,
        empty_gold_without_label,
        a_conversation_lost,
        gap_that_is_none,
    ],
)
def test_mistakes_in_conversations(
    mistake: Callable[[Authored], str], sound: Authored, passages: dict, copies: CopyCheck
):
    GOLD_WORDS.update({i: " ".join(p.text.split()[:10]) for i, p in passages.items()})
    spoilt = copy.deepcopy(sound)
    expected = mistake(spoilt)
    assert any(expected in p for p in check_conversations(spoilt, passages, copies))


def test_a_copied_sentence_is_found(sound: Authored, passages: dict, copies: CopyCheck):
    spoilt = copy.deepcopy(sound)
    spoilt.conversations[0]["turns"][0]["answer"] += " " + passages["12__0"].text[:120]
    assert any(
        "copies eight words of 12__0" in p for p in check_conversations(spoilt, passages, copies)
    )


def spoil(sound: Authored, change: Callable[[Authored], object]) -> Authored:
    found = copy.deepcopy(sound)
    change(found)
    return found


def test_mistakes_in_lists(sound: Authored, passages: dict, copies: CopyCheck):
    def problems(change: Callable[[Authored], object]) -> list[str]:
        return list(check_lists(spoil(sound, change), passages, copies))

    def leak(found: Authored) -> None:
        test = next(q for q in found.questions if q["split"] == "test")
        train = next(q for q in found.questions if q["split"] == "train")
        train["main_articles"].append(test["main_articles"][0])

    def alias(found: Authored) -> None:
        found.questions[0]["answers"][0].update(text="quixotic zeppelin", aliases=[])

    def few(found: Authored) -> None:
        found.questions[0]["answers"] = found.questions[0]["answers"][:2]

    assert any("on both sides of the split" in p for p in problems(leak))
    assert any("'quixotic zeppelin' does not stand in" in p for p in problems(alias))
    assert any("2 answers, at least 4" in p for p in problems(few))


def test_mistakes_in_rewrites(sound: Authored, copies: CopyCheck):
    def problems(change: Callable[[Authored], object]) -> list[str]:
        return list(check_rewrites(spoil(sound, change), copies))

    first = next(iter(sound.rewrites))

    def lost(found: Authored) -> None:
        del found.rewrites[first]

    def same_variants(found: Authored) -> None:
        found.rewrites[first]["variants"] = ["one and the same"] * 3

    def sure(found: Authored) -> None:
        query_id, _ = _turn(found, "ambiguous")
        found.rewrites[query_id]["standalone"]["confidence"] = 0.9

    assert any("has no rewrites" in p for p in problems(lost))
    assert any("1 different variants, must be 3" in p for p in problems(same_variants))
    assert any("confidence 0.9 and label ambiguous" in p for p in problems(sure))


def test_mistakes_in_pools(sound: Authored, passages: dict):
    def problems(change: Callable[[Authored], object]) -> list[str]:
        return list(check_judged(spoil(sound, change), passages))

    query_id, turn = next((q, t) for q, _, t in sound.turns() if t["gold"])

    def unjudged(found: Authored) -> None:
        row = next(r for r in found.judged["mtr-mini"][query_id] if r["decision"] == "reject")
        row["decision"] = None

    def unread(found: Authored) -> None:
        holder = next(
            p.passage_id for p in passages.values() if turn["answer_strings"][0][0] in p.text
        )
        rows = found.judged["mtr-mini"][query_id]
        rows[:] = [r for r in rows if r["passage_id"] != holder]
        turn_of = next(t for q, _, t in found.turns() if q == query_id)
        turn_of["gold"] = [g for g in turn_of["gold"] if g != holder]
        row = {"passage_id": holder, "decision": "reject", "by": "other_article"}
        rows.append({**row, "reason": "other_entity"})

    def lost_pool(found: Authored) -> None:
        del found.judged["mtr-mini"][query_id]

    assert any("is not judged" in p for p in problems(unjudged))
    assert any("holds an answer string and was not read" in p for p in problems(unread))
    assert any(f"{query_id}: has no judged pool" in p for p in problems(lost_pool))


def test_mistakes_in_judgements(sound: Authored, passages: dict):
    spoilt = copy.deepcopy(sound)
    spoilt.ratings[0]["rating"] = 6
    spoilt.ratings.pop()
    problems = list(check_judgements(spoilt, passages))
    assert any("rated 0 times" in p for p in problems)
    assert any("is not on the scale" in p or "is neither a passage" in p for p in problems)


def test_a_small_corpus_keeps_all_gold_of_its_conversations(sound: Authored, passages: dict):
    everything = list(passages.values())
    full = mtr_mini(everything, authored=sound)
    assert len(full.conversations) == 32
    assert not full.dangling
    small = mtr_mini(everything, conversations=4, passage_limit=300, authored=sound)
    assert len(small.conversations) == 4
    assert 250 <= len(small.passages) <= 350
    assert not small.dangling


@pytest.mark.parametrize(
    ("utterance", "expected"),
    [("And its year?", True), ("What did he shoot there?", True), ("which one melts first", True)],
)
def test_words_that_point_back(utterance: str, expected: bool):
    assert may_depend_on_history(utterance) is expected


def test_naming_the_source():
    assert names_the_source("According to the passage, no.")
    assert not names_the_source("A text message came.")


def test_the_card_shows_the_agreement_of_the_ratings(sound: Authored):
    fresh = agreement_table(pd.DataFrame(sound.ratings), resamples=2)
    card = checks.card_path("judgements-mini").read_text(encoding="utf-8")
    for row in fresh.to_dict("records"):
        shown = rf"\| {row['metric']} \| {row['n']} \| {row['exact']:.2f} \| {row['alpha']:.2f} "
        assert re.search(shown, card), row["metric"]
        assert re.search(rf"{row['metric']} .* \| {row['kappa']:.2f} \[", card), row["metric"]


@pytest.mark.slow
def test_the_card_shows_the_intervals_too(sound: Authored):
    card = checks.card_path("judgements-mini").read_text(encoding="utf-8")
    assert "\n".join(card_lines(agreement_table(pd.DataFrame(sound.ratings)))) in card
