"""Wire formats that answer in fields: OpenAI decisions and System One.

Both take the text of an item, typed questions about it, and answer each with probabilities.
One question is sent per request, although both take many: a reply then belongs to one verdict,
and a run resumes by dropping whole requests. Neither takes sampling fields (System One rejects
every field it does not know).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mtrlib.errors import InputError
from mtrlib.llm.distributions import allowed, distribution, is_number, verdict_of
from mtrlib.llm.questions import Choice, Predicate, Question, Score, Verdict

NAME = "answer"  # of the one question in a request


def build_decisions(question: Question, state: str, *, system: str = "") -> dict[str, Any]:
    """Body for ``/v1/decisions``, without the model.

    Raises
    ------
    InputError
        A choice with fewer than 2 or more than 255 options, a score with fewer than 2 or
        more than 10 levels, or with two levels of one name (answers name levels).
    """
    asked: dict[str, Any] = {"name": NAME, "instructions": question.instructions}
    if isinstance(question, Predicate):
        asked["type"] = "predicate"
    elif isinstance(question, Choice):
        _within(len(question.options), 255, "options", "decisions")
        asked["type"] = "choice"
        asked["choices"] = [
            {"value": label, "description": meaning} if meaning else {"value": label}
            for label, meaning in question.options.items()
        ]
    else:
        _within(len(question.levels), 10, "levels", "decisions")
        if len(set(question.levels)) < len(question.levels):
            raise InputError(
                f"levels {list(question.levels)} repeat a name, and decisions answers by name. "
                "Mend: name every level differently."
            )
        asked["type"] = "score"
        asked["levels"] = [{"label": level} for level in question.levels]
    spoken = [{"role": "system", "content": system}, {"role": "user", "content": state}]
    return {"input": spoken if system else state, "questions": [asked]}


def read_decisions(question: Question, data: Mapping[str, Any]) -> Verdict:
    """Verdict from ``data["answers"]``, the list that came back.

    A score is computed from the probabilities by level name: where the server starts to count
    its levels then does not matter.
    """
    answers = data.get("answers")
    listed = answers if isinstance(answers, list) else []
    found = [a for a in listed if isinstance(a, Mapping) and a.get("name") in (NAME, None)]
    if len(found) != 1:
        return Verdict.missing("no_score")
    answer, kind = found[0], found[0].get("type")
    if kind == "refusal":
        return Verdict.missing("refusal")
    if isinstance(question, Predicate):
        return _probability(answer.get("probability") if kind == "predicate" else None)
    if isinstance(question, Choice):
        masses = _pairs(answer, "value")
        return _chosen(question, answer.get("choice") if kind == "choice" else None, masses)
    numbers = dict(zip(question.levels, allowed(question), strict=True))
    masses = {numbers[name]: p for name, p in _pairs(answer, "label").items() if name in numbers}
    return verdict_of(question, masses if kind == "score" else {})


def build_system_one(question: Question, state: str, *, system: str = "") -> dict[str, Any]:
    """Body for ``/v1/systemone``, without the model; ``system`` is put before the state.

    Raises
    ------
    InputError
        Fewer than 2 or more than 26 options or levels (one letter each).
    """
    asked: dict[str, Any] = {"instructions": question.instructions}
    if isinstance(question, Predicate):
        asked["type"] = "noul"
    elif isinstance(question, Choice):
        _within(len(question.options), 26, "options", "system_one")
        asked["type"] = "choice"
        asked["criteria"] = {label: text or None for label, text in question.options.items()}
    else:
        _within(len(question.levels), 26, "levels", "system_one")
        asked["type"] = "score"
        asked["criteria"] = list(question.levels)
    return {"state": f"{system}\n\n{state}" if system else state, "questions": {NAME: asked}}


def read_system_one(question: Question, data: Mapping[str, Any]) -> Verdict:
    """Verdict from ``data["answers"]``, by name; its levels count from 0, ours from ``low``."""
    answers = data.get("answers")
    answer = answers.get(NAME) if isinstance(answers, Mapping) else None
    if not isinstance(answer, Mapping):
        return Verdict.missing("no_score")
    kind, masses = answer.get("type"), answer.get("probabilities")
    masses = masses if isinstance(masses, Mapping) else {}
    if kind == "refusal":
        return Verdict.missing("refusal")
    if isinstance(question, Predicate):
        return _probability(answer.get("noul") if kind == "noul" else None)
    if isinstance(question, Choice):
        return _chosen(question, answer.get("choice") if kind == "choice" else None, masses)
    if kind != "score":
        return Verdict.missing("no_score")
    if masses:
        numbers = enumerate(allowed(question))
        return verdict_of(question, {level: masses.get(str(i), 0.0) for i, level in numbers})
    return _expected(question, answer.get("score"))


def _within(n: int, most: int, what: str, dialect: str) -> None:
    if not 2 <= n <= most:
        raise InputError(
            f"the question has {n} {what}, but {dialect} takes 2 to {most}. "
            "Mend: show fewer, or use a chat dialect."
        )


def _pairs(answer: Mapping[str, Any], key: str) -> dict[str, Any]:
    rows = answer.get("probabilities")
    named = [r for r in rows if isinstance(r, Mapping)] if isinstance(rows, list) else []
    # a boolean is another value than its text, and we never offer one
    return {r[key]: r.get("probability") for r in named if isinstance(r.get(key), str)}


def _probability(p: Any) -> Verdict:
    if not is_number(p):
        return Verdict.missing("no_score")
    if not 0 <= p <= 1:
        return Verdict.missing("out_of_range")
    return Verdict(float(p), probabilities={"yes": float(p), "no": 1.0 - p})


def _chosen(question: Choice, label: Any, masses: Mapping[str, Any]) -> Verdict:
    if not isinstance(label, str) or label not in question.options:
        return Verdict.missing("no_score")
    return Verdict(label, probabilities=distribution(question, masses))


def _expected(question: Score, score: Any) -> Verdict:
    if not is_number(score):
        return Verdict.missing("no_score")
    if not 0 <= score <= question.high - question.low:
        return Verdict.missing("out_of_range")
    return Verdict(float(question.low + score))
