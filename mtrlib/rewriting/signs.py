"""Signs in a query's own words: pronouns, missing subjects, connectives, exact terms.

They are read by rules, without a model: they decide before any call whether a method may be
used at all. English and Chinese, with the commonest forms of Japanese and Korean.
"""

from __future__ import annotations

import re

from mtrlib.rewriting.mentions import dense_characters, is_short, words

CLIPPED_WORDS, CLIPPED_CHARACTERS = 8, 10  # a follow-up this short that names nothing

# "that" is a deictic only where it cannot open a clause
_THAT = (
    r"(?:^\W*|[,.;:?!]\s*|\b(?:of|about|for|in|on|with|like|after|before|from|to|at|by|is|was|are|"
    r"were|did|does|do|has|had|can|could|would|will|should|and|but|so|why|how|when|where|since)\s+)"
    r"that\b(?!\s+(?:the|an?|there)\b)"
)
_PRONOUN = re.compile(
    r"\b(?:it|its|itself|he|him|his|himself|she|her|hers|herself|they|them|their|theirs|"
    r"themselves|this|these|those|(?:over|in|from|up|down|back) there|there(?=\W*$)|"
    r"the (?:former|latter|same|other)|just now|(?:the|you) (?:mentioned|said)|"
    r"(?:first|second|last|other) one)\b"
    rf"|{_THAT}|\bthat\W*$"
    r"|(?<![其吉维])[它他她]们?|牠|[这那](?!么|样|里有|种人)[个些种款位项件次家篇本部台]?|此(?=[外时事人处类方前]|$)"
    r"|刚才|刚刚|上面|上述|前者|后者|前面|其(?!他|它|实|中|余|次|间|后)|该(?=[公方系项产功服文国城个])"
    r"|それ|これ|あれ|その|この|あの|彼女|彼(?!岸)|先ほど"
    r"|그것|이것|저것|그는|그녀|그들|방금",
    re.IGNORECASE,
)
_EXPLETIVE = re.compile(
    r"\b(?:is|was) it (?:true|possible|right|ok|worth|better|necessary)\b|\bit (?:is|was) "
    r"(?:true|possible|said|known|better)\b|\bhow (?:long|far) (?:is|does|did) it "
    r"(?:take )?(?:to|from)\b",
    re.IGNORECASE,
)
_FOLLOW_UP = re.compile(
    r"^\W*(?:and|but|or|so|also|then|what about|how about|what else|anything else|any others?)\b"
    r"|^\W*(?:那么?(?=[，,、\s])|那(?![么些个种款位])|还有|另外|然后|而且|为什么呢|具体呢)|呢[？?\s]*$",
    re.IGNORECASE,
)
_OMITTED = re.compile(
    r"^\W*(?:支持|需要|可以|能|会|有|是|怎么|如何|多少|多久|什么时候|在哪|为什么|要|还|默认|包括)"
)
_CONNECTIVE = re.compile(
    r"\b(?:and|respectively|versus|vs|both|compar(?:ed?|ing|ison)|differ(?:s|ences?)?|"
    r"(?:which|who|what)(?: \w+)?(?: of (?:them|the two))? (?:is|are|was|were|has|have) "
    r"(?:more|less|\w{3,}er))\b"
    r"|和(?!平|谐|解|尚|睦|服)|以及|分别|对比|相比|哪个更|哪一个更|哪种更|与其|区别|[^参]与(?!否)|跟"
    r"|それぞれ|比較|どちらが|および|각각|비교|어느 것이",
    re.IGNORECASE,
)
_OPENING = re.compile(r"^\W*and\b", re.IGNORECASE)  # opens a follow-up and joins nothing
_EXACT = {
    "quoted term": re.compile(r"[\"“”「『《`][^\"“”」』》`]+[\"“”」』》`]"),
    "identifier": re.compile(
        r"(?<![A-Za-z])(?:[A-Z]{2,}[A-Z0-9]*(?:[_-][A-Za-z0-9]+)*|[A-Za-z]+_[A-Za-z0-9_]+)(?![a-z])"
    ),
    "amount": re.compile(
        r"[$€£¥￥]\s?\d|\d\s?(?:元|美元|欧元|dollars?|euros?|%|％)", re.IGNORECASE
    ),
    "date": re.compile(
        r"\d{1,4}[-/.年]\d{1,2}(?:[-/.月]\d{1,2})?|\b(?:19|20)\d\d\b|\d+[月日号]|[一二三四五六七八九十]+月"
        r"|\b(?:January|February|March|April|June|July|August|September|October|November|December)\b"
    ),
    "digits": re.compile(r"\d"),
}
_TWO_SIDED = re.compile(
    r"\bpros and cons\b|\badvantages?\b|\bdisadvantages?\b|\bbenefits? and\b|\bupsides?\b|"
    r"\bdownsides?\b|\bstrengths and weaknesses\b|\barguments? (?:for|against)\b|\bgood or bad\b"
    r"|优缺点|优点|缺点|利弊|好处|坏处|优势|劣势|长処|短所|メリット|デメリット|장단점",
    re.IGNORECASE,
)


def points_back(text: str) -> bool:
    """Whether a pronoun or deictic stands in the text: "it", "that plan", 它, 刚才.

    "that" before a clause and "it" in set phrases such as "is it true" do not count.

    >>> points_back("它支持私有化吗"), points_back("the book that he wrote"), points_back("那么贵")
    (True, True, False)
    """
    return bool(_PRONOUN.search(_EXPLETIVE.sub("x ", text)))


def lacks_subject(text: str) -> bool:
    """Whether a Chinese question begins with its verb, or a follow-up with its conjunction."""
    return bool(_FOLLOW_UP.search(text)) or bool(dense_characters(text) and _OMITTED.search(text))


def names_nothing(text: str) -> bool:
    """Whether a short text names nothing: no capital after the first word, no exact term."""
    if not is_short(text, most_words=CLIPPED_WORDS, most_characters=CLIPPED_CHARACTERS):
        return False
    return not exact_term(text) and not any(w[0].isupper() for w in words(text)[1:] if w != "I")


def has_connective(text: str) -> bool:
    """Whether a word joins or compares: and, respectively, versus, 和, 以及, 分别, 对比, 哪个更.

    >>> has_connective("权限和审计分别在哪配置"), has_connective("和平是什么")
    (True, False)
    """
    return bool(_CONNECTIVE.search(_OPENING.sub("", text)))


def exact_term(text: str) -> str:
    """What makes a query exact: the kind of its first exact term, or "".

    One of ``quoted term``, ``identifier`` (two capitals or more, or an underscore), ``amount``,
    ``date``, ``digits``.

    >>> exact_term("ERR_2041 怎么处理"), exact_term("怎么让系统别那么卡")
    ('identifier', '')
    """
    return next((kind for kind, pattern in _EXACT.items() if pattern.search(text)), "")


def two_sided(text: str) -> bool:
    """Whether the answer has several sides, of which a hypothetical one shows a single one."""
    return bool(_TWO_SIDED.search(text))
