"""Rated sets from files: small made-up packs in the layouts of the real ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mtrlib import paths, profiles
from mtrlib.audit.items import AuditItem, ItemSet
from mtrlib.audit.judging import Task
from mtrlib.audit.simple_judges import LexicalJudge
from mtrlib.data.schema import Passage
from mtrlib.errors import InputError
from mtrlib.reporting import real_results, real_sets, real_validation
from mtrlib.reporting.real_comparison import compared
from mtrlib.reporting.real_sets import Rated, verdicts


def _write(path: Path, *records: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")


@pytest.fixture
def mtrag(tmp_path: Path) -> Path:
    folder = tmp_path / "mtrag_human"
    _write(
        folder / "corpus.jsonl",
        {"id": "p1", "text": "A red kite nests in oaks."},
        {"id": "p2", "text": "Kites eat carrion."},
    )
    task = {"query": "Where do kites nest?", "gold": ["p1", "p2"], "turn": "1", "history": []}
    said = [{"role": "user", "text": task["query"]}, {"role": "agent", "text": "In oaks."}]
    _write(
        folder / "tasks_clean.jsonl",
        {"task_id": "a<::>1", **task},
        {"task_id": "a<::>2", "query": "Thanks!", "gold": [], "turn": "2", "history": said},
    )
    _write(
        folder / "ratings_clean.jsonl",
        {
            "task_id": "a<::>1",
            "model_id": "m",
            "response": "In oaks.",
            "human": {"faithfulness": {"r1": 4, "r2": 3}, "completeness": {"r1": 2, "r3": 3}},
        },
        {
            "task_id": "a<::>2",
            "model_id": "m",
            "response": "You are welcome.",
            "human": {"faithfulness": {"r1": 4, "r2": 4}, "completeness": {"r1": 4, "r2": 4}},
        },
    )
    return folder


def test_an_answer_meets_every_gold_passage_and_its_mean_rating(mtrag: Path):
    rated = real_sets.mtrag_human(mtrag)
    assert [t.passage.passage_id for t in rated.tasks if t.passage] == ["p1", "p2"]
    assert rated.keys == ("a<::>1 m", "a<::>1 m")
    assert rated.people.loc["a<::>1 m", ["faithfulness", "completeness"]].tolist() == [3.5, 2.5]
    # both turns open with the same words: one dialogue, resampled as a whole
    assert rated.people["group"].nunique() == 1
    assert "a<::>2 m" in rated.people.index


def test_an_answer_without_gold_counts_as_missing(mtrag: Path):
    rated = real_sets.mtrag_human(mtrag)
    judged = {"lexical": verdicts(LexicalJudge([rated.items]), rated.tasks)}
    table = pd.concat(compared(rated, judged, profiles.load("smoke")))
    assert set(table["metric"]) == {"faithfulness, mean of gold", "faithfulness, max of gold"}
    assert set(table["human"]) == {"faithfulness", "completeness"}
    assert set(table["n"]) == {1}
    assert set(table["n_missing"]) == {1}


def test_begin_labels_become_yes_or_no(tmp_path: Path):
    head = "model_name\tdata_source\tknowledge\tmessage\tresponse\tbegin_label\r\n"
    rows = [
        ("m1", "Fully attributable"),
        ("m2", "Not fully attributable"),
        ("m3", "Generic"),
    ]
    for name in real_sets.FILES["begin"]:
        lines = [f"{m}\twow\tice floats\thi\tyes, {m}\t{label}\r\n" for m, label in rows]
        (tmp_path / name).write_text(head + "".join(lines), encoding="utf-8", newline="")
    first, *_ = real_sets.begin_sets(tmp_path)
    assert first.people["fully_attributable"].tolist() == [1.0, 0.0, 0.0]
    assert len(first.items.passages) == 1
    assert first.people["group"].nunique() == 1


def test_clapnq_shows_the_candidate_also_where_it_is_no_gold(tmp_path: Path):
    _write(tmp_path / "closed_corpus.jsonl", {"id": "c1", "text": "x"}, {"id": "c2", "text": "y"})
    _write(
        tmp_path / "closed_queries.jsonl",
        {"id": "-1", "query": "q", "gold": [], "candidate": ["c2"], "answerable": False},
        {"id": "2", "query": "q", "gold": ["c1"], "candidate": ["c1"], "answerable": True},
    )
    rated = real_sets.clapnq(tmp_path)
    assert [t.passage.passage_id for t in rated.tasks if t.passage] == ["c2", "c1"]
    assert rated.people["answerable"].to_dict() == {"-1": 0.0, "2": 1.0}


def test_yes_or_no_gets_an_auc_and_brier_only_for_probabilities():
    passage = Passage("p", "text")
    keys = [f"q{n}" for n in range(8)]
    items = [AuditItem(k, "s", k, 1, "q") for k in keys]
    people = pd.DataFrame({"group": keys, "gold": [0.0, 1.0] * 4}, index=keys)
    tasks = tuple(Task("query_evidence", i, passage) for i in items)
    rated = Rated("s", "s", ItemSet("s", tuple(items), (passage,)), tasks, tuple(keys), people)
    right = pd.DataFrame({"score": [1.4, 4.6] * 4, "probability": [0.1, 0.9] * 4})
    wrong = pd.DataFrame({"score": [5.0, 1.0] * 4, "probability": np.nan})
    judged = {"lexical": wrong, "feature": right}
    table = pd.concat(compared(rated, judged, profiles.load("smoke")))
    found = table.set_index(["judge", "statistic"])["value"]
    assert found["lexical", "auc"] == 0
    assert found["feature", "auc"] == 1
    assert found["feature", "brier"] == pytest.approx(0.01)
    assert ("lexical", "brier") not in found.index


def test_a_pack_counts_only_when_it_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MTR_REAL_DATA", str(tmp_path))
    _write(tmp_path / "clapnq" / "closed_corpus.jsonl")
    assert real_sets.packs() == {}
    _write(tmp_path / "clapnq" / "closed_queries.jsonl")
    assert real_sets.packs() == {"clapnq": tmp_path / "clapnq"}


def test_without_any_pack_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("MTR_REAL_DATA", str(tmp_path))
    monkeypatch.setattr(paths, "results", lambda: tmp_path / "results")
    with pytest.raises(InputError, match="MTR_REAL_DATA"):
        real_validation.main()
    assert "inscit: skipped" in capsys.readouterr().out
    assert not (tmp_path / "results").exists()


def test_saved_tables_are_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(paths, "results", lambda: tmp_path)
    frame = pd.DataFrame({"judge": ["feature"], "n": [10], "precision": [0.3], "note": [""]})
    lines = real_results.save_real({"recovery": frame}, {"date": "2026-01-02"})
    assert lines == ["data/results/real/recovery.csv: 1 rows"]
    (found,) = real_results.real_tables().values()
    pd.testing.assert_frame_equal(found, frame)
    assert found.attrs["date"] == "2026-01-02"
    path = tmp_path / "real" / "recovery.csv"
    path.write_text(path.read_text().replace("0.3", "0.9"))
    with pytest.raises(InputError, match="changed"):
        real_results.real_tables()
