"""Exports are read back by the readers of the published formats, and never half written."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from mtrlib.data.assemble import as_benchmark, read_parts
from mtrlib.data.formats import mtr_bench, recognise
from mtrlib.data.formats.beir import read_beir
from mtrlib.data.formats.conversational import read_conversational
from mtrlib.data.schema import Passage
from mtrlib.errors import InputError
from mtrlib.synthesis.drafts import DraftConversation, DraftTurn, as_conversation
from mtrlib.synthesis.export import export_beir, export_plain
from mtrlib.synthesis.export_mtr_bench import export_mtr_bench

pytestmark = [
    pytest.mark.filterwarnings("ignore:the reader of mtr-bench"),
    pytest.mark.filterwarnings("ignore:.*passages stood in the files twice"),
]

PASSAGES = (
    Passage("9__0", "The lake is 40 m deep.", "Long Lake", ("Depth",), document="9"),
    Passage("9__1", "Trout live in it.\nPike too.", "Long Lake"),
    Passage("0012", "青海湖是中国最大的内陆咸水湖。", "青海湖", ("地理", "面积")),
    Passage("zh 2", "湖中有鸟岛\u2028与三块石。", "青海湖"),
    Passage("unused", "Nobody asks about this.", "Elsewhere"),
)
CLUSTERS = {"k7": ["9__0", "9__1"], "湖": ["0012", "zh 2"]}


def turn(name: str, question: str, gold: str, answer: str, **more) -> DraftTurn:
    return DraftTurn(name, question, tuple(gold.split(",")), answer, **more)


ENGLISH = DraftConversation(
    "lake",
    ("k7",),
    (
        turn("lake_1", "How deep is Long Lake?", "9__0", 'It is "40 m" deep.'),
        turn("lake_3", "and which fish?", "9__1,9__0", "Trout\nand pike.", standalone="Which fish?",
             self_contained=False, labels=("context_dependent",)),
    ),
)  # fmt: skip
CHINESE = DraftConversation(
    "湖-1",
    ("湖", "k7"),
    (
        turn("湖-1_1", "青海湖是什么样的湖？", "0012", "中国最大的内陆咸水湖。"),
        turn("湖-1_2", "那里有什么岛？", "zh 2,0012", "鸟岛与三块石。😀", standalone="湖中何岛？"),
        turn("湖-1_3", "How deep is Long Lake?", "9__0", "40 m."),
    ),
    switch_turn=3,
)  # fmt: skip
DRAFTS = [ENGLISH, CHINESE]


def text_of(conversations) -> list:
    return [
        [(t.raw_utterance, t.answer, t.history, t.gold) for t in c.turns] for c in conversations
    ]


def test_mtr_bench_round_trip(tmp_path: Path) -> None:
    about = export_mtr_bench(tmp_path / "set", DRAFTS, PASSAGES, CLUSTERS)
    rows = tmp_path / "set" / "rows_test.jsonl"
    assert recognise(rows).name == "mtr-bench"
    assert recognise(tmp_path / "set" / "corpus.jsonl").name == "mtr-bench-corpus"
    corpus = list(mtr_bench.passages(tmp_path / "set" / "corpus.jsonl"))
    assert [(p.text, p.title) for p in corpus] == [(p.text, p.title) for p in PASSAGES]
    assert [p.document for p in corpus][:2] == ["9", "9__1"]
    found = list(mtr_bench.conversations(rows))
    # one gold a row, by position in the corpus; ours are in fields of their own
    row = {p.passage_id: str(at) for at, p in enumerate(PASSAGES)}
    wanted = text_of(map(as_conversation, DRAFTS))
    assert text_of(found) == [
        [(q, a, history, (row[gold[0]],)) for q, a, history, gold in turns] for turns in wanted
    ]
    assert [c.topic_switch_turn for c in found] == [None, 3]
    assert all(t.labels == () for c in found for t in c.turns)  # no history_differs
    assert about["lost"] == ["2 turns have more than one gold passage; a row has the first"]
    assert about["splits"] == {"test": {"conversations": 2, "turns": 5}}


def test_mtr_bench_rows_name_cluster_switch_and_our_ids(tmp_path: Path) -> None:
    export_mtr_bench(tmp_path / "set", DRAFTS, PASSAGES, CLUSTERS)
    lines = (tmp_path / "set" / "rows_test.jsonl").read_bytes().decode("utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line]
    assert [r["cluster_idx"] for r in rows] == [0, 0, 1, 1, 0]
    assert [r["switch_turn"] for r in rows] == [-1, -1, 2, 2, 2]
    assert [r["turn"] for r in rows] == [1, 2, 1, 2, 3]
    assert [c["document_idx"] for c in rows[2]["ctxs"]] == [2, 3]
    assert rows[3]["other_document_idx"] == [2] and rows[3]["turn_id"] == "湖-1_2"
    assert rows[3]["ground_truth_ctx"]["passage_id"] == "zh 2"
    assert "青海湖" in lines[2]  # UTF-8, not escapes


def test_gold_from_outside_its_cluster_joins_the_contexts(tmp_path: Path) -> None:
    odd = dataclasses.replace(ENGLISH, turns=(turn("1", "Q?", "0012", "A."),))
    export_mtr_bench(tmp_path / "set", [odd], PASSAGES, CLUSTERS)
    (row,) = map(json.loads, (tmp_path / "set" / "rows_test.jsonl").read_text("utf-8").splitlines())
    assert [c["document_idx"] for c in row["ctxs"]] == [0, 1, 2]


def test_mtr_bench_folder_makes_a_benchmark(tmp_path: Path) -> None:
    export_mtr_bench(tmp_path / "set", DRAFTS, PASSAGES, CLUSTERS)
    benchmark, _ = as_benchmark("set", read_parts(tmp_path / "set"))
    assert len(benchmark.passages) == len(PASSAGES) and len(benchmark.conversations) == 2
    assert benchmark.dangling == ()


def test_plain_round_trip_keeps_everything(tmp_path: Path) -> None:
    about = export_plain(tmp_path / "set", DRAFTS, PASSAGES)
    assert recognise(tmp_path / "set").name == "plain"
    found = read_conversational(tmp_path / "set")
    unsourced = [
        tuple(dataclasses.replace(t, source="") for t in c.turns) for c in found.conversations
    ]
    assert unsourced == [as_conversation(d).turns for d in DRAFTS]
    kept = [dataclasses.replace(p, document="") for p in PASSAGES]
    assert list(found.passages) == kept
    assert about["files"] == ["corpus.jsonl", "queries.jsonl"] and about["passages"] == 5
    assert json.loads((tmp_path / "set" / "export.json").read_text("utf-8")) == about


def test_beir_round_trip_per_split(tmp_path: Path) -> None:
    split = [dataclasses.replace(ENGLISH, split="train"), CHINESE]
    export_beir(tmp_path / "set", split, PASSAGES)
    assert recognise(tmp_path / "set").name == "beir"
    for name, draft in (("train", ENGLISH), ("test", CHINESE)):
        found = read_beir(tmp_path / "set", name)
        turns = list(found.turns())
        assert [t.query_id for t in turns] == [t.turn_id for t in draft.turns]
        assert [t.raw_utterance for t in turns] == [t.question for t in draft.turns]
        assert [set(t.gold) for t in turns] == [set(t.gold) for t in draft.turns]
        assert [(p.passage_id, p.text) for p in found.passages] == [
            (p.passage_id, p.text) for p in PASSAGES
        ]
    first = (tmp_path / "set" / "qrels" / "train.tsv").read_bytes().decode("utf-8")
    assert first.startswith("query-id\tcorpus-id\tscore\nlake_1\t9__0\t1\n")
    assert sorted(p.name for p in (tmp_path / "set").iterdir()) == [
        "corpus.jsonl", "export.json", "qrels", "queries.jsonl",
    ]  # fmt: skip


def test_folders_that_are_taken_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    export_plain(folder, DRAFTS, PASSAGES)  # empty is fine
    before = (folder / "queries.jsonl").read_bytes()
    with pytest.raises(InputError, match=r"set: not empty.*overwrite=True"):
        export_beir(folder, DRAFTS, PASSAGES)
    assert (folder / "queries.jsonl").read_bytes() == before
    with pytest.raises(InputError, match="a file, not a folder"):
        export_plain(folder / "queries.jsonl", DRAFTS, PASSAGES, overwrite=True)
    assert sorted(tmp_path.iterdir()) == [folder]


def test_overwriting_replaces_an_export_whole_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    export_plain(folder, DRAFTS, PASSAGES)
    export_beir(folder, [ENGLISH], PASSAGES, overwrite=True)
    assert len(list(read_beir(folder).turns())) == 2
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"no export wrote \(notes\.txt"):
        export_plain(folder, DRAFTS, PASSAGES, overwrite=True)
    assert (folder / "notes.txt").read_text() == "mine"
    other = tmp_path / "home"
    (other / "photos").mkdir(parents=True)
    with pytest.raises(InputError, match="no export wrote"):
        export_plain(other, DRAFTS, PASSAGES, overwrite=True)
    assert (other / "photos").is_dir()


def test_a_failed_export_leaves_the_earlier_one_alone(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    export_mtr_bench(folder, DRAFTS, PASSAGES, CLUSTERS)
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    with pytest.raises(InputError, match="cluster '湖' is not among"):  # seen at its row
        export_mtr_bench(folder, DRAFTS, PASSAGES, {"k7": ["9__0"]}, overwrite=True)
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
    assert list(tmp_path.iterdir()) == [folder]


def changed(**fields) -> list[DraftConversation]:
    first = dataclasses.replace(ENGLISH.turns[0], **fields)
    return [dataclasses.replace(ENGLISH, turns=(first, *ENGLISH.turns[1:]))]


@pytest.mark.parametrize(
    ("drafts", "named"),
    [
        (changed(gold=("nowhere",)), "lake, turn lake_1: gold nowhere is not in the corpus"),
        (changed(gold=()), "turn lake_1: no gold"),
        (changed(turn_id="lake_3"), "turn lake_3: this id occurs twice"),
        (changed(question="  "), "turn lake_1: no question"),
        (changed(standalone="half \ud83d"), "half a character"),
        ([ENGLISH, ENGLISH], "conversation lake occurs twice"),
        ([dataclasses.replace(ENGLISH, turns=())], "conversation lake has no turns"),
        ([dataclasses.replace(ENGLISH, split="../up")], r"split '\.\./up' is no file name"),
    ],
)
def test_drafts_that_no_layout_can_carry_are_refused(tmp_path: Path, drafts, named) -> None:
    for export in (export_plain, export_beir):
        with pytest.raises(InputError, match=named):
            export(tmp_path / "set", drafts, PASSAGES)
    with pytest.raises(InputError, match=named):
        export_mtr_bench(tmp_path / "set", drafts, PASSAGES, CLUSTERS)
    assert list(tmp_path.iterdir()) == []


def test_what_one_layout_cannot_carry(tmp_path: Path) -> None:
    for answer in ("", "[ERROR: generation failed] timeout"):
        with pytest.raises(InputError, match="turn lake_1: no answer"):
            export_mtr_bench(tmp_path / "set", changed(answer=answer), PASSAGES, CLUSTERS)
    with pytest.raises(InputError, match="cannot stand in a table"):
        export_beir(tmp_path / "set", changed(turn_id="a\tb"), PASSAGES)
    with pytest.raises(InputError, match="cluster k7: passage lost is not in the corpus"):
        export_mtr_bench(tmp_path / "set", [ENGLISH], PASSAGES, {"k7": ["lost"]})
    with pytest.raises(InputError, match="passage ids repeat"):
        export_plain(tmp_path / "set", DRAFTS, (*PASSAGES, PASSAGES[0]))
