"""Words by which judges name, give and refuse a verdict, in the languages of the data."""

from __future__ import annotations

import re

# keys of JSON objects, in lower case with underscores
SCORE_KEYS = frozenset(
    "score rating grade verdict final_score overall_score final_rating overall_rating"
    " 评分 得分 分数 评级 スコア 評価 점수 평점".split()
)
CHOICE_KEYS = frozenset(
    "choice answer final_answer selection selected passage option label best best_passage"
    " verdict 答案 选择 选项 回答 답".split()
)
PREDICATE_KEYS = frozenset(
    "answer final_answer verdict judgement judgment decision result label"
    " 答案 结论 判断 回答 判定 답 판정".split()
)
# keys that tell the top of the scale beside the score
SCALE_KEYS = frozenset("max max_score maximum out_of scale score_range 满分".split())

# labels in running text, as regular expressions
SCORE_LABELS = (
    r"score|rating|grade|verdict|评分|得分|分数|评级|打分|評分|スコア|評価|点数|점수|평점"
)
CHOICE_LABELS = (
    r"(?:best|correct|selected|chosen)\s+(?:passage|option|document|candidate|choice|answer)"
    r"|answer|choice|selection|verdict|答案|选择|最佳文段|最佳段落|回答|정답|답"
)
PREDICATE_LABELS = (
    r"answer|verdict|judgement|judgment|decision|conclusion|result"
    r"|答案|结论|判断|回答|結論|判定|판정|답"
)

# whole clauses; a negation is a word of its own, so that "不是" is never read as "是"
PREDICATE_WORDS = {
    **dict.fromkeys("yes true 是 是的 对 对的 對 能 可以 支持 正确 はい 예 네".split(), 1.0),
    **dict.fromkeys(
        "no false 否 不 不是 不是的 不对 不對 不能 不可以 无法 無法 不支持 不正确 错误 没有"
        " いいえ 아니요 아니오".split(),
        0.0,
    ),
}

PASSAGE_NOUNS = r"passage|option|document|doc|candidate|choice|answer|段落|文段|文档|选项|候选|第"
_FITS = r"(?:answers?|fits?|match(?:es)?|suffices?)"
NONE_PHRASES = (
    r"none(?:\s+of\s+(?:them|these|those|the\s+(?:above|passages|options|documents)))?"
    rf"(?:\s+{_FITS}(?:\s+(?:it|(?:the|this)\s+(?:question|query)))?)?"
    rf"|no\s+(?:passage|option)(?:\s+{_FITS})?"
    r"|都没有|没有|沒有|无|無|都不是|以上都不是|なし|없음"
)

REFUSAL = re.compile(
    r"\bi(?:'m| am) (?:very |so |really )?(?:sorry|unable|not able)\b"
    r"|\bi (?:cannot|can't|can not|won't)\b"
    r"|\bas an ai\b|\bas a (?:large )?language model\b"
    r"|^\W*(?:cannot|can't|unable to) (?:answer|rate|judge|assist|help|comply)\b"
    r"|无法(?:回答|评|打分|判断|提供|协助)|抱歉|对不起|很遗憾|我不能|我无法|作为(?:一个)?(?:AI|人工智能)"
    r"|申し訳|お答えできません|죄송|답변할 수 없",
    re.IGNORECASE | re.MULTILINE,
)
# the question itself is declined, so that a "No," in front of it is not a verdict
DECLINED = re.compile(
    r"\bi(?:'m| am) (?:very |so |really )?sorry\b"
    r"|\bi (?:cannot|can't|can not|won't|am unable to|am not able to)"
    r" (?:answer|rate|judge|assess|evaluate|help|assist|comply|do)\b"
    r"|无法(?:回答|评|判断)|抱歉|对不起",
    re.IGNORECASE,
)
