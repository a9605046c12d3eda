"""MTRAG and MTRAG-UN: tasks, retrieval files, conversations, passages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats.mtrag import FORMATS, corpus_passages, task_conversations, task_passages
from mtrlib.data.formats.mtrag_conversations import conversations
from mtrlib.data.formats.mtrag_conversations import passages as conversation_passages
from mtrlib.data.formats.mtrag_retrieval import conversations as retrieval
from mtrlib.data.formats.mtrag_retrieval import passages as retrieval_passages
from mtrlib.data.formats.mtrag_retrieval import qrels
from mtrlib.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:the reader of mtrag")
U, A = "user", "agent"


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return path


def say(*texts: str) -> list[dict[str, str]]:
    return [{"speaker": (U, A)[i % 2], "text": t} for i, t in enumerate(texts)]


def recognised(path: Path) -> list[str]:
    return [f.name for f in FORMATS if f.recognises(path)]


TASK = {
    "conversation_id": "c0",
    "task_id": "c0<::>2",
    "task_type": "rag",
    "turn": "2",
    "contexts": [
        {"document_id": "7-0-9-0-9", "text": "A lamp.", "title": "Lamps"},
        {"document_id": "8-0-9", "text": "A lamp."},
    ],
    "input": say("Lamps?", "Some.", " how bright"),
    "targets": [{"speaker": "agent", "text": " Very. "}],
    "answerability": ["PARTIAL"],
    "Question Type": ["Keyword", "Opinion"],
    "Multi-Turn": ["N/A"],
    "Validity": float("nan"),
}


def test_tasks_keep_ids_words_and_labels(tmp_path: Path):
    other = TASK | {"task_id": "c0::3", "turn": 3, "contexts": [], "targets": []}
    path = lines(tmp_path / "reference.jsonl", TASK, other)
    first, second = (c.turns[0] for c in task_conversations(path))
    assert (first.query_id, first.turn_number, second.query_id) == ("c0<::>2", 2, "c0::3")
    assert (first.raw_utterance, first.answer) == (" how bright", " Very. ")
    assert [(u.role, u.text) for u in first.history] == [(U, "Lamps?"), (A, "Some.")]
    assert (first.gold, second.gold, second.answer) == (("7-0-9-0-9", "8-0-9"), (), None)
    assert first.labels == ("PARTIAL", "Keyword", "Opinion")
    assert first.source == "reference.jsonl:1"
    assert recognised(path) == ["mtrag-tasks"]


def test_one_text_under_two_ids_is_two_passages(tmp_path: Path):
    path = lines(tmp_path / "reference.jsonl", TASK, TASK | {"task_id": "c0<::>3"})
    found = list(task_passages(path))
    assert [(p.passage_id, p.title, p.text) for p in found] == [
        ("7-0-9-0-9", "Lamps", "A lamp."),
        ("8-0-9", "", "A lamp."),
    ]
    changed = TASK | {"contexts": [TASK["contexts"][0] | {"text": "Other."}]}  # type: ignore[index]
    with pytest.raises(InputError, match=r"r\.jsonl:2: passage 7-0-9-0-9 has two texts"):
        list(task_passages(lines(tmp_path / "r.jsonl", TASK, changed)))


def test_retrieved_contexts_are_no_gold(tmp_path: Path):
    path = lines(tmp_path / "RAG.jsonl", TASK)
    assert [c.turns[0].gold for c in task_conversations(path)] == [()]
    marked = [{"document_id": "a", "text": "x", "reference": True}]
    marked.append({"document_id": "b", "text": "y", "reference": False})
    path = lines(tmp_path / "reference+RAG.jsonl", TASK | {"contexts": marked})
    assert [c.turns[0].gold for c in task_conversations(path)] == [("a",)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"input": say("Q", "A")}, "does not end with the user"),
        ({"input": [*say("Q"), {"speaker": "robot", "text": "x"}, *say("Q")]}, "role 'robot'"),
        ({"turn": "two"}, "turn is 'two'"),
        ({"contexts": [{"id": "x"}]}, "no field 'document_id'"),
        ({"task_id": 1.0}, "which is no id"),
        ({"input": "Q"}, "not a list of objects"),
    ],
)
def test_wrong_tasks(tmp_path: Path, change: dict[str, Any], message: str):
    with pytest.raises(InputError, match=message):
        list(task_conversations(lines(tmp_path / "t.jsonl", TASK | change)))


def retrieval_files(folder: Path, domain: str = "govt", nested: bool = False) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    rows = {
        "lastturn": ["|user|: and\nthen?", "|user|: Tax?"],
        "questions": ["|user|: Tax?\n|user|: and\nthen?", "|user|: Tax?"],
        "rewrite": ["|user|: and after tax?", "|user|: Tax?"],
    }
    for kind, texts in rows.items():
        pairs = zip(("h<::>2", "h<::>1"), texts, strict=True)
        lines(folder / f"{domain}_{kind}.jsonl", *({"_id": i, "text": t} for i, t in pairs))
    judged = folder / "qrels" / "dev.tsv" if nested else folder / f"{domain}_qrels.tsv"
    judged.parent.mkdir(exist_ok=True)
    judged.write_text("query-id\tcorpus-id\tscore\nh<::>2\tg-1-2\t1\nh<::>2\tg-3-4\t0\n")
    return folder


def test_retrieval_tasks_join_their_three_files(tmp_path: Path):
    folder = retrieval_files(tmp_path / "pack")
    lines(folder / "corpus.jsonl", {"id": "g-1-2", "text": "On tax."})
    first, second = (c.turns[0] for c in retrieval(folder))
    assert (first.query_id, first.turn_number, first.gold) == ("h<::>2", 2, ("g-1-2",))
    assert (first.raw_utterance, first.rewrite) == ("and\nthen?", "and after tax?")
    assert [(u.role, u.text) for u in first.history] == [(U, "Tax?")]
    assert (second.gold, second.history, second.labels) == ((), (), ("govt",))
    assert qrels(folder).grades("h<::>2") == {"g-1-2": 1, "g-3-4": 0}
    assert [p.passage_id for p in retrieval_passages(folder)] == ["g-1-2"]
    assert recognised(folder) == ["mtrag-retrieval"]


def test_retrieval_tasks_of_the_official_folder_and_of_one_file(tmp_path: Path):
    folder = retrieval_files(tmp_path / "retrieval_tasks" / "govt", nested=True)
    assert [c.turns[0].gold for c in retrieval(folder.parent)] == [("g-1-2",), ()]
    assert len(list(retrieval(folder / "govt_rewrite.jsonl"))) == 2
    assert recognised(folder.parent) == ["mtrag-retrieval"]
    assert recognised(folder / "govt_lastturn.jsonl") == ["mtrag-retrieval"]
    retrieval_files(tmp_path / "packs" / "other")  # <domain>/<domain>_lastturn.jsonl only
    assert recognised(tmp_path / "packs") == []


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("govt_lastturn.jsonl", "and then?", r"govt_lastturn\.jsonl:1: the text of h<::>2"),
        ("govt_questions.jsonl", "|user|: Other", "the last of the questions is not the last turn"),
    ],
)
def test_retrieval_files_that_do_not_fit(tmp_path: Path, name: str, text: str, message: str):
    folder = retrieval_files(tmp_path)
    lines(folder / name, {"_id": "h<::>2", "text": text})
    with pytest.raises(InputError, match=message):
        list(retrieval(folder))


def test_a_folder_without_retrieval_tasks(tmp_path: Path):
    with pytest.raises(InputError, match="no retrieval tasks"):
        list(retrieval(tmp_path))


def context(name: str, **votes: str) -> dict[str, Any]:
    marks = {annotator: {"value": vote, "timestamp": 1} for annotator, vote in votes.items()}
    found: dict[str, Any] = {"document_id": name, "text": f"text of {name}"}
    return found | ({"feedback": {"relevant": marks}} if marks else {})


def conversation() -> dict[str, Any]:
    messages: list[dict[str, Any]] = say("Tax?", "Yes.", "Why?", "So.", "Bye.")  # type: ignore[assignment]
    messages[0]["enrichments"] = {"Answerability": ["ANSWERABLE"], "Multi-Turn": ["N/A"]}
    messages[1]["contexts"] = [
        context("p", zoe="yes", ann="no"),
        context("q", ann="yes"),
        context("r", ann="no"),
        context("s"),
    ]
    messages[3]["contexts"] = [context("q", ann="no")]
    return {"author": "ann", "retriever": {"collection": {"name": "x"}}, "messages": messages}


def test_conversations_keep_annotators_apart(tmp_path: Path):
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([conversation(), conversation()]))
    first, second = conversations(path)
    assert [t.query_id for t in first.turns] == [f"conversations#0_{n}" for n in (1, 2, 3)]
    assert second.conversation_id == "conversations#1"
    one, two, three = first.turns
    assert (one.gold, one.gold_by_annotator) == (("q", "p"), (("q",), ("p",)))
    assert (one.labels, one.answer) == (("ANSWERABLE",), "Yes.")
    assert (two.gold, two.gold_by_annotator) == ((), ((),))
    assert (three.gold, three.gold_by_annotator, three.answer) == ((), (), None)
    assert [u.text for u in three.history] == ["Tax?", "Yes.", "Why?", "So."]
    assert [p.passage_id for p in conversation_passages(path)] == ["p", "q", "r", "s"]
    assert recognised(path) == ["mtrag-conversations"]


def test_conversations_out_of_turn(tmp_path: Path):
    record = conversation()
    del record["messages"][1]
    (tmp_path / "c.json").write_text(json.dumps([record]))
    with pytest.raises(InputError, match=r"c\.json#0/1: 'user' speaks out of turn"):
        list(conversations(tmp_path / "c.json"))


def test_passage_level_corpus(tmp_path: Path):
    row = {"_id": "g-1-2", "id": "g-1-2", "url": "u", "title": "Tax", "text": "Tax\nPay."}
    path = lines(tmp_path / "govt.jsonl", row)
    assert [(p.passage_id, p.title, p.text) for p in corpus_passages(path)] == [
        ("g-1-2", "Tax", "Tax\nPay.")
    ]
    assert recognised(path) == ["mtrag-corpus"]
