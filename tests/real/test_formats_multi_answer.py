"""LIMIT-small and ALCE's QAMPARI demonstrations: counts and quirks as their packs say."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from needed import pack

from mtrlib.data.formats import ambignq, dpr, limit, qampari, qampari_demos, quest, romqa, webqsp
from mtrlib.data.strings import contains_answer


def test_limit_small(real_data: Path):
    folder = pack(real_data, "limit_small")
    assert limit.FORMAT.recognises(folder)
    passages = list(limit.read_passages(folder))
    questions = list(limit.read_questions(folder))
    qrels = limit.read_judgements(folder)
    assert (len(passages), len(questions)) == (46, 1000)
    assert sum(len(qrels.grades(q)) for q in qrels) == 2000
    assert {len(q.gold) for q in questions} == {2}
    assert all(" " in p.passage_id and not p.title for p in passages)
    assert not qrels.dangling(p.passage_id for p in passages)


@pytest.fixture(scope="module")
def demos(real_data: Path) -> Path:
    return pack(real_data, "alce_qampari_demos") / "qampari_default.json"


def test_demonstrations(demos: Path):
    assert qampari_demos.FORMAT.recognises(demos)
    questions = list(qampari_demos.read_questions(demos))
    passages = {p.passage_id: p for p in qampari_demos.read_passages(demos)}
    assert (len(questions), len(passages)) == (4, 20)
    assert [len(q.answers) for q in questions] == [11, 7, 6, 6]
    assert all(set(q.gold) <= set(passages) for q in questions)


def test_demonstrations_have_the_edge_cases_of_the_pack(demos: Path):
    questions = list(qampari_demos.read_questions(demos))
    passages = {p.passage_id: p for p in qampari_demos.read_passages(demos)}
    repeated = [q for q in questions if len({a.text for a in q.answers}) < len(q.answers)]
    assert len(repeated) == 1
    support = Counter(p for q in questions for a in q.answers for p in a.passages)
    assert max(support.values()) == 6
    own = {
        q.question_id: [p for i, p in passages.items() if i.startswith(q.question_id)]
        for q in questions
    }
    missing = [
        (q, a)
        for q in questions
        for a in q.answers
        if not any(contains_answer(p.text, [a.text]) for p in own[q.question_id])
    ]
    assert len(missing) == 1
    question, answer = missing[0]
    last_word = answer.text.split()[-1]
    assert sum(a.text.endswith(last_word) for a in question.answers) == 2


def test_stray_white_space_in_titles_is_gone(demos: Path):
    raw = [
        d["title"] for demo in json.loads(demos.read_text("utf-8"))["demos"] for d in demo["docs"]
    ]
    read = [p.title for p in qampari_demos.read_passages(demos)]
    assert sum(title != title.strip() for title in raw) == 1
    assert read == [title.strip() for title in raw]


def test_no_other_pack_is_taken_for_a_multi_answer_set(real_data: Path):
    modules = (qampari, quest, webqsp, romqa, limit, ambignq, dpr)
    formats = [each for module in modules for each in module.FORMATS]
    mine = ("limit_small", "alce_qampari_demos")
    others = [p for p in real_data.rglob("*") if p.relative_to(real_data).parts[0] not in mine]
    assert others
    assert not [(p.name, each.name) for p in others for each in formats if each.recognises(p)]
