"""Files of any layout, with and without a map."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtrlib.data.formats.column_map import (
    FORMAT,
    gold_groups,
    read_conversations,
    read_passages,
)
from mtrlib.data.schema import Turn
from mtrlib.errors import InputError


def jsonl(folder: Path, *records: dict[str, Any], name: str = "q.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records))
    return path


def turn(folder: Path, record: dict[str, Any], **columns: Any) -> Turn:
    path = jsonl(folder, {"gold": []} | record)
    ((found,),) = (c.turns for c in read_conversations(path, columns or None))
    return found


@pytest.mark.parametrize("name", ["query", "question", "user_input", "query_text", "Question"])
@pytest.mark.parametrize(
    "gold",
    [
        "relevant_doc_ids", "expected_doc_ids", "expected_docs", "gold_doc_ids",
        "reference_document_ids", "reference_doc_ids", "retrieval_gt", "Truth_passages",
        "golden_docs_pids",
    ],
)  # fmt: skip
def test_names_in_use_are_recognised(tmp_path: Path, name: str, gold: str):
    path = jsonl(tmp_path, {"id": 7, name: "How warm?", gold: ["a", 12, "a"]})
    ((found,),) = (c.turns for c in read_conversations(path))
    assert (found.query_id, found.conversation_id, found.turn_number) == ("7", "7", 1)
    assert found.raw_utterance == "How warm?"
    assert found.gold == ("a", "12")
    assert found.source == "q.jsonl:1"


@pytest.mark.parametrize("name", ["ground_truth_contexts", "reference_contexts", "gold_passages"])
def test_gold_as_text(tmp_path: Path, name: str):
    found = turn(tmp_path, {"query": "How warm?", name: ["It is 20 degrees.", "Warm."]})
    assert found.gold == ()
    assert found.gold_texts == ("It is 20 degrees.", "Warm.")


@pytest.mark.parametrize(
    ("value", "gold"),
    [
        ('["d1", "d2"]', ("d1", "d2")),
        ("['d1', 'it''s']", None),
        ("['d1', \"it's\"]", ("d1", "it's")),
        ("[]", ()),
        ("", ()),
        ("d1", ("d1",)),
        ("[1] a note", ("[1] a note",)),
        ("['d1' 'd2']", None),
        ("['d1', 'd2'", None),
        ("[open('x').read()]", None),
        ("[d1]", None),
        ("[7.0]", None),
    ],
)
def test_lists_stored_as_text(tmp_path: Path, value: str, gold: tuple[str, ...] | None):
    path = jsonl(tmp_path, {"query": "?", "gold": value})
    if gold is None:
        with pytest.raises(InputError, match=r"q\.jsonl:1: gold "):
            list(read_conversations(path))
    else:
        ((found,),) = (c.turns for c in read_conversations(path))
        assert found.gold == gold


def test_and_or_gold(tmp_path: Path):
    found = turn(tmp_path, {"query": "?", "gold": [["a", "b"], ["c"], []]})
    assert found.gold == ("a", "b", "c")
    assert gold_groups(found) == (("a", "b"), ("c",))
    flat = turn(tmp_path, {"query": "?", "gold": ["a", "b"]})
    assert gold_groups(flat) == (("a",), ("b",))
    with pytest.raises(InputError, match="mixes ids and lists"):
        turn(tmp_path, {"query": "?", "gold": [["a"], "b"]})


def test_gold_as_objects(tmp_path: Path):
    items = [{"doc_id": "kb", "page": 30, "title": "T"}, {"docid": 4, "passage_id": "p"}]
    found = turn(tmp_path, {"query": "?", "gold": items})
    assert found.gold == ("kb", "p")
    assert found.labels == ('gold:kb {"page": 30}', 'gold:p {"docid": 4}')
    assert turn(tmp_path, {"query": "?", "gold": [{"text": "Yes."}]}).gold_texts == ("Yes.",)
    with pytest.raises(InputError, match=r"an object without id or text \(page\)"):
        turn(tmp_path, {"query": "?", "gold": [{"page": 3}]})


@pytest.mark.parametrize(
    ("role", "text", "user", "agent"),
    [
        ("role", "content", "user", "assistant"),
        ("from", "value", "human", "gpt"),
        ("speaker", "text", "user", "agent"),
        ("participant", "utterance", "User", "SYSTEM_RESPONSE"),
    ],
)
def test_messages_in_all_schemas(tmp_path: Path, role: str, text: str, user: str, agent: str):
    messages = [{role: user, text: "Hi"}, {role: agent, text: "Yes?"}, {role: user, text: "And?"}]
    found = turn(tmp_path, {"messages": messages})
    assert [(u.role, u.text) for u in found.history] == [("user", "Hi"), ("agent", "Yes?")]
    assert (found.raw_utterance, found.turn_number, found.answer) == ("And?", 2, None)


def test_roles_out_of_order(tmp_path: Path):
    messages = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "One"},
        {"role": "user", "content": "Two"},
        {"role": "assistant", "content": " "},
        {"role": "user", "content": "Three"},
        {"role": "assistant", "content": "A"},
        {"role": "assistant", "content": "B"},
    ]
    found = turn(tmp_path, {"conversation_id": "c", "messages": messages})
    assert [(u.role, u.text) for u in found.history] == [("user", "One\nTwo")]
    assert (found.raw_utterance, found.answer) == ("Three", "A\nB")
    assert found.query_id == "c_2"
    with pytest.raises(InputError, match="no question"):
        turn(tmp_path, {"messages": messages[-1:]})
    with pytest.raises(InputError, match="role 'bard' is unknown"):
        turn(tmp_path, {"messages": [{"role": "bard", "content": "x"}]})


def test_history_beside_a_question(tmp_path: Path):
    found = turn(tmp_path, {"query": "And?", "history": ["Hi", "Yes?"]})
    assert [u.role for u in found.history] == ["user", "agent"]
    repeated = [{"role": "user", "content": "Hi"}, {"role": "user", "content": "And?"}]
    found = turn(tmp_path, {"query": "And?", "history": repeated})
    assert [u.text for u in found.history] == ["Hi"]
    with pytest.raises(InputError, match="a user's without a reply"):
        turn(tmp_path, {"query": "And?", "history": ["Hi"]})
    with pytest.raises(InputError, match="mixes texts and objects"):
        turn(tmp_path, {"query": "And?", "history": ["Hi", {"role": "user"}]})


@pytest.mark.parametrize("name", ["context", "input"])
def test_passages_are_no_history(tmp_path: Path, name: str):
    assert turn(tmp_path, {"query": "And?", name: ["A passage."]}).history == ()
    assert turn(tmp_path, {"query": "And?", name: [{"title": "A", "text": "B"}]}).history == ()
    spoken = [{"speaker": "user", "text": "Hi"}, {"speaker": "agent", "text": "Yes?"}]
    assert len(turn(tmp_path, {"query": "And?", name: spoken}).history) == 2


@pytest.mark.parametrize(
    "flag",
    [
        {"should_refuse": True},
        {"expected_empty": "true"},
        {"is_unanswerable": 1},
        {"metric_eligible": False},
        {"should_refuse": False, "expected_empty": True},
    ],
)
def test_refusals(tmp_path: Path, flag: dict[str, Any]):
    assert turn(tmp_path, {"query": "?"} | flag).labels == ("unanswerable",)
    with pytest.raises(InputError, match="and yet it has gold"):
        turn(tmp_path, {"query": "?", "gold": ["a"]} | flag)


def test_flags_that_say_nothing_and_outcomes(tmp_path: Path):
    record = {"query": "?", "should_refuse": False, "metric_eligible": None, "gold": ["a"]}
    assert turn(tmp_path, record).labels == ()
    found = turn(tmp_path, {"query": "?", "expected_outcome": "clarify"})
    assert found.labels == ("expected_outcome:clarify",)
    with pytest.raises(InputError, match="should_refuse is 'maybe'"):
        turn(tmp_path, {"query": "?", "should_refuse": "maybe"})
    record = {"query": "?", "should_refuse": True, "gold": ["a"]}
    assert turn(tmp_path, record, refusal=None, gold="gold").gold == ("a",)


@pytest.mark.parametrize(
    ("record", "answer"),
    [
        ({"ground_truth": "A", "answer": "what a system said"}, "A"),
        ({"answer": "B"}, "B"),
        ({"answers": ["", "C", "D"]}, "C"),
        ({"标准答案": "丙"}, "丙"),
        ({"reference": 3}, "3"),
        ({"reference": "[see page 3]"}, "[see page 3]"),
        ({"answers": [{"text": "E", "answer_start": 3}]}, "E"),
        ({"answer": ""}, None),
    ],
)
def test_answers(tmp_path: Path, record: dict[str, Any], answer: str | None):
    assert turn(tmp_path, {"query": "?"} | record).answer == answer


def test_two_fields_that_disagree(tmp_path: Path):
    with pytest.raises(InputError, match="both query and question could be the query"):
        turn(tmp_path, {"query": "a?", "question": "b?"})
    assert turn(tmp_path, {"query": "a?", "question": "a?"}).raw_utterance == "a?"
    found = turn(tmp_path, {"query": "a?", "expected_docs": ["d"], "gold_doc_ids": []})
    assert found.gold == ("d",)
    found = turn(tmp_path, {"query": "a?", "question": "b?"}, query="question")
    assert found.raw_utterance == "b?"


def test_rows_of_one_conversation(tmp_path: Path):
    path = tmp_path / "q.csv"
    path.write_text("conversation_id,turn,query,gold\nc,2,And?,d2\nc,1,Hi,d1\ne,,Bye,\n")
    first, second = read_conversations(path)
    assert [(t.query_id, t.gold) for t in first.turns] == [("c_1", ("d1",)), ("c_2", ("d2",))]
    assert [(t.query_id, t.gold) for t in second.turns] == [("e_1", ())]
    path.write_text("conversation_id,query,gold\nc,One,\ne,Two,\nc,Three,\n")
    with pytest.raises(InputError, match=r"q\.csv:4: conversation or query c occurs again"):
        list(read_conversations(path))


def test_repeated_and_missing_ids(tmp_path: Path):
    same = {"query": "?", "gold": []}
    path = jsonl(tmp_path, {"id": 1} | same, {"id": "1"} | same)
    with pytest.raises(InputError, match=r"q\.jsonl:2: conversation or query 1 occurs again"):
        list(read_conversations(path))
    made = [c.turns[0].query_id for c in read_conversations(jsonl(tmp_path, same, same))]
    assert made == ["1_1", "2_1"]


def test_no_field_of_gold_is_warned_of(tmp_path: Path):
    path = jsonl(tmp_path, {"question": "?", "contexts": ["a", "b"]})
    with pytest.warns(UserWarning, match="no field of gold was recognised .*contexts"):
        ((found,),) = (c.turns for c in read_conversations(path))
    assert found.gold == found.gold_texts == ()


MAP = """
queries:
  file: fragen.csv
  encoding: gb18030
  delimiter: ";"
  split: "|"
  query_id: Nr
  query: [Frage, Text]
  gold: Belege
  answer: null
passages:
  file: corpus.tsv
  columns: [name, body]
  passage_id: "#"
  text: body
  title: name
"""


def test_a_map_in_the_folder(tmp_path: Path):
    (tmp_path / "columns.yaml").write_text(MAP)
    rows = "Nr;Frage;Belege;answer\n007;怎么限流;0|1;x\n8;几点;;y\n"
    (tmp_path / "fragen.csv").write_bytes(rows.encode("gb18030"))
    (tmp_path / "corpus.tsv").write_text("None\tFirst\n\tSecond\n")
    first, second = (c.turns[0] for c in read_conversations(tmp_path))
    assert (first.query_id, first.raw_utterance, first.gold) == ("007", "怎么限流", ("0", "1"))
    assert first.answer is None
    assert second.gold == ()
    found = list(read_passages(tmp_path))
    assert [(p.passage_id, p.title, p.text) for p in found] == [
        ("0", "None", "First"),
        ("1", "", "Second"),
    ]
    assert next(read_conversations(tmp_path / "fragen.csv")).turns[0] == first
    assert FORMAT.recognises(tmp_path)
    assert FORMAT.recognises(tmp_path / "fragen.csv")
    other = jsonl(tmp_path, {"query": "?", "gold": "d"})  # the map is not about this file
    assert next(read_conversations(other)).turns[0].gold == ("d",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("queries: {file: q.jsonl, queryy: a}", "unknown field 'queryy'"),
        ("queries: {file: q.jsonl, query: 3}", "query is 3"),
        ("queries: {file: q.jsonl, query: frage}", r"no field frage \(has query\)"),
        ("queries: {file: q.jsonl, encoding: gbk}", "JSON is UTF-8"),
        ("queries: {query: a}", "no file of queries is named"),
        ("fragen: {query: a}", "two parts, queries and passages"),
        ("- a", "two parts"),
        ("a: [", "not YAML"),
    ],
)
def test_maps_that_are_wrong(tmp_path: Path, text: str, message: str):
    (tmp_path / "columns.yaml").write_text(text)
    jsonl(tmp_path, {"query": "?"})
    with pytest.raises(InputError, match=message):
        list(read_conversations(tmp_path))


def test_a_dot_goes_one_level_down(tmp_path: Path):
    record = {"query": "?", "meta": {"docs": ["a"]}, "a.b": "flat"}
    assert turn(tmp_path, record, gold="meta.docs", answer="a.b").gold == ("a",)


def test_semicolons_without_a_map(tmp_path: Path):
    path = tmp_path / "q.csv"
    path.write_text("id;query\n1;?\n")
    with pytest.raises(InputError, match='say `delimiter: ";"`'):
        list(read_conversations(path))


@pytest.mark.parametrize("id_name", ["id", "_id", "doc_id", "docid", "document_id", "pid"])
@pytest.mark.parametrize("text", ["text", "content", "contents", "passage_text", "page_content"])
def test_passages(tmp_path: Path, id_name: str, text: str):
    path = jsonl(tmp_path, {id_name: 12, text: " A &amp; B\u200b", "title": None})
    (found,) = read_passages(path)
    assert (found.passage_id, found.text, found.title) == ("12", " A &amp; B\u200b", "")
    assert found.source == "q.jsonl:1"
    assert FORMAT.recognises(path)


def test_empty_and_missing_texts(tmp_path: Path):
    path = jsonl(tmp_path, {"id": "a", "text": ""}, {"id": "b", "text": "  "})
    assert [p.text.strip() for p in read_passages(path)] == ["", ""]
    with pytest.raises(InputError, match=r"q\.jsonl:1: no text \(has id, txet\)"):
        list(read_passages(jsonl(tmp_path, {"id": "a", "txet": "x"})))
    with pytest.raises(InputError, match=r'no passage_id .*"#" to number'):
        list(read_passages(jsonl(tmp_path, {"text": "x"})))
    with pytest.raises(InputError, match=r"id is 7\.0, which is no id"):
        list(read_passages(jsonl(tmp_path, {"id": 7.0, "text": "x"})))
    with pytest.raises(InputError, match="text is list, expected text"):
        list(read_passages(jsonl(tmp_path, {"id": "a", "text": ["x"]})))


def test_an_lfs_pointer_is_claimed_and_named(tmp_path: Path):
    path = tmp_path / "corpus.tsv"
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    assert FORMAT.recognises(path)
    with pytest.raises(InputError, match=r"corpus\.tsv:1: a Git LFS pointer"):
        list(read_passages(path))


def test_what_is_not_recognised(tmp_path: Path):
    (tmp_path / "a.txt").write_text("query")
    (tmp_path / "b.json").write_text('{"weights": [1]}')
    (tmp_path / "c.csv").write_text("")
    assert not any(FORMAT.recognises(tmp_path / n) for n in ("a.txt", "b.json", "c.csv"))
    assert not FORMAT.recognises(tmp_path)
    assert not FORMAT.recognises(tmp_path / "absent.json")
