"""Replies of rewriters: case 07, and every way in which a list or a text comes back unusable."""

from __future__ import annotations

import json

import pytest

from mtrlib.data.schema import Utterance
from mtrlib.rewriting.guards import MANY, read_single, text_guard, without_repeats
from mtrlib.rewriting.reply_forms import READERS
from mtrlib.rewriting.rewrites import Rewrite, Task
from mtrlib.rewriting.variant_list import read_variants

REPLY_07 = (
    "好的，下面是 3 个改写：\n\n1. 网关限流阈值如何配置\n\n2) 接口 v2. 流量控制的默认上限是多少\n"
    "- 限流怎么设\n3. 网关限流阈值如何配置\n希望对你有帮助！"
)


def test_case_07_variants():
    found = read_variants(REPLY_07, "限流怎么设", 3)
    assert found.variants == ("网关限流阈值如何配置", "接口 v2. 流量控制的默认上限是多少")
    assert (found.wanted, found.failed) == (3, "")
    assert [d.split(":")[0] for d in found.dropped] == ["copy of the original", "repeat"]


@pytest.mark.parametrize(
    ("reply", "variants"),
    [
        ("1. tide tables\n2. ebb and flow\n3. high water", 3),
        ("**1.** tide tables\n**2.** ebb and flow", 2),
        ("① 潮汐表\n② 涨落时间\n③ 高潮位", 3),
        ("改写1：潮汐表\n改写2：涨落时间", 2),
        ("Variant 1: tide tables\nVariant 2: ebb and flow", 2),
        ("（1）潮汐表\n（2）涨落时间", 2),
        ("tide tables\n\nebb and flow", 2),
        ("Here are 3 versions:\ntide tables\nebb and flow\nLet me know if you need more!", 2),
        ('{"queries": ["tide tables", "ebb and flow"]}', 2),
        ('```json\n["tide tables", "ebb and flow"]\n```', 2),
        ("<think>1. draft one\n2. draft two</think>\n1. tide tables", 1),
        ("1. 潮汐表\n2. when does the tide turn", 1),  # below, the original decides the script
    ],
)
def test_lists_in_many_shapes(reply, variants):
    original = "潮水什么时候涨" if any("\u4e00" <= c <= "\u9fff" for c in reply) else "the tide"
    assert len(read_variants(reply, original, 3).variants) == variants


def test_pitfall_21_a_number_in_mid_line_splits_nothing():
    found = read_variants("1. release notes of version 2. x\n2. what 1.5 changed", "changes", 3)
    assert found.variants == ("release notes of version 2. x", "what 1.5 changed")


def test_a_decimal_opens_no_item():
    assert read_variants("1.5 times the speed\n2 times the speed", "how fast", 3).variants == (
        "1.5 times the speed",
        "2 times the speed",
    )


def test_marked_lines_are_items_whatever_they_begin_with():
    reply = "好的：\n1. 如果您已付款怎么退\n2. 希望加急的处理办法"
    assert len(read_variants(reply, "退款", 3).variants) == 2


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "empty"),
        ("None", "placeholder"),
        ("null", "placeholder"),
        ("3", "no usable variant"),
        ("<think>which ones could", "broken"),
        ("HTTP 429 Too Many Requests", "error_text"),
        ("I'm sorry, I cannot help with that.", "refusal"),
        ("很抱歉，我无法回答。", "refusal"),
        ("1. the tide\n2. The Tide!", "no usable variant"),
    ],
)
def test_pitfall_22_replies_without_a_variant_say_why(reply, reason):
    found = read_variants(reply, "the tide", 3)
    assert (found.variants, found.failed) == ((), reason)


def test_what_a_small_model_really_said():
    """Shapes of replies of a model of 135 million parameters, in own words."""
    reply = "Q: How old is the mill?\nA: [3] [1]\nA: A: 302.\nThe answer is 1750.\nage of the mill"
    found = read_variants(reply, "How old is the mill?", 3)
    assert found.variants == ("age of the mill",)
    assert read_single("The last question is: When was it opened?", "x")[0] == "When was it opened?"
    history = (Utterance("user", "Tell me about the mill."), Utterance("agent", "It is old."))
    said = Task("q", "How old is it?", history)
    for text in ("The last question is: Tell me about the mill.",
                 '{"standalone_query": "tell me about the mill", "confidence": 1}'):  # fmt: skip
        assert READERS["standalone"](text, said) == {"failed": "repeats the history"}
    asked_again = Task("q", "Tell me about the mill", history)
    assert "texts" in READERS["standalone"]("Tell me about the mill", asked_again)


def test_more_than_wanted_is_cut_and_said():
    found = read_variants("1. a b\n2. c d\n3. e f", "x y", 2)
    assert found.variants == ("a b", "c d")
    assert found.dropped == ("more than wanted: e f",)


@pytest.mark.parametrize(
    ("text", "original", "reason"),
    [
        ("how do I set the rate limit", "限流怎么设", "another script"),
        ("限流阈值配置", "how to set the limit", "another script"),
        ("レート制限の設定", "限流怎么设", "another script"),
        ("속도 제한 설정", "限流怎么设", "another script"),
        ("LDAP SSO 登录配置", "LDAP 和 SSO 怎么配", ""),
        ("轻量目录访问协议与单点登录的区别", "LDAP 和 SSO 区别", ""),
        ("レート制限の設定方法", "レート制限はどうする", ""),
        ("속도 제한 설정 방법", "속도 제한 어떻게", ""),
        ("what does 道 mean in Chinese thought", "what does 道 mean?", ""),
        ("Ayn Rand novel strike leader inventor fictional character", "Who leads it?", ""),
        ("???", "anything", "placeholder"),
        ("   ", "anything", "empty"),
        (None, "anything", "not text"),
        (["a"], "anything", "not text"),
        ("x" * 2001, "anything", "too long"),
    ],
)
def test_pitfall_23_text_guard(text, original, reason):
    assert text_guard(text, original) == reason


def test_scripts():
    texts = ["限流", "limit", "レート", "속도", "ограничение"]
    for text in texts:
        assert [t for t in texts if not text_guard(t, text)] == [text]
        assert text_guard("2041", text) == ""  # a number has no script
    assert text_guard("限流 limit", "限流") == "" != text_guard("限流 limit", "limit")


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("Who built the bridge?", "Who built the bridge?"),
        ('Here is the rewritten query:\n\n"Who built the bridge?"', "Who built the bridge?"),
        ("**Query:** Who built the bridge?\n\nHope this helps!", "Who built the bridge?"),
        ("Rewritten query: Who built\nthe bridge?", "Who built the bridge?"),
        ('"maxSkew" and its default', '"maxSkew" and its default'),
    ],
)
def test_single_texts_lose_their_talk(reply, text):
    assert read_single(reply, "who built it") == (text, "")


def test_identical_for_many_queries_is_rejected():
    tasks = [Task(f"q{i}", f"question {i}") for i in range(4)]
    stuck = [Rewrite(t.query_id, ("your query here",)) for t in tasks[:MANY]]
    fine = Rewrite("q3", ("bridges of Arlen",))
    found = without_repeats(tasks, [*stuck, fine])
    assert [r.failed for r in found] == ["identical for many queries"] * MANY + [""]
    assert [r.got for r in found] == [0] * MANY + [1]


def test_two_equal_rewrites_or_equal_questions_are_no_placeholder():
    tasks = [Task("q0", "a"), Task("q1", "b"), Task("q2", "why?"), Task("q3", "Why")]
    rewrites = [Rewrite(t.query_id, (text,)) for t, text in zip(tasks, "xxyy", strict=True)]
    assert without_repeats(tasks, rewrites) == rewrites


@pytest.mark.parametrize(
    ("values", "confidence"),
    [
        ([0.6], 0.6), (["0.82"], 0.82), ([1], 1.0), ([0], 0.0),
        ([], None), ([82], None), ([1.2], None), ([-0.1], None), (["high"], None),
        ([True], None), ([None], None), ([0.4, 0.9], None), ([float("nan")], None),
    ],
)  # fmt: skip
def test_pitfall_11_a_confidence_is_on_its_scale_or_none(values, confidence):
    record = {"standalone_query": "tides", **({"confidence": values[0]} if values else {})}
    parts = [json.dumps({**record, "confidence": v}) for v in values] or [json.dumps(record)]
    found = READERS["standalone"](" ".join(parts), Task("q", "tide times"))
    assert found["confidence"] == confidence


def read(kind: str, reply: str, text: str = "它支持私有化吗"):
    return READERS[kind](reply, Task("q", text))


def test_standalone_reply_in_chinese():
    found = read(
        "standalone",
        '```json\n{"standalone_query": "云网关支持私有化部署吗", "resolved_entities": ["云网关"], '
        '"confidence": 0.82}\n```',
    )
    assert found["texts"] == ("云网关支持私有化部署吗",)
    assert (found["entities"], found["confidence"]) == (("云网关",), 0.82)


@pytest.mark.parametrize(
    ("reply", "failed"),
    [
        ('{"standalone_query": "", "confidence": 0.9}', "empty"),
        ('{"standalone_query": null, "confidence": 0.9}', "not text"),
        ('{"confidence": 0.9}', "no standalone query"),
        ('{"standalone_query": "Does it run on premises?", "confidence": 1}', "another script"),
        ('{"standalone_query": "云网', "broken"),
        ("我无法回答这个问题", "refusal"),
    ],
)
def test_standalone_replies_that_cannot_be_used(reply, failed):
    assert read("standalone", reply) == {"failed": failed}


def test_standalone_without_confidence_has_none():
    assert read("standalone", "云网关支持私有化吗") == {"texts": ("云网关支持私有化吗",)}
    found = read("standalone", '{"standalone_query": "云网关支持私有化吗", "confidence": "高"}')
    assert found["confidence"] is None


def test_decomposition_replies():
    text = "网关和总线的权限模型有什么区别"
    plan = (
        '{"need_decompose": true, "reason": "比较", "sub_queries": ["网关的权限模型", '
        '"总线的权限模型"], "answer_in_single_chunk": false}'
    )
    assert read("decomposition", plan, text) == {
        "need_decompose": True,
        "single_chunk": False,
        "texts": ("网关的权限模型", "总线的权限模型"),
    }
    one = plan.replace('"总线的权限模型"', '"网关的权限模型。"')
    assert read("decomposition", one, text)["failed"] == "fewer than two sub-queries"
    no = '{"need_decompose": false, "sub_queries": [], "answer_in_single_chunk": true}'
    assert read("decomposition", no, text) == {"need_decompose": False, "single_chunk": True}
    assert read("decomposition", '{"need_decompose": "maybe"}', text) == {"failed": "no decision"}
    assert read("decomposition", "I would split it.", text) == {"failed": "no decision"}
