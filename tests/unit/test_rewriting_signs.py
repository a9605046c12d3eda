"""Signs in queries, entities, and mentions, in English and Chinese (own sentences)."""

from __future__ import annotations

import pytest

from mtrlib.data.schema import Passage
from mtrlib.rewriting.corpus_words import CorpusWords
from mtrlib.rewriting.entities import invented, names, numbers
from mtrlib.rewriting.mentions import Mentioned, is_short, plain
from mtrlib.rewriting.signs import (
    exact_term,
    has_connective,
    lacks_subject,
    names_nothing,
    points_back,
    two_sided,
)


@pytest.mark.parametrize(
    "text",
    [
        "它支持私有化部署吗", "这个方案要多少钱", "刚才说的那种能退吗", "她们后来去了哪里",
        "该公司何时成立", "上述配置怎么改", "其默认值是多少", "Who built it?",
        "and why did that company fail?",
        "What about those two?", "How did he feel?", "tell me more about that",
        "Was her brother there?", "the former", "それは何ですか", "그것은 얼마입니까",
    ],
)  # fmt: skip
def test_pronouns_and_deictics(text):
    assert points_back(text)


@pytest.mark.parametrize(
    "text",
    [
        "网关怎么限流", "那么贵的原因", "其他渠道有哪些", "其实价格是多少", "应该怎么申请退款",
        "这么慢是为什么", "Who wrote the book that won the prize?",
        "Is it true that tea has caffeine?",
        "How many bridges are there in Arlen?", "I know that the mill burnt down", "Ithaca history",
    ],
)  # fmt: skip
def test_what_only_looks_like_one(text):
    assert not points_back(text)


def test_missing_subjects_and_follow_ups():
    for text in ("支持私有化吗", "那部署呢", "还有别的吗", "And the price?", "What about Rome?"):
        assert lacks_subject(text), text
    for text in ("网关支持私有化吗", "那么贵的票哪里买", "Rome in winter"):
        assert not lacks_subject(text), text


def test_names_nothing():
    assert names_nothing("how long did it last?") and names_nothing("价格呢")
    assert not names_nothing("how long did Rome last?")
    assert not names_nothing("what is ERR_2041")
    assert not names_nothing("怎样才能让公司里所有人的电脑都不卡")


@pytest.mark.parametrize(
    "text",
    [
        "权限和审计怎么配", "部署以及升级", "两者分别多少钱", "网关对比总线", "哪个更快",
        "tea and coffee", "what do they cost respectively", "tea versus coffee",
        "coffee compared with tea", "which is more bitter", "which of the two is older",
    ],
)  # fmt: skip
def test_connectives(text):
    assert has_connective(text)


@pytest.mark.parametrize(
    "text",
    [
        "和平协议何时签",
        "参与者有哪些",
        "网关限流",
        "And when was it built?",
        "sandy beaches",
        "和解金额",
    ],
)
def test_no_connectives(text):
    assert not has_connective(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("怎么让系统别那么卡", ""),
        ("ERR_2041 怎么处理", "identifier"),
        ("订单 20260311-8841 发货了吗", "date"),
        ('"maxSkew" 是什么意思', "quoted term"),
        ("《云端手册》讲什么", "quoted term"),
        ("退 300 元要多久", "amount"),
        ("3 个节点够吗", "digits"),
        ("LDAP 怎么接", "identifier"),
        ("why is my laptop so slow", ""),
        ("who won in 1994", "date"),
        ("How do I reset my phone", ""),
    ],
)
def test_case_07_exact_terms(text, kind):
    assert exact_term(text) == kind


def test_answers_with_several_sides():
    assert two_sided("远程办公的优缺点") and two_sided("pros and cons of tiled roofs")
    assert not two_sided("怎么让系统别那么卡")


def test_entities_of_a_hypothetical_answer():
    text = (
        "Opened in 1932 by Mayor Otto Brandt, the bridge cost 1,200 crowns. Brandt died later. "
        "Stone was dear. It has 3 arches and a plate marked AB-12."
    )
    assert numbers(text) == ["1932", "1,200", "12"]
    assert {"Mayor Otto Brandt", "AB-12"} <= set(names(text))
    assert not {"Stone", "Opened", "It"} & set(names(text))
    known = ("When was the bridge opened?", "The bridge was opened in 1932.")
    assert "1932" not in invented(text, *known)
    assert "Mayor Otto Brandt" in invented(text, *known)


def test_entities_in_chinese():
    text = "《云端手册》第 42 页写明，ModelArts 的推理服务默认有 16 个副本。"
    assert names(text) == ["云端手册", "ModelArts"]
    assert numbers(text) == ["42", "16"]
    assert invented(text, "ModelArts 怎么扩容", "推理服务默认 16 个副本") == ["42", "云端手册"]


def test_mentions_in_scripts_with_and_without_borders():
    assert Mentioned("它支持限流策略").has("限流")
    assert Mentioned("请用LDAP登录").has("ldap")
    assert not Mentioned("a party of two").has("art")
    assert Mentioned("The ART of war").has("art of war")
    assert not Mentioned("whatever").any(["", "…"])  # pitfall 50
    assert Mentioned("ＬＤＡＰ 登录").has("LDAP")


def test_short_and_plain():
    assert is_short("限流怎么设", most_words=6, most_characters=8)
    assert is_short("八个汉字正好可以", most_words=6, most_characters=8)
    assert not is_short("九个汉字就不可以了", most_words=6, most_characters=8)
    assert is_short("one two three four five six", most_words=6, most_characters=8)
    assert not is_short("one two three four five six seven", most_words=6, most_characters=8)
    assert not is_short("？！", most_words=6, most_characters=8)
    assert plain("Ｗhat, now?") == "what now"


def test_words_of_a_corpus():
    common = [Passage(f"p{i}", "the river flows slowly") for i in range(300)]
    corpus = CorpusWords([*common, Passage("g", "限流阈值在网关中设置", "网关手册")])
    assert corpus.domain_terms("网关怎么限流") == ["网关", "限流"]
    assert corpus.domain_terms("the river") == [] == corpus.domain_terms("unknown words 12")
    own = corpus.own_words(Passage("g", "限流阈值在网关中设置", "网关手册"), 3)
    assert own[0] == "网关" and len(own) == 3
