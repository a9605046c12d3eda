"""Gold texts and documents find their passages, and what does not is named."""

from __future__ import annotations

import pytest

from mtrlib.data.matching import map_document_gold, match_gold_texts
from mtrlib.data.schema import Conversation, Passage, Turn
from mtrlib.errors import InputError

PASSAGES = [
    Passage("a", "The old mill stands by the river and turns no more.", "Mill", document="d1"),
    Passage("b", "The old mill  stands by the RIVER and turns no more.", document="d2"),
    Passage("c", "A heron waits in the reeds until the evening light is gone.", document="d1"),
    Passage("d", "限流默认每秒一百次，超过时返回错误码，可以在控制台修改阈值。"),
]


def _conversation(*texts: str, gold: tuple[str, ...] = ()) -> Conversation:
    return Conversation("c", (Turn("c_1", "c", 1, "?", gold=gold, gold_texts=texts),))


def _gold(*texts: str) -> tuple[tuple[str, ...], object]:
    (conversation,), report = match_gold_texts([_conversation(*texts)], PASSAGES)
    return conversation.turns[0].gold, report


def test_equal_texts_all_become_gold():
    gold, report = _gold("the old mill stands by the river and turns no more.\u200b")
    assert gold == ("a", "b")
    assert (report.exact, report.rate) == (1, 1.0)


def test_title_in_front_is_allowed_for():
    assert _gold("Mill The old mill stands by the river and turns no more.")[0] == ("a",)


@pytest.mark.parametrize(
    ("text", "gold"),
    [
        ("heron waits in the reeds until the evening", ("c",)),
        ("Note: A heron waits in the reeds until the evening light is gone. (p. 3)", ("c",)),
        ("返回错误码，可以在控制台修改阈值", ()),  # under twenty characters
        ("reeds", ()),
    ],
)
def test_containment_needs_length(text: str, gold: tuple[str, ...]):
    assert _gold(text)[0] == gold


def test_ambiguous_and_unmatched_are_named():
    gold, report = _gold(
        "stands by the river and turns no more", "nothing like this is anywhere here"
    )
    assert gold == ()
    assert report.ambiguous == [("c_1", "stands by the river and turns")]
    assert report.unmatched == [("c_1", "nothing like this is anywhere here")]
    assert report.rate == 0.0
    assert str(report) == "2 gold texts: 0 exact, 0 by containment, 1 ambiguous, 1 unmatched"


def test_document_gold_is_mapped_explicitly():
    (conversation,) = map_document_gold([_conversation(gold=("d1", "d"))], PASSAGES)
    assert conversation.turns[0].gold == ("a", "c", "d")
    with pytest.raises(InputError, match="query c_1: gold 'd9' is neither"):
        map_document_gold([_conversation(gold=("d9",))], PASSAGES)
