"""Readers of conversational sets on the real samples; counts as the pack's README has them."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest
from needed import pack

from mtrlib.data.formats import chatrag_bench, qrecc, quac, topiocqa

MODULES = ["mtr_bench", "chatrag_bench", "qrecc", "topiocqa", "quac", "coqa", "doc2dial"]


@pytest.fixture(scope="module")
def samples(real_data: Path) -> Path:
    return pack(real_data, "format_samples")


def test_quac_two_dialogues_of_twelve_questions(samples: Path):
    path = samples / "allennlp_quac_sample.json"
    found = list(quac.conversations(path))
    turns = [t for c in found for t in c.turns]
    assert (len(found), len(turns)) == (2, 12)
    sections = {p.passage_id: p for p in quac.passages(path)}
    for turn in turns:
        assert turn.answer and turn.gold
        assert turn.answer in sections[turn.gold[0]].text
        assert len(turn.history) == 2 * (turn.turn_number - 1)
    assert not any("CANNOTANSWER" in p.text for p in sections.values())


def test_qrecc_one_record_without_gold(samples: Path):
    (conversation,) = qrecc.conversations(samples / "qrecc_record.json")
    (turn,) = conversation.turns
    assert (turn.query_id, turn.gold, turn.history, turn.labels) == ("1_1", (), (), ("trec",))
    assert turn.rewrite == turn.raw_utterance
    assert turn.answer


def test_topiocqa_one_bare_record(samples: Path):
    (conversation,) = topiocqa.conversations(samples / "topiocqa_record.json")
    (turn,) = conversation.turns
    assert (turn.query_id, turn.gold) == ("1_2", ("wiki:14979882",))
    assert [u.role for u in turn.history] == ["user", "agent"]


@pytest.mark.filterwarnings("ignore:the reader of chatrag-bench")
def test_chatrag_one_record(samples: Path):
    path = samples / "chatrag_bench_record.json"
    (conversation,) = chatrag_bench.conversations(path)
    (turn,) = conversation.turns
    (record,) = json.loads(path.read_text(encoding="utf-8"))
    assert (turn.query_id, turn.gold, turn.scope) == ("1_2", ("wiki_1",), "wiki")
    assert turn.raw_utterance == record["messages"][-1]["content"]


def test_no_file_of_another_set_is_claimed(real_data: Path):
    expected = {
        "format_samples/allennlp_quac_sample.json": ["quac"],
        "format_samples/qrecc_record.json": ["qrecc"],
        "format_samples/topiocqa_record.json": ["topiocqa"],
        "format_samples/chatrag_bench_record.json": ["chatrag-bench"],
    }
    found: dict[str, list[str]] = {}
    for path in [real_data, *sorted(real_data.rglob("*"))]:
        for module in MODULES:
            for each in importlib.import_module(f"mtrlib.data.formats.{module}").FORMATS:
                if each.recognises(path):
                    name = path.relative_to(real_data).as_posix()
                    found.setdefault(name, []).append(each.name)
    assert found == {n: f for n, f in expected.items() if (real_data / n).is_file()}
