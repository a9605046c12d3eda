"""BM25 and its tokenizer: case 11 (points 1 and 2), odd corpora."""

from __future__ import annotations

import pytest

from mtrlib.data.schema import Passage
from mtrlib.retrieval.lexical import Bm25, tokenize

DOCS = {
    "d1": "网关限流策略：默认每秒一百次",
    "d2": "流量控制的配置方法",
    "d3": "如何申请发票",
    "d4": "发票抬头填写规则",
    "d5": "",
    "d6": "支持 LDAP 与 OAuth2 对接",
}
PASSAGES = [Passage(i, text) for i, text in DOCS.items()]


def test_case_11_chinese_words_are_found():
    run = Bm25(PASSAGES).search({"q1": "限流", "q2": "发票", "q3": "ldap 对接"}, depth=20)
    assert run.ids("q1")[0] == "d1"
    assert set(run.ids("q2", 2)) == {"d3", "d4"}
    assert run.ids("q3")[0] == "d6"
    assert all(score > 0 for ranking in run.rankings.values() for _, score in ranking)


def test_case_11_empty_passage_is_never_a_hit():
    run = Bm25(PASSAGES).search({"q1": "限流 发票 对接 ldap 流量"}, depth=20)
    assert "d5" not in run.ids("q1")
    assert len(run.ids("q1")) == 5


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Ｃａｆé ﬁn", ["café", "fin"]),
        ("故乡的明月", ["故乡", "乡的", "的明", "明月"]),
        ("書", ["書"]),
        ("東京タワーへ", ["東京", "京タ", "タワ", "ワー", "ーへ"]),
        ("서울 시청", ["서울", "시청"]),
        ("API限流v2", ["api", "限流", "v2"]),
        ("O'Brien's 3.5%", ["o", "brien", "s", "3", "5"]),
        ("？！ \u200b", []),
        ("STRASSE Straße", ["strasse", "strasse"]),
    ],
)
def test_tokens(text: str, tokens: list[str]):
    assert tokenize(text) == tokens


def test_three_passages_one_word_and_nothing_else():
    passages = [Passage("a", "word"), Passage("b", "word word"), Passage("c", "other")]
    with pytest.warns(UserWarning, match="1 of 2 queries share no term"):
        run = Bm25(passages).search({"q": "word", "none": "absent"}, depth=20)
    assert set(run.ids("q")) == {"a", "b"}
    assert run.ids("none") == []


def test_a_corpus_without_words_gives_no_hits_and_a_warning():
    with pytest.warns(UserWarning, match="1 of 1 queries share no term"):
        run = Bm25([Passage("a", ""), Passage("b", "?!")]).search({"q": "word"}, depth=5)
    assert run.rankings == {"q": ()}


def test_title_and_section_are_searched():
    passages = [Passage("a", "It melts.", "Caesium", ("Properties",)), Passage("b", "It melts.")]
    bm25 = Bm25(passages)
    assert bm25.search({"q": "caesium properties"}, 5).ids("q") == ["a"]


def test_ties_by_id_descending():
    passages = [Passage(i, "same words") for i in ("b", "c", "a")]
    assert Bm25(passages).search({"q": "words"}, 5).ids("q") == ["c", "b", "a"]
