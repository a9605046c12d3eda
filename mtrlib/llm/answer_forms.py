"""The line of a chat prompt that says exactly how to answer, in the language of the data."""

from __future__ import annotations

from mtrlib.errors import InputError
from mtrlib.llm.distributions import allowed
from mtrlib.llm.questions import Choice, Predicate, Question, Score

LANGUAGES = ("en", "zh")

# the JSON key and its words stay English in both: they are what the readers look for
KEYS = {Predicate: "answer", Choice: "choice", Score: "score"}

_BARE = {
    "en": {
        Predicate: "Answer with yes or no and nothing else.",
        Choice: "Answer with one of these labels and nothing else: {answers}.",
        Score: "Answer with one of these numbers and nothing else: {answers}.",
    },
    "zh": {
        Predicate: "只回答“是”或“否”，不要写其他内容。",
        Choice: "只回答下列标签之一，不要写其他内容：{answers}。",
        Score: "只回答下列数字之一，不要写其他内容：{answers}。",
    },
}
_JSON = {
    "en": {
        Predicate: 'Answer with {{"answer": "yes"}} or {{"answer": "no"}} and nothing else.',
        Choice: 'Answer with the JSON object {{"choice": "…"}} and nothing else. '
        "In place of the dots write one of these labels: {answers}.",
        Score: 'Answer with the JSON object {{"score": n}} and nothing else. '
        "In place of n write one of these numbers: {answers}.",
    },
    "zh": {
        Predicate: '只回答 {{"answer": "yes"}}（是）或 {{"answer": "no"}}（否），不要写其他内容。',
        Choice: '只回答 JSON 对象 {{"choice": "…"}}，不要写其他内容。'
        "省略号处写下列标签之一：{answers}。",
        Score: '只回答 JSON 对象 {{"score": n}}，不要写其他内容。n 处写下列数字之一：{answers}。',
    },
}


def answer_form(question: Question, *, as_json: bool, language: str = "en") -> str:
    """The allowed answers with their meaning, then the line that says how to give one.

    Parameters
    ----------
    as_json : a JSON object with the one key of ``KEYS``; else the bare label or number.
    language : one of ``LANGUAGES``.

    Raises
    ------
    InputError
        A language that has no wording.
    """
    if language not in LANGUAGES:
        raise InputError(
            f"no answer form in language {language!r}. Mend: use one of {', '.join(LANGUAGES)}."
        )
    comma, colon = ("、", "：") if language == "zh" else (", ", ": ")
    meanings: dict[str, str] = {}
    if isinstance(question, Score):
        meanings = dict(zip(allowed(question), question.levels, strict=True))
    elif isinstance(question, Choice):
        meanings = {label: text for label, text in question.options.items() if text}
    form = (_JSON if as_json else _BARE)[language][type(question)]
    lines = [f"{answer}{colon}{meaning}" for answer, meaning in meanings.items()]
    return "\n".join([*lines, form.format(answers=comma.join(allowed(question)))])
