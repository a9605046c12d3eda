"""QAMPARI: questions, contexts, chunks, demonstrations; every defect the set is known for."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats import qampari, qampari_chunks, qampari_demos
from mtrlib.data.tasks import Answer, ListQuestion
from mtrlib.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:the reader of:UserWarning")


def answer(qid: str, number: int, text: str, *aliases: str) -> dict[str, Any]:
    aid = f"{qid}__{number}"
    proof = {
        "pid": f"{aid}__0",
        "proof_text": f"On {text}.",
        "found_in_url": "https://x.org/wiki/Y",
    }
    return {
        "aid": aid,
        "answer_text": text,
        "aliases": [text, *aliases],
        "answer_url": None,
        "proof": [proof],
    }


def record(qid: str, question: str, *answers: dict[str, Any]) -> dict[str, Any]:
    return {"qid": qid, "question_text": question, "entities": [], "answer_list": list(answers)}


QID = "7__wikitables_simple__dev"
ROWS = [
    record(
        QID,
        " Which ferries did Orla Finn build? ",
        answer(QID, 0, "Tern, the Second", "Tern II", " "),
        answer(QID, 1, "Plover"),
        answer(QID, 2, "Plover"),
    ),
    record("8__wikidata_comp__dev", "", answer("8__wikidata_comp__dev", 0, "A")),
    record("9__wikidata_intersection__dev", "Which  ferries did ORLA FINN build"),
]


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    data = "".join(json.dumps(r) + "\n" for r in rows).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("name", ["dev_data.jsonl", "dev_data.jsonl.gz"])
def test_questions(tmp_path: Path, name: str):
    path = lines(tmp_path / name, ROWS)
    assert qampari.FORMAT.recognises(path)
    assert not qampari.FORMAT_CONTEXTS.recognises(path)
    with pytest.warns(UserWarning, match=rf"1 questions are empty and left out, first {name}:2"):
        first, last = qampari.read_questions(path)
    assert first == ListQuestion(
        QID,
        "Which ferries did Orla Finn build?",
        (Answer("Tern, the Second", ("Tern II",)), Answer("Plover"), Answer("Plover")),
        split="dev",
        kind="wikitables_simple",
        source=f"{name}:1",
    )
    assert (last.kind, last.answers) == ("wikidata_intersection", ())


CONTEXTS = {
    "positive_ctxs": [
        {"chunk_id": "5__0", "pid": f"{QID}__0__0", "title": "Orla Finn ", "text": "Tern."},
        {"chunk_id": "5__1", "pid": f"{QID}__1__0", "title": "None", "text": "Plover."},
        {"chunk_id": "5__1", "pid": f"{QID}__2__0", "title": "None", "text": "Plover."},
    ],
    "ctxs": [
        {"id": "5__1", "title": "None", "text": "Plover.", "score": 3.5},
        {"id": "6__0", "title": "Rafts", "text": "Logs.", "score": 1.0},
    ],
}


def test_contexts_tie_chunks_to_answers_and_repeated_gold_counts_once(tmp_path: Path):
    path = tmp_path / "dev_with_contexts.json"
    path.write_text(json.dumps([ROWS[0] | CONTEXTS]))
    assert qampari.FORMAT_CONTEXTS.recognises(path)
    assert not qampari.FORMAT.recognises(path)
    (question,) = qampari.read_questions(path)
    assert question.gold == ("5__0", "5__1")
    assert [a.passages for a in question.answers] == [("5__0",), ("5__1",), ("5__1",)]
    passages = list(qampari.read_contexts(path))
    assert [(p.passage_id, p.title) for p in passages] == [
        ("5__0", "Orla Finn"),
        ("5__1", "None"),
        ("6__0", "Rafts"),
    ]
    assert passages[0].source == "dev_with_contexts.json#0"


def test_contexts_in_lines_have_gold_but_no_proofs_to_answers(tmp_path: Path):
    row = {
        "id": QID,
        "question": "Which ferries?",
        "answers": ["Tern", "Tern II", "Plover"],
        "ans_mappings": {"Tern": ["Tern II", "Tern"], "Plover": ["Plover"]},
    }
    path = lines(tmp_path / "train.jsonl", [row | CONTEXTS])
    assert qampari.FORMAT_CONTEXTS.recognises(path)
    (question,) = qampari.read_questions(path)
    assert question.answers == (Answer("Tern", ("Tern II",)), Answer("Plover"))
    assert question.gold == ("5__0", "5__1")


def test_a_chunk_with_two_texts_is_refused(tmp_path: Path):
    changed = json.loads(json.dumps(ROWS[0] | CONTEXTS))
    changed["ctxs"][0]["text"] = "Another."
    with pytest.raises(InputError, match=r"train\.jsonl:1: chunk 5__1 has two texts"):
        list(qampari.read_contexts(lines(tmp_path / "train.jsonl", [changed])))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"qid": None}, "qid is None, which is no id"),
        ({"qid": 1.5}, "qid is 1.5, which is no id"),
        ({"question_text": 3}, "question_text is int, expected str or NoneType"),
        ({"answer_list": {"a": 1}}, "answer_list is no list of dict"),
        ({"answer_list": [{"answer_text": ""}]}, "an answer without any text"),
        ({"answer_list": [{"answer_text": 2.5}]}, "answer 2.5 is no text"),
        ({"positive_ctxs": [{"pid": "p"}]}, "no field 'chunk_id'"),
    ],
)
def test_question_errors(tmp_path: Path, change: dict[str, Any], message: str):
    path = lines(tmp_path / "dev_data.jsonl", [ROWS[0] | change])
    with pytest.raises(InputError, match=rf"dev_data\.jsonl:1: .*{message}"):
        list(qampari.read_questions(path))


def test_a_question_without_an_answer_field_is_refused(tmp_path: Path):
    row = {"qid": QID, "question_text": "Which?"}
    with pytest.raises(InputError, match="neither answer_list nor ans_mappings"):
        list(qampari.read_questions(lines(tmp_path / "dev_data.jsonl", [row])))


def chunk(name: str, title: str, **change: Any) -> dict[str, Any]:
    meta = {"title": title, "page_id": "0042", "chunk_id": name, "content": "Some words."}
    return {"id": name, "contents": f"{title} Some words.", "meta": meta | change}


def test_chunks_stream_from_files_and_folders(tmp_path: Path):
    lines(
        tmp_path / "wikipedia_chunks_0.jsonl.gz",
        [chunk("0042__0", "N/A"), chunk("0042__1", "None")],
    )
    lines(tmp_path / "wikipedia_chunks_1.jsonl", [chunk("7e2__0", " A  Lake ")])
    assert qampari_chunks.FORMAT.recognises(tmp_path)
    (tmp_path / "other.jsonl").write_text("no chunk\n")
    assert not qampari_chunks.FORMAT.recognises(tmp_path)  # questions beside it are read as well
    assert qampari_chunks.FORMAT.recognises(tmp_path / "wikipedia_chunks_0.jsonl.gz")
    first, second, third = qampari_chunks.read_chunks(tmp_path)
    assert (first.passage_id, first.title, first.text) == ("0042__0", "N/A", "Some words.")
    assert (first.document, first.source) == ("0042", "wikipedia_chunks_0.jsonl.gz:1")
    assert (second.title, third.passage_id, third.title) == ("None", "7e2__0", "A Lake")


def test_chunks_are_yielded_before_the_file_is_read_to_its_end(tmp_path: Path):
    path = lines(tmp_path / "wikipedia_chunks_0.jsonl", [chunk("1__0", "A")])
    path.write_text(path.read_text() + '{"id": "1__1", "con')
    passages = qampari_chunks.read_chunks(path)
    assert next(passages).passage_id == "1__0"
    with pytest.raises(InputError, match=r"wikipedia_chunks_0\.jsonl:2: not JSON"):
        next(passages)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"content": None}, "content is NoneType, expected str"),
        ({"chunk_id": "other"}, "id 1__0 but chunk_id 'other'"),
        ({"page_id": 1.0}, "page_id is 1.0, which is no id"),
    ],
)
def test_chunk_errors(tmp_path: Path, change: dict[str, Any], message: str):
    path = lines(tmp_path / "wikipedia_chunks_0.jsonl", [chunk("1__0", "A", **change)])
    with pytest.raises(InputError, match=message):
        list(qampari_chunks.read_chunks(path))


def test_a_folder_without_chunks(tmp_path: Path):
    assert not qampari_chunks.FORMAT.recognises(tmp_path)
    with pytest.raises(InputError, match="no files wikipedia_chunks"):
        list(qampari_chunks.read_chunks(tmp_path))


def demos(path: Path, answer_text: str) -> Path:
    docs = [{"title": "Weaver (film) ", "text": "Loom."}, {"title": "N/A", "text": "Shuttle."}]
    demo = {"question": "Which looms?", "answer": answer_text, "docs": docs}
    path.write_text(json.dumps({"instruction": "x", "demo_sep": "\n", "demos": [demo]}, indent=1))
    return path


def test_demonstrations_keep_commas_and_repeated_answers(tmp_path: Path):
    path = demos(tmp_path / "d.json", "Rose, the Loom [1], 2006 [2], 2006 [1][2].")
    assert qampari_demos.FORMAT.recognises(path)
    (question,) = qampari_demos.read_questions(path)
    assert question.question_id == "d_0"
    assert question.answers == (
        Answer("Rose, the Loom", (), ("d_0_1",)),
        Answer("2006", (), ("d_0_2",)),
        Answer("2006", (), ("d_0_1", "d_0_2")),
    )
    assert question.gold == ("d_0_1", "d_0_2")
    passages = list(qampari_demos.read_passages(path))
    assert [(p.passage_id, p.title) for p in passages] == [
        ("d_0_1", "Weaver (film)"),
        ("d_0_2", "N/A"),
    ]


@pytest.mark.parametrize("answer_text", ["Rose [3].", "Rose [0].", "Rose", "Rose [1]. Then more."])
def test_demonstration_errors(tmp_path: Path, answer_text: str):
    path = demos(tmp_path / "d.json", answer_text)
    with pytest.raises(InputError, match=r"d\.json#0: cannot read the answer at"):
        list(qampari_demos.read_questions(path))


def test_prose_demonstrations_are_not_taken_for_lists(tmp_path: Path):
    path = demos(tmp_path / "d.json", "The loom came first [1][2]. The shuttle, later [2], won.")
    assert not qampari_demos.FORMAT.recognises(path)
